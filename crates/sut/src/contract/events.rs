//! Reads the start of a stream of events to check it: for verifying, never for measuring.

use tare_plan::contract::{Exchange, Expect, Push};
use tare_wire::events::EventReader;
use tare_wire::http::{Head, Sink};

use super::client::{Answer, Client, Failure};
use super::compare::head_difference;

const CHECKED_EVENTS: u64 = 3;

/// The head of an answer, and how many events have come.
struct Begin<'a> {
    expect: &'a Expect,
    wanted: u64,
    reader: Option<EventReader>,
    events: u64,
    difference: Option<String>,
}

impl Sink for Begin<'_> {
    fn head(&mut self, head: &Head<'_>) {
        let mut answer = Answer::default();
        answer.head(head);
        self.difference = head_difference(self.expect, &answer);
        self.reader = Some(EventReader::of_content_type(head.header_value("content-type")));
    }

    fn body(&mut self, bytes: &[u8]) {
        match self.reader.as_mut().map_or(Ok(0), |reader| reader.take(bytes)) {
            Ok(events) => self.events += events,
            Err(error) => self.difference = Some(error.to_string()),
        }
    }

    fn has_enough(&self) -> bool {
        self.events >= self.wanted || self.difference.is_some()
    }
}

/// Requests a stream and reads its first events. Returns what is wrong with them; without an answer it fails.
pub(super) fn read(client: &Client, exchange: &Exchange, push: &Push) -> Result<Option<String>, Failure> {
    let wanted = CHECKED_EVENTS.min(push.messages.into());
    let mut begin = Begin { expect: &exchange.expect, wanted, reader: None, events: 0, difference: None };
    match client.read_alone(&exchange.request, &mut begin) {
        Ok(false) => {}
        Ok(true) => begin.events += u64::from(begin.reader.as_ref().is_some_and(EventReader::finish)),
        Err(Failure::Timeout(after)) => {
            let (seconds, events) = (after.as_secs_f64(), begin.events);
            return Ok(Some(format!("within {seconds}s came {events} of {wanted} events")));
        }
        Err(failure) => return Err(failure),
    }
    let has_all = begin.events >= wanted;
    let early_end = || format!("the stream ended after {} of {wanted} events", begin.events);
    Ok(begin.difference.or_else(|| (!has_all).then(early_end)))
}
