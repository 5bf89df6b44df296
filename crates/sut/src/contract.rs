//! Does a server answer as the contract says? Each exchange is sent once, on one connection, and compared byte by byte.
//! The contract itself, and who is allowed to differ, is `tare_plan::contract`'s.

mod client;
mod compare;
pub mod fingerprint;
mod listener;

use std::net::SocketAddr;
use std::time::Duration;

use tare_plan::contract::Exchange;

use client::Client;
pub use fingerprint::{Fingerprint, header_differences};

/// The status with which a WebSocket begins.
const SWITCHING_PROTOCOLS: u16 = 101;

/// What came of one exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOutcome {
    /// The check's or scenario's name.
    pub check: String,
    /// Whether the answer was as expected.
    pub passed: bool,
    /// What was otherwise, precisely.
    pub difference: Option<String>,
    /// Why this server is held to an answer of its own, where it is.
    pub because: Option<String>,
    /// The headers of the answer, to be compared with another server's; `None` when there was no answer.
    pub fingerprint: Option<Fingerprint>,
}

/// Holds the server at an address to these exchanges, in their order. `patience` is for each answer.
pub fn verify<'a>(
    address: SocketAddr,
    exchanges: impl Iterator<Item = Exchange<'a>>,
    patience: Duration,
) -> Vec<CheckOutcome> {
    let mut client = Client::new(address, patience);
    exchanges.map(|exchange| check(&mut client, &exchange)).collect()
}

fn check(client: &mut Client, exchange: &Exchange<'_>) -> CheckOutcome {
    let pushes = exchange.push.is_some() && exchange.expect.status == SWITCHING_PROTOCOLS;
    let (difference, fingerprint) = if pushes {
        let heard = listener::listen(client.address(), exchange.request, client.patience());
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
