//! Checks whether a server answers according to the contract. Each exchange is sent once, on one connection, and
//! compared byte by byte. `tare_plan::contract` has the contract and the allowed differences.

mod client;
mod compare;
pub mod fingerprint;
mod listener;

use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_plan::contract::Exchange;

use client::Client;
pub use fingerprint::{Fingerprint, header_differences};

/// The status of a successful WebSocket handshake.
const SWITCHING_PROTOCOLS: u16 = 101;

/// The result of one exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// The check's or scenario's name.
    pub check: String,
    /// Whether the answer was as expected.
    pub passed: bool,
    /// The exact difference.
    pub difference: Option<String>,
    /// Why another answer is expected of this server, if so.
    pub because: Option<String>,
    /// The headers of the answer, to compare them with another server's; `None` without an answer.
    pub fingerprint: Option<Fingerprint>,
}

/// Checks the server at an address by these exchanges, in order. `timeout` is the longest time for each answer.
pub fn verify_exchanges<'a>(
    address: SocketAddr,
    exchanges: impl Iterator<Item = Exchange<'a>>,
    timeout: Duration,
) -> Vec<CheckOutcome> {
    let mut client = Client::new(address, timeout);
    exchanges.map(|exchange| check(&mut client, &exchange)).collect()
}

fn check(client: &mut Client, exchange: &Exchange<'_>) -> CheckOutcome {
    let pushes = exchange.push.is_some() && exchange.expect.status == SWITCHING_PROTOCOLS;
    let (difference, fingerprint) = if pushes {
        let heard = listener::listen(client.address(), exchange.request, client.timeout());
        (heard.err().map(|complaint| complaint.to_string()), None)
    } else {
        match client.ask(exchange.request) {
            Ok(answer) => {
                let difference = compare::difference(exchange.request, exchange.expect, &answer);
                (difference, Some(Fingerprint::of(&answer)))
            }
            Err(failure) => (Some(failure.to_string()), None),
        }
    };
    CheckOutcome {
        check: exchange.name.to_owned(),
        passed: difference.is_none(),
        difference,
        because: exchange.because.map(str::to_owned),
        fingerprint,
    }
}
