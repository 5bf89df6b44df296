//! Requests that are overdue, and whether the server is still there.

use tare_sys::clock::Nanos;
use tare_wire::http2::{ErrorCode, push_ping, push_reset};

use super::Http2;
use super::stream::Stream;
use crate::protocol::connection::Exchange;

/// Why requests that are overdue have not left.
const NO_SETTINGS: &str = "the request was not sent, because the server sent no SETTINGS; does it speak HTTP/2 here?";
const NO_STREAM: &str = "the request was not sent, because the server permits no more streams";
const NO_WINDOW: &str = "the request was not sent to its end, because the server gives no window for its body";

/// So many pings leave without a part of an answer between them. Servers of gRPC end the connection upon more
/// (too_many_pings), and with it requests that they would have answered.
const MOST_PINGS: u8 = 2;

impl Http2 {
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.streams.iter().chain(&self.waiting).map(|stream| stream.exchange.deadline).min()
    }

    /// Gives up one overdue request, and its stream; the others continue, unless the server is no longer there.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        if self.is_over {
            return self.take_any();
        }
        let is_overdue = |stream: &Stream| stream.exchange.deadline <= now;
        let Some(at) = self.streams.iter().position(is_overdue) else {
            let at = self.waiting.iter().position(is_overdue)?;
            let mut exchange = self.waiting.remove(at)?.exchange;
            exchange.answer.before_head = if self.has_settings { NO_STREAM } else { NO_SETTINGS };
            if !self.has_settings {
                self.give_up();
            }
            return Some(exchange);
        };
        let (id, mut stream) = self.remove(at);
        stream.exchange.answer.states_length = stream.rest_bytes.is_some();
        if !stream.unsent().is_empty() {
            stream.exchange.answer.before_head = NO_WINDOW;
        }
        push_reset(&mut self.out, id, ErrorCode::CANCEL);
        self.received_at = now;
        self.open_waiting();
        let patience_ns = stream.exchange.deadline.since(stream.exchange.times.intended);
        match self.pinged_at {
            None if self.pings < MOST_PINGS => {
                push_ping(&mut self.out);
                self.pings += 1;
                self.pinged_at = Some(now);
            }
            // The ping was not answered in the time of a whole request.
            Some(at) if now.since(at) >= patience_ns => self.give_up(),
            None | Some(_) => {}
        }
        Some(stream.exchange)
    }

    /// Gives up a connection on which nothing comes: a network may drop what is sent without a word.
    const fn give_up(&mut self) {
        self.is_leaving = true;
        self.is_over = true;
    }

    /// Takes any request, because the connection is about to be closed.
    pub(crate) fn take_any(&mut self) -> Option<Exchange> {
        let stream = if self.streams.is_empty() { self.waiting.pop_front()? } else { self.remove(0).1 };
        Some(stream.exchange)
    }
}
