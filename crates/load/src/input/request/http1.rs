//! An HTTP/1.1 request with variables. All constant parts are encoded once.

use std::io::Write;

use tare_wire::http::{Method, announces_chunks, push_chunks};

use super::pattern::Pattern;
use crate::input::template::{Template, Values};

/// A request whose bytes are filled in before each send.
#[derive(Debug)]
pub(super) struct Http1Pattern {
    /// Up to the end of the header section, or up to the value of `Content-Length`.
    head: Template,
    body: Template,
    framing: Framing,
}

/// What to do about the length of the body before each send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// Nothing: the length is known, or a header of the user states it.
    None,
    /// Write the length and end the header section.
    Length,
    /// Send the body in chunks.
    Chunks,
}

impl Http1Pattern {
    /// Encodes a pattern that has been checked.
    pub(super) fn of(host: &str, pattern: &Pattern) -> Self {
        let is_given = |wanted: &str| pattern.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let mut head = Template::literal(format!("{} ", pattern.method));
        head.append(pattern.path.clone());
        head.push_text(b" HTTP/1.1\r\n");
        if !is_given("host") {
            head.push_text(format!("Host: {host}\r\n").as_bytes());
        }
        for (name, value) in &pattern.headers {
            head.push_text(format!("{name}: ").as_bytes());
            head.append(value.clone());
            head.push_text(b"\r\n");
        }
        let is_empty = pattern.body.as_text().is_some_and(<[u8]>::is_empty);
        let announces_body = !is_empty || !matches!(pattern.method, Method::GET | Method::HEAD);
        let is_chunked = pattern.headers.iter().any(|(name, value)| {
            value
                .as_text()
                .and_then(|text| std::str::from_utf8(text).ok())
                .is_some_and(|text| announces_chunks(name, text))
        });
        let states_length = announces_body && !is_given("content-length") && !is_given("transfer-encoding");
        let framing = match pattern.body.as_text().filter(|_| states_length) {
            // A body without variables has a known length.
            Some(body) => {
                head.push_text(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
                Framing::None
            }
            None if states_length => {
                head.push_text(b"Content-Length: ");
                Framing::Length
            }
            None => {
                head.push_text(b"\r\n");
                if is_chunked { Framing::Chunks } else { Framing::None }
            }
        };
        Self { head, body: pattern.body.clone(), framing }
    }

    /// Replaces the content of `out` by the request with the current values. `body` is a scratch buffer.
    pub(super) fn fill(&self, values: &mut Values, out: &mut Vec<u8>, body: &mut Vec<u8>) {
        out.clear();
        self.head.fill(values, out);
        if self.framing == Framing::None {
            return self.body.fill(values, out);
        }
        body.clear();
        self.body.fill(values, body);
        if self.framing == Framing::Chunks {
            return push_chunks(out, body);
        }
        // Writing to memory cannot fail.
        let _ = write!(out, "{}\r\n\r\n", body.len());
        out.extend_from_slice(body);
    }
}
