//! Answers as in the RFC and as broken servers send them, whole and split at every byte.

use proptest::prelude::*;
use tare_wire::http::{Head, MAX_HEAD_BYTES, MAX_HEADERS, ParseError, Progress, ResponseParser, Sink};

/// The outcome of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    status: u16,
    heads: usize,
    body: Vec<u8>,
    /// Bytes used and keep-alive, for a complete answer; `None` for one that ended with the stream.
    complete: Option<(usize, bool)>,
}

impl Sink for Answer {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
        self.heads += 1;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// A sink that reads no fields of a head.
#[derive(Default)]
struct WithoutFields(Answer);

impl Sink for WithoutFields {
    fn head(&mut self, head: &Head<'_>) {
        self.0.head(head);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.0.body(bytes);
    }

    fn reads_fields(&self, _: u16) -> bool {
        false
    }
}

/// Feeds the pieces one after another, then the end of the stream.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, is_head_request: bool) -> Result<Answer, ParseError> {
    let mut parser = ResponseParser::new();
    parser.expect_response(is_head_request);
    let mut answer = Answer::default();
    let mut before = 0;
    for piece in pieces {
        if let Progress::Complete { consumed, keeps_alive } = parser.feed(piece, &mut answer)? {
            answer.complete = Some((before + consumed, keeps_alive));
            return Ok(answer);
        }
        before += piece.len();
    }
    parser.finish_stream().map(|()| answer)
}

/// Reads the input on a connection on which the same answer came before, to requests of both kinds, for a reader without
/// interest in its fields.
fn read_again(raw: &[u8], is_head_request: bool) -> Result<Answer, ParseError> {
    let mut parser = ResponseParser::new();
    let mut read = |is_head_request| {
        parser.expect_response(is_head_request);
        let mut sink = WithoutFields::default();
        let progress = parser.feed(raw, &mut sink)?;
        if let Progress::Complete { consumed, keeps_alive } = progress {
            sink.0.complete = Some((consumed, keeps_alive));
        } else {
            parser.finish_stream()?;
        }
        Ok(sink.0)
    };
    let _ = (read(!is_head_request), read(is_head_request));
    read(is_head_request)
}

/// Reads the input whole, again, in single bytes, and split in two at every position. All must give the same outcome.
fn read_every_way(raw: &[u8], is_head_request: bool) -> Result<Answer, ParseError> {
    let whole = read([raw], is_head_request);
    assert_eq!(read_again(raw, is_head_request), whole, "again: {}", raw.escape_ascii());
    assert_eq!(read(raw.chunks(1), is_head_request), whole, "in single bytes: {}", raw.escape_ascii());
    for cut in 0..=raw.len() {
        let (first, second) = raw.split_at(cut);
        assert_eq!(read([first, second], is_head_request), whole, "cut at {cut}: {}", raw.escape_ascii());
    }
    whole
}

fn ok(raw: &str) -> Answer {
    read_every_way(raw.as_bytes(), false).unwrap_or_else(|error| panic!("{error}: {raw:?}"))
}

fn error(raw: &str) -> ParseError {
    read_every_way(raw.as_bytes(), false).map(|answer| panic!("{raw:?} was read as {answer:?}")).unwrap_err()
}

#[test]
fn bodies_end_where_the_headers_say() {
    for (raw, status, body, keeps_alive) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true),
        ("HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello", 200, "hello", true),
        ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, "", true),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", 500, "no", false),
        ("HTTP/1.1 200 OK\r\nConnection: x, CLOSE\r\nContent-Length: 1\r\n\r\na", 200, "a", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", 200, "a", false),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na", 200, "a", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, "", true),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, "", true),
        ("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 101, "", false),
    ] {
        let answer = ok(raw);
        assert_eq!((answer.status, answer.body.as_slice()), (status, body.as_bytes()), "{raw:?}");
        assert_eq!(answer.complete, Some((raw.len(), keeps_alive)), "{raw:?}");
    }
}

