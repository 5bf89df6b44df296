//! Runs requests on one connection without a network, with given bytes from the server. For tests and fuzzing.

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::{CloseCause, Payload, Sending, Token, Transport};
use tare_sys::socket::{SocketOptions, Target};

use super::Protocol;
use super::connection::{Connection, Exchange, Step};
use crate::error::LoadError;
use crate::input::request::{RequestCursor, RequestSet, Requests};
use crate::recorder::Times;
use crate::schedule::Share;

const BASE: &str = "http://localhost";
const TOKEN: Token = Token(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestEnd {
    Answered,
    Failed(ErrorClass),
    /// The server said that it has not processed it.
    Returned,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfflineOutcome {
    /// Number and end of each request that ended before the connection did, in the order of their ends.
    pub ended: Vec<(usize, RequestEnd)>,
    /// The problem of all others, or of a connection without requests; `None` if there is none.
    pub broken: Option<ErrorClass>,
}

/// Sends as many requests of `list` as `protocol` has under way at a time. The server then sends `pieces` and closes the
/// connection. Of a protocol with a handshake, the connection is open.
pub fn outcome_of_bytes<'a>(
    protocol: Protocol,
    list: &Requests,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<OfflineOutcome, LoadError> {
    let requests = RequestSet::encode("localhost", list)?;
    let mut connection = Connection::new(protocol, &BASE.into());
    connection.open();
    begin_all(&mut connection, &mut requests.cursor(Share::WHOLE), protocol.depth());
    let mut outcome = OfflineOutcome::default();
    for mut piece in pieces {
        if let Some(problem) = receive(&mut connection, &mut piece, &requests, &mut outcome) {
            return Ok(OfflineOutcome { broken: Some(problem), ..outcome });
        }
    }
    if connection.under_way() == 0 {
        return Ok(outcome);
    }
    let cause = CloseCause::EndOfStream;
    let broken = if connection.completes_answer(&cause) {
        receive(&mut connection, &mut &[][..], &requests, &mut outcome)
    } else {
        Some(connection.problem_of_end(&cause).class)
    };
    Ok(OfflineOutcome { broken, ..outcome })
}

fn begin_all(connection: &mut Connection, cursor: &mut RequestCursor, count: u32) {
    for number in (0..u64::from(count)).map(Nanos) {
        let Some(request) = cursor.next() else { break };
        let times = Times { intended: number, sent: Some(number), ..Times::default() };
        let exchange = Exchange::new(&cursor.set, request, times, Nanos::MAX);
        connection.begin(&mut Outbox::default(), TOKEN, exchange, cursor);
    }
    connection.flush(&mut Outbox::default(), TOKEN);
}

/// Returns the class of what broke the connection.
fn receive(
    connection: &mut Connection,
    piece: &mut &[u8],
    requests: &RequestSet,
    outcome: &mut OfflineOutcome,
) -> Option<ErrorClass> {
    loop {
        match connection.receive(piece, requests) {
            Step::More => break,
            Step::Finished(exchange, problem) => {
                let end = problem.map_or(RequestEnd::Answered, |problem| RequestEnd::Failed(problem.class));
                outcome.ended.push((number(&exchange), end));
            }
            Step::Returned(returned) => outcome.ended.push((number(&returned.exchange), RequestEnd::Returned)),
            Step::Broken(problem) => return Some(problem.class),
            Step::Pushed(_) | Step::StreamEnded | Step::Pinged | Step::Ponged(_) => {}
        }
    }
    if connection.wants_flush() {
        connection.flush(&mut Outbox::default(), TOKEN);
    }
    None
}

/// The number of a request, which is stored as its intended start.
const fn number(exchange: &Exchange) -> usize {
    exchange.times.intended.0 as usize
}

/// A transport that keeps what is sent, and receives nothing.
#[derive(Default)]
pub(crate) struct Outbox(pub(crate) Vec<Payload>);

impl Transport for Outbox {
    fn connect(&mut self, _: Token, _: &Target, _: &SocketOptions) {}

    fn send(&mut self, _: Token, payload: &Payload) -> Sending {
        self.0.push(payload.clone());
        Sending::Accepted
    }

    fn renumber(&mut self, _: Token, _: Token) {}

    fn close(&mut self, _: Token) {}
}
