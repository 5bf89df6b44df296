//! Streams of server-sent events with planted times: from the headers to the first event, and from each event to the next.

use std::time::Duration;

use tare_sys::clock;
use tare_sys::poll::Token;

use super::Server;
use crate::timers::Action;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const END: &str = "0\r\n\r\n";

impl Server<'_> {
    /// Sends the headers at once, and each event in its time. The burnt CPU and the delay of an answer come before all.
    pub(super) fn send_events(&mut self, token: Token) {
        let delay = self.costs.burn_for_request();
        let begin = clock::now() + delay;
        self.send_later(token, HEAD.into(), begin, false);
        let (first, gap) = (self.options.first_event_ms, self.options.event_gap_ms);
        for number in 0..self.options.events {
            let is_last = number + 1 == self.options.events;
            let event = format!("data: {number}\n\n");
            let end = if is_last { END } else { "" };
            let chunk = format!("{:x}\r\n{event}\r\n{end}", event.len());
            let after = Duration::from_millis(first + gap * u64::from(number));
            self.plan(token, begin + after, Action::Event { bytes: chunk.into_bytes().into(), is_last });
        }
    }
}
