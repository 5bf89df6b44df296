//! An HTTP/1.1 request with variables. All constant parts are encoded once.

use std::io::Write;

use tare_wire::http::{Method, announces_chunks, push_chunks};

use super::pattern::Pattern;
use crate::input::template::{Template, Values};

/// A request whose bytes are filled in before each send.
#[derive(Debug)]
pub(super) struct Http1Pattern {
    /// The whole request, or all before what is measured.
    head: Template,
    /// A body whose length is not known before: whether it is sent in chunks, or `Content-Length` ends the head.
    measured: Option<(Template, bool)>,
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
        let is_chunked = pattern.headers.iter().any(|(name, value)| {
            value.as_text().is_some_and(|text| announces_chunks(name, &String::from_utf8_lossy(text)))
        });
        // A body without variables.
        let known = pattern.body.as_text();
        let announces_body =
            known.is_none_or(|body| !body.is_empty()) || !matches!(pattern.method, Method::GET | Method::HEAD);
        let states_length = announces_body && !is_given("content-length") && !is_given("transfer-encoding");
        match known {
            Some(body) if states_length => {
                head.push_text(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            }
            None if states_length => head.push_text(b"Content-Length: "),
            _ => head.push_text(b"\r\n"),
        }
        let measured = (is_chunked || (states_length && known.is_none())).then(|| (pattern.body.clone(), is_chunked));
        if measured.is_none() {
            head.append(pattern.body.clone());
        }
        Self { head, measured }
    }

    /// Replaces the content of `out` by the request with the current values. `body` is a scratch buffer.
    pub(super) fn fill(&self, values: &mut Values, out: &mut Vec<u8>, body: &mut Vec<u8>) {
        out.clear();
        self.head.fill(values, out);
        let Some((measured, is_chunked)) = &self.measured else { return };
        body.clear();
        measured.fill(values, body);
        if *is_chunked {
            return push_chunks(out, body);
        }
        // Writing to memory cannot fail.
        let _ = write!(out, "{}\r\n\r\n", body.len());
        out.extend_from_slice(body);
    }
}
