//! HTTP/2 on one connection: a stream for each exchange.

mod events;
mod flow;
mod machine;
mod overdue;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_sys::poll::{Sending, Token, Transport};
use tare_wire::http::{begins_tls_alert, status_line};
use tare_wire::http2::{ConnectionError, FrameReader};

use self::machine::Machine;
use super::connection::{Begun, Exchange, Step};
use super::conversation::Push;
use crate::input::request::{Parts, RequestSet};
use crate::problem::{Problem, escape};

/// The state of one connection that speaks HTTP/2.
#[derive(Debug)]
pub(crate) struct Http2 {
    reader: FrameReader,
    pub(super) machine: Machine,
    awaits_flush: bool,
    /// The problem of the connection, reported after the exchanges that have ended.
    broken_by: Option<Problem>,
}

impl Http2 {
    pub(crate) fn new(base: Arc<str>, push: Option<Push>) -> Self {
        Self { reader: FrameReader::default(), machine: Machine::new(base, push), awaits_flush: false, broken_by: None }
    }

    /// Resets the state for a new connection, and prepares its preface.
    pub(crate) fn open(&mut self) {
        self.reader = FrameReader::default();
        self.machine.open();
        self.awaits_flush = false;
        self.broken_by = None;
    }

    /// Whether a flush must be requested.
    pub(crate) const fn wants_flush(&mut self) -> bool {
        self.machine.has_output() && !std::mem::replace(&mut self.awaits_flush, true)
    }

    pub(crate) fn begin(&mut self, exchange: Exchange, parts: Arc<Parts>) -> Begun {
        self.machine.begin(exchange, parts);
        if self.wants_flush() { Begun::ToBeFlushed } else { Begun::Gathered }
    }

    /// Sends what is ready, and returns the number of its bytes.
    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        self.awaits_flush = false;
        self.machine.upload();
        self.send_written(io, token)
    }

    /// Sends the frames that are written, such as a GOAWAY, and returns the number of their bytes.
    pub(crate) fn send_written(&mut self, io: &mut impl Transport, token: Token) -> usize {
        let out = &mut self.machine.out;
        let bytes = out.len();
        if bytes > 0 {
            // Then the server has read all that was sent before.
            if io.send_bytes(token, out) == Sending::Accepted {
                self.machine.unread_answers = 0;
            }
            out.clear();
        }
        bytes
    }

    /// Reads all bytes at once, and then returns the exchanges that they have finished, one per call.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        if !bytes.is_empty() {
            self.read(std::mem::take(bytes), requests);
        }
        let machine = &mut self.machine;
        let ended = machine.ended.pop_front().or_else(|| machine.next_report());
        ended.or_else(|| self.broken_by.take().map(Step::Broken)).unwrap_or(Step::More)
    }

    fn read(&mut self, bytes: &[u8], requests: &RequestSet) {
        let Self { reader, machine, .. } = self;
        machine.pinged_at = None;
        if machine.is_done() {
            return;
        }
        // What a server sends first, in case it speaks something else.
        let first = if machine.has_settings { Vec::new() } else { [reader.held(), bytes].concat() };
        let read = reader.feed(bytes, |frame| machine.on_frame(frame, requests));
        self.broken_by = match read {
            Err(error) if !machine.is_done() => {
                let problem = machine.break_off(error);
                Some(if machine.has_settings { problem } else { no_http2(error, &first) })
            }
            // What follows the end of a connection has no meaning.
            _ => machine.farewell.take(),
        };
    }
}

/// The problem of a server whose first bytes are no settings.
fn no_http2(error: ConnectionError, first: &[u8]) -> Problem {
    let text = match status_line(first) {
        Some(line) => format!("the server answers in HTTP/1.1 (\"{}\"), and not in HTTP/2", escape(line)),
        None if begins_tls_alert(first) => "the server answers in TLS, and not in HTTP/2".to_owned(),
        None => format!("{error}; does the server speak HTTP/2 here at all?"),
    };
    Problem::new(ErrorClass::Protocol, text)
}
