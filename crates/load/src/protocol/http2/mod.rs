//! HTTP/2 on one connection: a stream for each exchange.

mod flow;
mod machine;
mod overdue;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::{CloseCause, Sending, Token, Transport};
use tare_wire::http::{begins_tls_alert, status_line};
use tare_wire::http2::{ConnectionError, Decoder, FIRST_WINDOW_BYTES, FrameReader, Section, push_preface};

use self::stream::Stream;
use super::connection::{Exchange, Step};
use super::conversation::Push;
use crate::input::request::{Parts, RequestSet};
use crate::problem::{Problem, escape, may_speak_tls};

#[derive(Debug, Default)]
pub(crate) struct Http2 {
    reader: FrameReader,
    base: Arc<str>,
    decoder: Decoder,
    section: Section,
    /// The numbers of the open streams. `streams` has them at the same places.
    ids: Vec<u32>,
    streams: Vec<Stream>,
    /// Requests that wait for the server's settings, or for one stream less.
    waiting: VecDeque<Stream>,
    /// When the bytes came that are being read, or a request was given up: one that waited for a stream leaves then.
    pub(crate) received_at: Nanos,
    next_id: u32,
    /// Open streams whose request has not left completely.
    uploading: usize,
    has_settings: bool,
    /// The next head must say the size of its table, because the settings have changed that.
    owes_table_size: bool,
    max_streams: usize,
    first_window_bytes: i64,
    window_bytes: i64,
    /// Bytes that came since this side has last given room.
    unreturned_bytes: u32,
    /// Answers to pings and settings that the server may not have read.
    unread_answers: u32,
    /// When this side has pinged the server; `None` if anything has come since.
    pinged_at: Option<Nanos>,
    /// Pings that have left since a part of an answer has come.
    pings: u8,
    /// What the exchanges that have ended mean, in the order of their ends.
    ended: VecDeque<Step>,
    /// Frames that have not been sent.
    out: Vec<u8>,
    awaits_flush: bool,
    /// The problem of the connection, reported after the exchanges that have ended.
    broken_by: Option<Problem>,
    /// Why the server has ended the connection, if that was because of an error.
    farewell: Option<Problem>,
    /// What the server sends on its own clock; `None` if it only answers.
    push: Option<Push>,
    /// Streams of which something may be reported, and the one of which something was reported last.
    reportable: VecDeque<u32>,
    current: u32,
    is_leaving: bool,
    is_over: bool,
}

impl Http2 {
    pub(crate) fn new(base: Arc<str>, push: Option<Push>) -> Self {
        Self {
            base,
            push,
            next_id: 1,
            max_streams: usize::MAX,
            first_window_bytes: FIRST_WINDOW_BYTES.into(),
            window_bytes: FIRST_WINDOW_BYTES.into(),
            ..Self::default()
        }
    }

    /// Resets the state for a new connection, and writes its preface.
    pub(crate) fn open(&mut self) {
        *self = Self::new(std::mem::take(&mut self.base), self.push);
        push_preface(&mut self.out);
    }

    pub(crate) fn wants_flush(&mut self) -> bool {
        let has_output = !self.out.is_empty() || self.uploading > 0;
        has_output && !std::mem::replace(&mut self.awaits_flush, true)
    }

    /// Opens a stream for a request, once the server accepts one. No bytes are sent before a flush.
    pub(crate) fn begin(&mut self, exchange: Exchange, parts: Arc<Parts>) -> usize {
        let stream = Stream::new(exchange, parts, self.push);
        if self.waiting.is_empty() && self.accepts_stream() {
            self.open_stream(stream);
        } else {
            self.waiting.push_back(stream);
        }
        0
    }

    /// Sends what is ready, and returns the number of its bytes.
    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        self.awaits_flush = false;
        self.upload();
        self.send_written(io, token)
    }

    /// Sends the frames that are written, such as a GOAWAY, and returns the number of their bytes.
    pub(crate) fn send_written(&mut self, io: &mut impl Transport, token: Token) -> usize {
        let bytes = self.out.len();
        if bytes > 0 {
            // Then the server has read all that was sent before.
            if io.send_bytes(token, &self.out) == Sending::Accepted {
                self.unread_answers = 0;
            }
            self.out.clear();
        }
        bytes
    }

    /// Reads all bytes at once, and then returns the exchanges that they have finished, one per call.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        if !bytes.is_empty() {
            self.read(std::mem::take(bytes), requests);
        }
        // Each way out returns at once, because a step is large, and a chain of options would copy it at each link.
        if let Some(step) = self.ended.pop_front() {
            return step;
        }
        if let Some(step) = self.next_report() {
            return step;
        }
        self.broken_by.take().map_or(Step::More, Step::Broken)
    }

    /// The problem of all requests under way when the connection ends.
    pub(crate) fn problem_of_end(&self, cause: &CloseCause) -> Problem {
        let mut problem = Problem::of_end_within(cause, "connection closed before the answer was complete");
        if !self.has_settings && problem.class != ErrorClass::Tls {
            problem.text += may_speak_tls(&self.base);
        }
        problem
    }

    fn read(&mut self, bytes: &[u8], requests: &RequestSet) {
        self.pinged_at = None;
        if self.is_done() {
            return;
        }
        // What a server sends first, in case it speaks something else.
        let first = if self.has_settings { Vec::new() } else { [self.reader.held(), bytes].concat() };
        let mut reader = std::mem::take(&mut self.reader);
        let read = reader.feed(bytes, |frame| self.on_frame(frame, requests));
        self.reader = reader;
        self.broken_by = match read {
            Err(error) if !self.is_done() => {
                let problem = self.break_off(error);
                Some(if self.has_settings { problem } else { no_http2(error, &first) })
            }
            // What follows the end of a connection has no meaning.
            _ => self.farewell.take(),
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
