//! Streams of events on a connection of HTTP/2: each is reported event by event, so that the worker can end it at any.

use tare_wire::http2::{ErrorCode, push_reset};

use super::Http2;
use crate::protocol::connection::{Exchange, Step};

impl Http2 {
    /// The next event that has come, or the end of a stream.
    pub(super) fn next_report(&mut self) -> Option<Step> {
        while let Some(id) = self.reportable.front().copied() {
            self.current = id;
            if let Some(step) = self.report_current() {
                return Some(step);
            }
            self.reportable.pop_front();
        }
        None
    }

    fn report_current(&mut self) -> Option<Step> {
        let at = self.place_of_current()?;
        match self.streams[at].exchange.next_report()? {
            Step::Broken(problem) => {
                let stream = self.remove(at).1;
                self.open_waiting();
                Some(stream.exchange.fail(problem))
            }
            step => Some(step),
        }
    }

    fn place_of_current(&self) -> Option<usize> {
        self.ids.iter().position(|id| *id == self.current)
    }

    /// The exchange of which something was reported last; `None` if its stream has ended.
    pub(crate) fn current_exchange(&mut self) -> Option<&mut Exchange> {
        let at = self.place_of_current()?;
        Some(&mut self.streams[at].exchange)
    }

    /// Ends the stream of which something was reported last.
    pub(crate) fn unsubscribe(&mut self) -> Option<Exchange> {
        let at = self.place_of_current()?;
        let (id, stream) = self.remove(at);
        if !stream.exchange.is_over() {
            push_reset(&mut self.out, id, ErrorCode::CANCEL);
        }
        self.open_waiting();
        Some(stream.exchange)
    }
}
