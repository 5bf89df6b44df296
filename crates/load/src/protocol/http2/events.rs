//! Streams of events on a connection of HTTP/2: each is reported event by event, so that the worker can end it at any.

use tare_sys::clock::Nanos;
use tare_wire::http2::{ErrorCode, push_reset};

use super::machine::Machine;
use crate::protocol::connection::Step;
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;

impl Machine {
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
        let stream = &mut self.streams[at];
        let events = stream.events.as_mut()?;
        if events.arrived.unreported > 0 {
            events.arrived.unreported -= 1;
            return Some(Step::Pushed(None));
        }
        if !stream.is_over {
            return None;
        }
        match events.arrived.problem.take().or_else(|| events.arrived.early_end(&events.push)) {
            None => Some(Step::StreamEnded),
            Some(problem) => {
                let stream = self.remove(at).1;
                self.open_waiting();
                Some(stream.into_exchange().fail(problem))
            }
        }
    }

    fn place_of_current(&self) -> Option<usize> {
        self.ids.iter().position(|id| *id == self.current)
    }

    /// Counts the event that was reported last. The next must arrive until `deadline`. Returns `None` if its stream has
    /// ended.
    pub(crate) fn count_event(&mut self, at: Nanos, deadline: Nanos) -> Option<PushedMessage> {
        let place = self.place_of_current()?;
        let stream = &mut self.streams[place];
        let events = stream.events.as_mut()?;
        stream.exchange.deadline = deadline;
        let is_first = events.reported.taken() == 0;
        let counted = events.reported.count_message(&events.push, at, None);
        let times = stream.exchange.times();
        Some(PushedMessage { request: times.request, answers: is_first.then_some(times), ..counted })
    }

    /// Ends the stream of which something was reported last. Returns the events that did not come, and its times.
    pub(crate) fn unsubscribe(&mut self) -> Option<(MissingMessages, Times)> {
        let at = self.place_of_current()?;
        let events = self.streams[at].events.as_ref()?;
        let times = self.streams[at].exchange.times();
        let missing = events.reported.skipped(&events.push, times.intended);
        let (id, stream) = self.remove(at);
        if !stream.is_over {
            push_reset(&mut self.out, id, ErrorCode::CANCEL);
        }
        self.open_waiting();
        Some((missing, times))
    }
}
