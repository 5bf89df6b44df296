//! What a server sends while several requests are under way on one connection.

use std::fmt::Debug;

use tare_load::{Check, ErrorClass, Protocol, RequestEnd, RequestSpec, Requests, outcome_of_bytes};

/// Empty settings: a server sends them first, and no request leaves before. No answer can come with them.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

/// Bytes answer the same of three streams of HTTP/2, whole, in single bytes and in uneven pieces. Each stream ends once.
pub fn check_http2(bytes: &[u8]) {
    let is_answered = |end: &Option<RequestEnd>| *end == Some(RequestEnd::Answered);
    let answered = |size| -> Vec<bool> {
        request_ends(Protocol::Http2 { streams: 3 }, SETTINGS, bytes, size).0.iter().map(is_answered).collect()
    };
    check_cuts(answered, bytes.len());
}

/// Bytes end each of four pipelined requests of HTTP/1.1 in the same way, whole, in single bytes and in uneven pieces.
pub fn check_pipelined(bytes: &[u8]) {
    check_cuts(|size| request_ends(Protocol::Http1 { pipeline: 4 }, b"", bytes, size), bytes.len());
}

/// The outcome is the same whole, in single bytes and in uneven pieces. Returns it.
pub(crate) fn check_cuts<T: PartialEq + Debug>(outcome: impl Fn(usize) -> T, length: usize) -> T {
    let whole = outcome(length.max(1));
    for size in [1, 3, 1 + length / 2] {
        assert_eq!(outcome(size), whole, "in pieces of {size} bytes");
    }
    whole
}

/// How each request ended, or `None` if it did not, and the problem of a connection whose requests had all ended.
type RequestEnds = (Vec<Option<RequestEnd>>, Option<ErrorClass>);

/// How each request ends. A request that fails with its connection has the same end as one that fails by itself.
fn request_ends(protocol: Protocol, first: &[u8], bytes: &[u8], size: usize) -> RequestEnds {
    let request = RequestSpec::get("/").expecting(Check::status(200));
    let pieces = std::iter::once(first).filter(|first| !first.is_empty()).chain(bytes.chunks(size));
    let outcome = outcome_of_bytes(protocol, &Requests::of(vec![request]), pieces).expect("a request that can be sent");
    let mut ends = vec![None; protocol.depth() as usize];
    for (number, end) in outcome.ended {
        assert_eq!(ends[number].replace(end), None, "request {number} ends once");
    }
    let is_open = ends.contains(&None);
    ends.iter_mut().filter(|end| end.is_none()).for_each(|end| *end = outcome.broken.map(RequestEnd::Failed));
    (ends, outcome.broken.filter(|_| !is_open))
}
