//! Splits the body of a stream of events into its events: those of server-sent events, or lines. Source: The HTML
//! standard, section 9.2.5 (event streams): an event ends at an empty line, and one without data means nothing.

pub const MAX_EVENT_BYTES: usize = 1 << 20;

/// An event is longer than [`MAX_EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {MAX_EVENT_BYTES} bytes")]
pub struct EventTooLong;

/// Counts the events in bytes that arrive in any pieces.
#[derive(Clone, Debug, Default)]
pub struct EventReader {
    /// Whether an event is written as `data:` lines up to an empty line, and not as one line.
    is_server_sent: bool,
    event_bytes: usize,
    /// How much of the line has arrived, and whether it is no field `data`.
    line_bytes: usize,
    is_other: bool,
    has_data: bool,
    /// The last byte was a CR, whose LF belongs to it.
    after_cr: bool,
    /// How much of a byte order mark has arrived. It means nothing before the first event.
    mark_bytes: usize,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl EventReader {
    /// Reads bodies of this content type: `text/event-stream`, and otherwise lines.
    pub fn of_content_type(value: Option<&[u8]>) -> Self {
        let is_server_sent = value.is_some_and(|value| value.to_ascii_lowercase().starts_with(b"text/event-stream"));
        Self { is_server_sent, ..Self::default() }
    }

    /// Takes bytes, and returns how many events they have ended. Fails when an event has no end.
    pub fn take(&mut self, bytes: &[u8]) -> Result<u64, EventTooLong> {
        let mut ended = 0;
        for &byte in bytes {
            if BYTE_ORDER_MARK.get(self.mark_bytes) == Some(&byte) {
                self.mark_bytes += 1;
                continue;
            }
            self.mark_bytes = BYTE_ORDER_MARK.len();
            let is_second_of_pair = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r' && self.is_server_sent;
            if is_second_of_pair {
                continue;
            }
            if byte == b'\n' || self.after_cr {
                ended += u64::from(self.end_line());
            } else {
                self.take_in_line(byte);
                if self.event_bytes > MAX_EVENT_BYTES {
                    return Err(EventTooLong);
                }
            }
        }
        Ok(ended)
    }

    /// Takes the end of the body, and returns whether it ends an event: a last line needs no line break, and a server-sent event
    /// that has not ended is none.
    pub fn finish(&self) -> bool {
        !self.is_server_sent && self.has_data
    }

    fn take_in_line(&mut self, byte: u8) {
        self.event_bytes += 1;
        if self.is_server_sent {
            // A field `data` may be without a value.
            self.is_other |= b"data:".get(self.line_bytes).is_some_and(|wanted| byte != *wanted);
        } else {
            self.has_data |= !byte.is_ascii_whitespace();
        }
        self.line_bytes += 1;
    }

    /// Ends a line; returns whether that ends an event.
    fn end_line(&mut self) -> bool {
        let line_bytes = std::mem::take(&mut self.line_bytes);
        let is_data = !std::mem::take(&mut self.is_other) && line_bytes >= b"data".len();
        if self.is_server_sent && line_bytes > 0 {
            self.has_data |= is_data;
            if !is_data {
                // A comment is no part of an event; it may keep a connection open on which no event comes for hours.
                self.event_bytes -= line_bytes;
            }
            return false;
        }
        self.event_bytes = 0;
        std::mem::take(&mut self.has_data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(content_type: Option<&str>, body: &str) -> u64 {
        let of_pieces = |size: usize| {
            let mut reader = EventReader::of_content_type(content_type.map(str::as_bytes));
            let ended: u64 = body.as_bytes().chunks(size).map(|piece| reader.take(piece).unwrap()).sum();
            ended + u64::from(reader.finish())
        };
        let whole = of_pieces(body.len().max(1));
        assert_eq!((of_pieces(1), of_pieces(3)), (whole, whole), "{body:?} in pieces");
        whole
    }

    #[test]
    fn server_sent_events_end_at_an_empty_line_and_need_data() {
        let sse = Some("text/event-stream; charset=utf-8");
        for (body, events) in [
            ("", 0),
            ("data: 1\n\n", 1),
            ("data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n", 3),
            ("event: a\nid: 7\ndata: 1\ndata: 2\n\n", 1),
            ("\u{feff}data: 1\n\ndata: 2\n\n", 2),
            (": a comment\n\n", 0),
            (": a comment\n\ndata\n\n", 1),
            ("event: ping\n\n", 0),
            ("database: 1\n\ndat: 1\n\n", 0),
            ("data: 1\n\ndata: 2", 1),
            ("\n\n\ndata:\n\n\n\n", 1),
        ] {
            assert_eq!(count(sse, body), events, "{body:?}");
        }
    }

    #[test]
    fn elsewhere_every_line_that_is_not_empty_is_an_event() {
        for (body, events) in [("", 0), ("{}\n{}\r\n\n \n{}", 3), ("a", 1), ("\n\r\n", 0)] {
            assert_eq!(count(Some("application/x-ndjson"), body), events, "{body:?}");
            assert_eq!(count(None, body), events, "{body:?}");
        }
    }

    #[test]
    fn an_event_without_an_end_is_refused() {
        let mut reader = EventReader::of_content_type(None);
        assert_eq!(reader.take(&vec![b'x'; MAX_EVENT_BYTES]), Ok(0));
        assert_eq!(reader.take(b"x"), Err(EventTooLong));
        let mut reader = EventReader::of_content_type(Some(b"text/event-stream".as_slice()));
        assert_eq!(reader.take("data: 1\n".repeat(MAX_EVENT_BYTES / 7 + 1).as_bytes()), Err(EventTooLong));
    }

    #[test]
    fn comments_without_an_event_may_go_on_for_any_time() {
        let mut reader = EventReader::of_content_type(Some(b"text/event-stream".as_slice()));
        assert_eq!(reader.take(": here\n".repeat(MAX_EVENT_BYTES / 6 + 1).as_bytes()), Ok(0));
        assert_eq!(reader.take(b"data: 1\n\n"), Ok(1));
    }
}
