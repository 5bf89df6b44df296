//! Checks a server's answers against the contract, byte by byte, on one connection.

mod alike;
mod client;
mod compare;
mod events;
mod http2;
mod listener;
mod stream;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_plan::contract::{Exchange, Push};

pub use alike::{GivenAnswer, HeaderDifference, TwoAnswers, ask_twice, header_differences};
use client::{Client, Failure};
pub use stream::{Endpoint, Security};

/// The status of a successful WebSocket handshake.
const SWITCHING_PROTOCOLS: u16 = 101;
/// Three messages that a server pushes may take so many periods, where that is more than the longest time for an answer.
const PUSHED_WITHIN_PERIODS: u32 = 4;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// The check's or scenario's name.
    pub check: String,
    pub passed: bool,
    pub difference: Option<String>,
    /// Why another answer is expected of this server, if so.
    pub because: Option<String>,
    /// The answer, to compare it with another server's; `None` without one.
    pub answer: Option<GivenAnswer>,
}

impl CheckOutcome {
    /// The outcome of an exchange, by what is wrong with the answer.
    pub fn of(exchange: &Exchange, difference: Option<String>, answer: Option<GivenAnswer>) -> Self {
        let (check, because) = (exchange.name.clone(), exchange.because.clone());
        Self { check, passed: difference.is_none(), difference, because, answer }
    }
}

/// Checks a server by these exchanges, in order. `timeout` is the longest time for each answer.
pub fn verify_exchanges(
    endpoint: impl Into<Endpoint>,
    exchanges: impl Iterator<Item = Exchange>,
    timeout: Duration,
) -> Vec<CheckOutcome> {
    let mut client = Client::new(endpoint.into(), timeout);
    exchanges.map(|exchange| check(&mut client, &exchange)).collect()
}

fn check(client: &mut Client, exchange: &Exchange) -> CheckOutcome {
    let (difference, answer) = match &exchange.push {
        Some(push) => (difference_of_pushes(client, exchange, push), None),
        None => ask(client, exchange).unwrap_or_else(|failure| (Some(failure.to_string()), None)),
    };
    CheckOutcome::of(exchange, difference, answer)
}

/// What is wrong with the first messages that a server pushes.
fn difference_of_pushes(client: &Client, exchange: &Exchange, push: &Push) -> Option<String> {
    let timeout = client.timeout.max(push.period.0 * PUSHED_WITHIN_PERIODS);
    let client = Client::new(client.endpoint.clone(), timeout);
    if exchange.expect.status == SWITCHING_PROTOCOLS {
        return listener::listen(&client, &exchange.request).err();
    }
    events::read(&client, exchange, push).unwrap_or_else(|failure| Some(failure.to_string()))
}

/// Sends a request: what is wrong with the answer, and the answer. One that will be compared with those of other servers is
/// asked for twice: if the server itself answers otherwise, no other can be like it.
fn ask(client: &mut Client, exchange: &Exchange) -> Result<(Option<String>, Option<GivenAnswer>), Failure> {
    let mut earlier: Option<GivenAnswer> = None;
    loop {
        let answer = client.ask(&exchange.request)?;
        let difference = compare::difference(&exchange.request, &exchange.expect, &answer);
        let given = GivenAnswer::of(answer, client, exchange.compared.as_deref());
        if difference.is_some() || exchange.compared.is_none() {
            return Ok((difference, Some(given)));
        }
        match &earlier {
            None => earlier = Some(given),
            Some(earlier) => {
                let change = given.change_since(earlier, &exchange.name);
                return Ok((change, Some(given.without_changing(earlier))));
            }
        }
    }
}
