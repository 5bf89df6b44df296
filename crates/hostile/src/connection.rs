//! What a server sends while several requests are under way on one connection.

use tare_load::{Check, OfflineOutcome, Protocol, RequestSpec, Requests, outcome_of_bytes};

/// Empty settings: a server sends them first, and no request leaves before. No answer can come with them.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

/// Bytes end each of three streams of HTTP/2 in the same way, whole, in single bytes and in uneven pieces.
pub fn check_http2(bytes: &[u8]) {
    check_cuts(Protocol::Http2 { streams: 3 }, SETTINGS, bytes);
}

/// Bytes end each of four pipelined requests of HTTP/1.1 in the same way, whole, in single bytes and in uneven pieces.
pub fn check_pipelined(bytes: &[u8]) {
    check_cuts(Protocol::Http1 { pipeline: 4 }, b"", bytes);
}

fn check_cuts(protocol: Protocol, first: &[u8], bytes: &[u8]) {
    let whole = outcome(protocol, first, bytes, bytes.len().max(1));
    for size in [1, 3, 1 + bytes.len() / 2] {
        assert_eq!(outcome(protocol, first, bytes, size), whole, "in pieces of {size} bytes");
    }
    let numbers: Vec<usize> = whole.ended.iter().map(|(number, _)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "each request ends once: {numbers:?}");
    assert!(numbers.last().is_none_or(|last| *last < protocol.depth()), "nobody else ends: {numbers:?}");
}

/// Streams may end in any order, so requests are sorted by number.
fn outcome(protocol: Protocol, first: &[u8], bytes: &[u8], size: usize) -> OfflineOutcome {
    let request = RequestSpec::get("/").expecting(Check::status(200));
    let pieces = std::iter::once(first).filter(|first| !first.is_empty()).chain(bytes.chunks(size));
    let outcome = outcome_of_bytes(protocol, &Requests::of(vec![request]), pieces);
    let mut outcome = outcome.expect("a request that can be sent");
    outcome.ended.sort();
    outcome
}
