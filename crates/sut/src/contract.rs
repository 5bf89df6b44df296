//! Does a server answer as the contract says? Each exchange is sent once, on one connection, and compared byte by byte.
//! The contract itself, and who is allowed to differ, is `tare_plan::contract`'s.

mod client;
mod compare;
pub mod fingerprint;

use std::net::SocketAddr;
use std::time::Duration;

use tare_plan::contract::{Contract, Exchange};

use client::Client;
pub use fingerprint::Fingerprint;

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
}

/// What came of all exchanges with one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// One for each exchange, in the contract's order.
    pub outcomes: Vec<CheckOutcome>,
    /// The headers of its answers, to be compared with another server's.
    pub fingerprint: Fingerprint,
}

impl Verification {
    /// Whether the server may be timed.
    pub fn passed(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.passed)
    }

    /// Each difference, with the name of its check.
    pub fn differences(&self) -> impl Iterator<Item = String> + '_ {
        let told = |o: &CheckOutcome| o.difference.as_ref().map(|difference| format!("{}: {difference}", o.check));
        self.outcomes.iter().filter_map(told)
    }
}

/// Holds the server called `name`, of so many `routes`, to the contract. `patience` is for each answer.
pub fn verify(address: SocketAddr, contract: &Contract, name: &str, routes: u32, patience: Duration) -> Verification {
    verify_exchanges(address, contract.exchanges(name, routes), patience)
}

/// Holds the server at an address to these exchanges.
pub fn verify_exchanges<'a>(
    address: SocketAddr,
    exchanges: impl Iterator<Item = Exchange<'a>>,
    patience: Duration,
) -> Verification {
    let mut client = Client::new(address, patience);
    let mut verification = Verification::default();
    for exchange in exchanges {
        let difference = match client.ask(exchange.request) {
            Ok(answer) => {
                verification.fingerprint.add(exchange.name, &answer);
                compare::difference(exchange.expect, &answer)
            }
            Err(failure) => Some(failure.to_string()),
        };
        verification.outcomes.push(CheckOutcome {
            check: exchange.name.to_owned(),
            passed: difference.is_none(),
            difference,
            because: exchange.because.map(str::to_owned),
        });
    }
    verification
}