#[test]
fn chunks_are_put_together() {
    for (chunks, body) in [
        ("0\r\n\r\n", ""),
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("4\r\nWiki\r\n5\r\npedia\r\nE\r\n in\r\n\r\nchunks.\r\n0\r\n\r\n", "Wikipedia in\r\n\r\nchunks."),
        ("00005;name=\"value\"\r\nhello\r\n000\r\n\r\n", "hello"),
        ("5 \r\nhello\r\n0\r\nExpires: never\r\nX: y\r\n\r\n", "hello"),
        ("a\r\n0123456789\r\n0;last\r\n\r\n", "0123456789"),
    ] {
        let raw = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n{chunks}");
        let answer = ok(&raw);
        assert_eq!((answer.body.as_slice(), answer.complete), (body.as_bytes(), Some((raw.len(), true))), "{chunks:?}");
    }
}

#[test]
fn a_body_without_length_lasts_until_the_end_of_the_stream() {
    let answer = ok("HTTP/1.1 200 OK\r\nServer: x\r\n\r\nall of this");
    assert_eq!((answer.body.as_slice(), answer.complete), (&b"all of this"[..], None));
    assert_eq!(ok("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nxyz").body, b"xyz");
    assert_eq!(ok("HTTP/1.1 200 OK\r\n\r\n").body, b"");
}

#[test]
fn interim_answers_are_passed_over() {
    let raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
               HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    let answer = ok(raw);
    assert_eq!((answer.status, answer.heads, answer.complete), (200, 1, Some((raw.len(), true))));
}

#[test]
fn answers_to_head_have_no_body_whatever_they_announce() {
    for raw in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
    ] {
        let answer = read_every_way(raw.as_bytes(), true).unwrap();
        assert_eq!(answer.complete, Some((raw.len(), true)), "{raw:?}");
    }
}

#[test]
fn what_follows_an_answer_is_left_alone() {
    let first = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(ok(&format!("{first}HTTP/1.1 200 OK\r\n\r\n")).complete, Some((first.len(), true)));
}

#[test]
fn a_parser_reads_one_answer_after_another() {
    let mut parser = ResponseParser::new();
    for body in ["a", "bcd", ""] {
        let mut answer = Answer::default();
        parser.expect_response(false);
        let raw = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let (first, second) = raw.as_bytes().split_at(10);
        assert_eq!(parser.feed(first, &mut answer), Ok(Progress::NeedsMore));
        assert!(matches!(parser.feed(second, &mut answer), Ok(Progress::Complete { .. })));
        assert_eq!(answer.body, body.as_bytes());
    }
}

