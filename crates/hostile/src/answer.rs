//! Answers of servers: read equally in any pieces, and never beyond their end.

use tare_wire::http::{Head, ParseError, Progress, ResponseParser, Sink};

#[derive(Debug, Default, PartialEq, Eq)]
struct ParsedAnswer {
    statuses: Vec<u16>,
    body: Vec<u8>,
    /// Bytes used and keep-alive, for a complete answer.
    complete: Option<(usize, bool)>,
}

impl Sink for ParsedAnswer {
    fn head(&mut self, head: &Head<'_>) {
        self.statuses.push(head.status);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// Bytes give the same answer or the same error, whole, in single bytes and in uneven pieces, for GET and HEAD.
pub fn check_answer(bytes: &[u8]) {
    for is_head_request in [false, true] {
        let whole = read(bytes.chunks(bytes.len().max(1)), is_head_request);
        for size in [1, 3, 1 + bytes.len() / 2] {
            assert_eq!(read(bytes.chunks(size), is_head_request), whole, "in pieces of {size} bytes");
        }
        if let Ok(read) = whole {
            assert_eq!(read.statuses.len(), 1, "one final answer");
            let (used, _) = read.complete.unwrap_or((bytes.len(), false));
            assert!(used <= bytes.len() && read.body.len() <= used, "no more than the received bytes");
        }
    }
}

/// The same for a chunked body after a valid head, so that the fuzzer need not find the head first.
pub fn check_chunks(bytes: &[u8]) {
    check_answer(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", bytes].concat());
}

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, is_head_request: bool) -> Result<ParsedAnswer, ParseError> {
    let mut parser = ResponseParser::new();
    parser.expect_response(is_head_request);
    let mut read = ParsedAnswer::default();
    let mut before = 0;
    for piece in pieces {
        if let Progress::Complete { consumed, keeps_alive } = parser.feed(piece, &mut read)? {
            assert!(consumed <= piece.len(), "it used {consumed} of {} bytes", piece.len());
            read.complete = Some((before + consumed, keeps_alive));
            return Ok(read);
        }
        before += piece.len();
    }
    parser.finish_stream().map(|()| read)
}
