//! Reads the begin of a stream of events to check it: for verifying, never for measuring.

use std::io::{self, Read};

use tare_plan::contract::{Exchange, Push};
use tare_sys::clock;
use tare_wire::events::EventReader;
use tare_wire::http::{Head, Progress, ResponseParser, Sink};

use super::client::{Answer, Client, Failure};
use super::compare::head_difference;

const CHECKED_EVENTS: u64 = 3;

/// The head of an answer, and how many events have come.
#[derive(Default)]
struct Begin {
    answer: Answer,
    reader: Option<EventReader>,
    events: u64,
    difference: Option<String>,
}

impl Sink for Begin {
    fn head(&mut self, head: &Head<'_>) {
        self.answer.head(head);
        self.reader = Some(EventReader::of_content_type(head.header_value("content-type")));
    }

    fn body(&mut self, bytes: &[u8]) {
        match self.reader.as_mut().map_or(Ok(0), |reader| reader.take(bytes)) {
            Ok(events) => self.events += events,
            Err(error) => self.difference = Some(error.to_string()),
        }
    }
}

/// Requests a stream and reads its first events. Returns what is wrong with them.
///
/// # Errors
/// When there is no answer in HTTP/1.1.
pub(super) fn read(client: &Client, exchange: &Exchange<'_>, push: &Push) -> Result<Option<String>, Failure> {
    let wanted = CHECKED_EVENTS.min(push.messages.into());
    let mut stream = client.send_alone(&exchange.request)?;
    let (mut parser, mut begin) = (ResponseParser::new(), Begin::default());
    let deadline = clock::now() + client.timeout();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let got = if clock::now() < deadline { stream.read(&mut buffer) } else { Err(io::ErrorKind::TimedOut.into()) };
        let has_ended = match got {
            Ok(0) => parser.finish_stream().map(|()| true)?,
            Ok(got) => matches!(parser.feed(&buffer[..got], &mut begin)?, Progress::Complete { .. }),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                let (seconds, events) = (client.timeout().as_secs_f64(), begin.events);
                return Ok(Some(format!("within {seconds}s came {events} of {wanted} events")));
            }
            Err(error) => return Err(Failure::Read(error)),
        };
        begin.events += u64::from(has_ended && begin.reader.as_ref().is_some_and(EventReader::finish));
        let of_head = begin.reader.as_ref().and_then(|_| head_difference(&exchange.expect, &begin.answer));
        if let Some(difference) = of_head.or(begin.difference.take()) {
            return Ok(Some(difference));
        }
        if begin.events >= wanted {
            return Ok(None);
        }
        if has_ended {
            return Ok(Some(format!("the stream ended after {} of {wanted} events", begin.events)));
        }
    }
}