#[test]
fn contradictory_and_impossible_lengths_are_errors() {
    for (headers, expected) in [
        ("Content-Length: 1\r\nContent-Length: 1", ParseError::RepeatedContentLength),
        ("Content-Length: 1\r\nContent-Length: 2", ParseError::RepeatedContentLength),
        ("Content-Length: -1", ParseError::BadContentLength),
        ("Content-Length: +1", ParseError::BadContentLength),
        ("Content-Length: 1, 1", ParseError::BadContentLength),
        ("Content-Length: 0x10", ParseError::BadContentLength),
        ("Content-Length:", ParseError::BadContentLength),
        ("Content-Length: 18446744073709551616", ParseError::BadContentLength),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked", ParseError::AmbiguousLength),
        ("Transfer-Encoding: chunked\r\nContent-Length: 1", ParseError::AmbiguousLength),
    ] {
        assert_eq!(error(&format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\nx")), expected, "{headers}");
    }
}

#[test]
fn broken_chunks_are_errors() {
    for (chunks, expected) in [
        ("x\r\n", ParseError::BadChunkSize),
        ("-1\r\n", ParseError::BadChunkSize),
        ("\r\n", ParseError::BadChunkSize),
        ("1\nx", ParseError::BadChunkSize),
        ("10000000000000000\r\n", ParseError::ChunkSizeOverflow),
        ("FFFFFFFFFFFFFFFFF\r\n", ParseError::ChunkSizeOverflow),
        ("1\r\nxy", ParseError::BadChunkEnd),
        ("1\r\nx\r\r", ParseError::BadChunkEnd),
        ("0\r\n\rx", ParseError::BadChunkEnd),
        (&"0".repeat(65), ParseError::BadChunkSize),
    ] {
        let raw = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        assert_eq!(error(&raw), expected, "{chunks:?}");
    }
}

#[test]
fn the_error_of_a_stream_that_ends_early_names_the_part() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(error(""), ParseError::NoAnswer);
    for cut in 1..head.len() {
        assert_eq!(error(&head[..cut]), ParseError::TruncatedHead, "cut at {cut}");
    }
    assert_eq!(error(head), ParseError::TruncatedBody);
    assert_eq!(error("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"), ParseError::TruncatedBody);
    assert_eq!(
        error("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"),
        ParseError::TruncatedBody
    );
}

#[test]
fn what_is_not_http_is_malformed() {
    for raw in [
        "\x16\x03\x01 hello",
        "HTTP/2 200\r\n\r\n",
        "<html>",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    ] {
        assert!(matches!(error(raw), ParseError::Malformed(_)), "{raw:?}");
    }
}

#[test]
fn limits_hold_however_the_bytes_come() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "a".repeat(MAX_HEAD_BYTES));
    assert_eq!(read([long.as_bytes()], false), Err(ParseError::HeadTooLong));
    assert_eq!(read(long.as_bytes().chunks(1000), false), Err(ParseError::HeadTooLong));
    let fits = format!("HTTP/1.1 204 OK\r\nX: {}\r\n\r\n", "a".repeat(MAX_HEAD_BYTES - 100));
    assert!(read(fits.as_bytes().chunks(1000), false).is_ok());
    let header_lines = |count: usize| format!("HTTP/1.1 204 OK\r\n{}\r\n", "A: b\r\n".repeat(count));
    assert!(read([header_lines(MAX_HEADERS).as_bytes()], false).is_ok());
    assert_eq!(read([header_lines(MAX_HEADERS + 1).as_bytes()], false), Err(ParseError::TooManyHeaders));
    let trailers = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{}",
        "A: b\r\n".repeat(MAX_HEAD_BYTES / 6 + 1)
    );
    assert_eq!(read([trailers.as_bytes()], false), Err(ParseError::TrailersTooLong));
    let extension =
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;{}", "x".repeat(MAX_HEAD_BYTES + 1));
    assert_eq!(read([extension.as_bytes()], false), Err(ParseError::TrailersTooLong));
}

proptest! {
    /// The pieces do not change the outcome.
    #[test]
    fn any_cutting_gives_the_same_answer(
        body in proptest::collection::vec(any::<u8>(), 0..300),
        sizes in proptest::collection::vec(1_usize..60, 1..12),
        piece in 1_usize..40,
    ) {
        let mut raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        let mut rest = &body[..];
        for size in sizes.iter().cycle() {
            let (chunk, later) = rest.split_at(rest.len().min(*size));
            raw.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            raw.extend_from_slice(chunk);
            raw.extend_from_slice(b"\r\n");
            rest = later;
            if chunk.is_empty() {
                break;
            }
        }
        let answer = read(raw.chunks(piece), false).unwrap();
        prop_assert_eq!(answer.body, body);
        prop_assert_eq!(answer.complete, Some((raw.len(), true)));
    }

    /// For any input the parser neither panics nor claims more bytes than it received.
    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        is_chunked in any::<bool>(),
    ) {
        let mut raw = if is_chunked {
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()
        } else {
            b"HTTP/1.".to_vec()
        };
        raw.extend_from_slice(&bytes);
        if let Ok(Answer { complete: Some((used, _)), .. }) = read([&raw[..]], false) {
            prop_assert!(used <= raw.len());
        }
    }
}
