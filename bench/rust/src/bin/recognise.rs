//! The cost of parsing and checking an answer, compared with one comparison of its bytes with those of a correct
//! answer. Alternating, with the spread of the rounds.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example talks to its user")]
#![allow(clippy::disallowed_methods, reason = "a crate without a clock of its own is timed from outside")]

use std::hint::black_box;
use std::time::Instant;

use tare_wire::http::{Head, Progress, ResponseParser, Sink};

const ROUNDS: usize = 41;
const ANSWERS: u32 = 200_000;

/// Compares status, one header and the body, as a request's checks do.
struct Comparing<'a> {
    body: &'a [u8],
    is_right: bool,
}

impl Sink for Comparing<'_> {
    fn head(&mut self, head: &Head<'_>) {
        self.is_right = head.status == 200 && head.header_value("content-type").is_some();
    }

    fn body(&mut self, bytes: &[u8]) {
        self.is_right &= bytes == self.body;
    }
}

fn read(parser: &mut ResponseParser, raw: &[u8], body: &[u8]) -> bool {
    let mut sink = Comparing { body, is_right: false };
    parser.expect_response(false);
    let progress = parser.feed(raw, &mut sink).unwrap();
    sink.is_right && matches!(progress, Progress::Complete { consumed, .. } if consumed == raw.len())
}

fn ns_each(mut once: impl FnMut() -> bool) -> f64 {
    let start = Instant::now();
    for _ in 0..ANSWERS {
        assert!(black_box(once()));
    }
    start.elapsed().as_nanos() as f64 / f64::from(ANSWERS)
}

fn main() {
    for (name, body_bytes, headers) in [("2 headers, 13 bytes", 13, ""), ("6 headers, 1 KiB", 1024, SEVERAL)] {
        let body = vec![b'x'; body_bytes];
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{headers}Content-Length: {body_bytes}\r\n\r\n");
        let raw = [head.as_bytes(), &body].concat();
        let known = raw.clone();
        let mut parser = ResponseParser::new();
        let mut rounds: Vec<(f64, f64)> = (0..ROUNDS)
            .map(|_| {
                let reading = ns_each(|| read(&mut parser, black_box(&raw), &body));
                (reading, ns_each(|| black_box(&raw[..]) == black_box(&known[..])))
            })
            .collect();
        rounds.sort_by(|one, other| (one.0 - one.1).total_cmp(&(other.0 - other.1)));
        let at = |share: f64| rounds[((ROUNDS - 1) as f64 * share) as usize];
        let (reading, comparing) = at(0.5);
        let saved = |share| at(share).0 - at(share).1;
        println!(
            "{name}: read {reading:.0} ns, recognised {comparing:.0} ns, saved {:.0} ns [{:.0}, {:.0}]",
            saved(0.5),
            saved(0.1),
            saved(0.9)
        );
    }
}

const SEVERAL: &str =
    "Server: something/1.0\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\nVary: Accept\r\nX-Request: 1\r\n";
