//! Requests: encoded once, before any clock runs, and sent unchanged any number of times.

use http::Method;
use thiserror::Error;

use super::grammar::{is_field_byte, is_token};

const CHUNK_BYTES: usize = 16 * 1024;

/// A method by name, as written. Fails when the name is not a token of RFC 9110, section 5.6.2.
pub fn method_named(name: &str) -> Result<Method, EncodeError> {
    Method::from_bytes(name.as_bytes()).map_err(|_| {
        EncodeError(format!("`{}` is not a request method; use a name such as GET or POST", name.escape_debug()))
    })
}

#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub method: &'a Method,
    /// Path and query, beginning with `/`.
    pub path: &'a str,
    /// The value of `Host`, unless `headers` has one.
    pub host: &'a str,
    pub headers: &'a [(String, String)],
    /// `Content-Length` is added if it is not empty or if the method is one that expects a body, unless `headers` has it.
    /// With the header `Transfer-Encoding: chunked` it is sent in chunks.
    pub body: &'a [u8],
}

/// Why a request cannot be sent as HTTP/1.1, and what to write instead, in words.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct EncodeError(String);

impl Request<'_> {
    /// The request as it is sent. Fails when a part violates RFC 9112, or a header states another length of the body.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        self.check()?;
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        if !self.has("host") {
            check_header("Host", self.host)?;
            push_header(&mut out, "Host", self.host);
        }
        for (name, value) in self.headers {
            push_header(&mut out, name, value);
        }
        if self.announces_body() && !self.has("content-length") && !self.has("transfer-encoding") {
            push_header(&mut out, "Content-Length", &self.body.len().to_string());
        }
        out.extend_from_slice(b"\r\n");
        if self.is_chunked() {
            push_chunks(&mut out, self.body);
        } else {
            out.extend_from_slice(self.body);
        }
        Ok(out)
    }

    /// Checks that it can be sent, to any host.
    pub fn check(&self) -> Result<(), EncodeError> {
        if !self.path.starts_with('/') || !self.path.bytes().all(|byte| byte.is_ascii_graphic()) {
            let remedy = "begin it with / and percent-encode spaces and non-ASCII characters";
            return Err(EncodeError(format!("`{}` is not a request path; {remedy}", self.path.escape_debug())));
        }
        self.headers.iter().try_for_each(|(name, value)| check_header(name, value))?;
        check_framing(self.headers, self.body.len())
    }

    /// Whether the length of the body is stated, also that of none (RFC 9110, section 8.6).
    pub(crate) fn announces_body(&self) -> bool {
        !self.body.is_empty() || matches!(*self.method, Method::POST | Method::PUT | Method::PATCH)
    }

    fn is_chunked(&self) -> bool {
        self.headers.iter().any(|(name, value)| announces_chunks(name, value))
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }
}

fn check_header(name: &str, value: &str) -> Result<(), EncodeError> {
    let fits = is_token(name) && value.bytes().all(is_field_byte);
    let rule = "names are tokens, values have no control characters";
    let wrong = || EncodeError(format!("header `{}` cannot be sent; {rule}", name.escape_debug()));
    fits.then_some(()).ok_or_else(wrong)
}

/// Refuses headers that would let the server wait for more body than is sent, or take the rest of it for a request (RFC
/// 9112, section 6.3).
fn check_framing(headers: &[(String, String)], body_bytes: usize) -> Result<(), EncodeError> {
    let given = |wanted: &'static str| {
        headers.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let wrong = |text: String| Err(EncodeError(text));
    if given("content-length").chain(given("transfer-encoding")).count() > 1 {
        let both = "the length of the body is stated twice, by Content-Length or Transfer-Encoding";
        return wrong(format!("{both}; leave one of them out"));
    }
    if let Some(coding) = given("transfer-encoding").find(|value| !announces_chunks("transfer-encoding", value)) {
        return wrong(format!("`Transfer-Encoding: {coding}` does not say where the body ends; end it with chunked"));
    }
    let is_length = |value: &&str| value.bytes().all(|byte| byte.is_ascii_digit()) && value.parse() == Ok(body_bytes);
    match given("content-length").find(|value| !is_length(value)) {
        Some(length) => wrong(format!(
            "`Content-Length: {length}` is not the length of the body, which is {body_bytes}; leave it out, and it is added"
        )),
        None => Ok(()),
    }
}

/// Whether this header says that the body is sent in chunks: `chunked` is the last coding (RFC 9112, section 6.1).
pub fn announces_chunks(name: &str, value: &str) -> bool {
    let last = value.rsplit(',').next().unwrap_or_default();
    name.eq_ignore_ascii_case("transfer-encoding") && last.trim().eq_ignore_ascii_case("chunked")
}

/// Whether this header field says that the connection ends with the response (RFC 9112, section 9.6).
pub fn announces_close(name: &str, value: &str) -> bool {
    name.eq_ignore_ascii_case("connection") && value.split(',').any(|item| item.trim().eq_ignore_ascii_case("close"))
}

/// Appends a body in chunks, including the last chunk.
pub fn push_chunks(out: &mut Vec<u8>, body: &[u8]) {
    for chunk in body.chunks(CHUNK_BYTES) {
        out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        out.extend_from_slice(chunk);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

fn push_header(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<String, EncodeError> {
        let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let method = method_named(method)?;
        let request = Request { method: &method, path, host: "127.0.0.1:80", headers: &headers, body };
        Ok(String::from_utf8(request.encode()?).unwrap())
    }

    #[test]
    fn a_get_has_a_host_and_no_length() {
        let expected = "GET /path0/1?x=y HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept: */*\r\n\r\n";
        assert_eq!(encode("GET", "/path0/1?x=y", &[("Accept", "*/*")], b"").unwrap(), expected);
    }

    #[test]
    fn a_post_announces_its_length_even_when_empty() {
        assert!(encode("POST", "/", &[], b"abc").unwrap().ends_with("Content-Length: 3\r\n\r\nabc"));
        for (method, is_stated) in
            [("POST", true), ("PUT", true), ("PATCH", true), ("DELETE", false), ("OPTIONS", false), ("TRACE", false)]
        {
            let sent = encode(method, "/", &[], b"").unwrap();
            assert_eq!(sent.ends_with("Content-Length: 0\r\n\r\n"), is_stated, "{sent}");
        }
    }

    #[test]
    fn headers_that_were_given_are_not_added_again() {
        let text = encode("POST", "/", &[("host", "a"), ("content-length", "3")], b"abc").unwrap();
        assert_eq!(text, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
    }

    #[test]
    fn a_body_is_sent_in_chunks_where_that_is_asked_for() {
        let chunked = [("transfer-encoding", "gzip, Chunked")];
        let text = encode("POST", "/", &chunked, b"abc").unwrap();
        assert!(text.ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n") && !text.contains("Content-Length"), "{text}");
        assert!(encode("POST", "/", &chunked, b"").unwrap().ends_with("\r\n\r\n0\r\n\r\n"));
        let long = encode("POST", "/", &chunked, &[b'a'; CHUNK_BYTES + 1]).unwrap();
        assert!(long.contains("\r\n\r\n4000\r\naaa") && long.ends_with("aaa\r\n1\r\na\r\n0\r\n\r\n"));
    }

    #[test]
    fn a_length_that_is_not_that_of_the_body_is_refused() {
        for (headers, body, says) in [
            (
                &[("Content-Length", "5")][..],
                &b"abc"[..],
                "`Content-Length: 5` is not the length of the body, which is 3;",
            ),
            (&[("content-length", "2")], b"abc", "is not the length of the body"),
            (&[("Content-Length", "+3")], b"abc", "is not the length of the body"),
            (&[("Content-Length", "")], b"", "is not the length of the body"),
            (&[("Content-Length", "1")], b"", "which is 0;"),
            (&[("Content-Length", "3"), ("content-length", "3")], b"abc", "stated twice"),
            (&[("Content-Length", "3"), ("Transfer-Encoding", "chunked")], b"abc", "stated twice"),
            (&[("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")], b"abc", "stated twice"),
            (&[("Transfer-Encoding", "gzip")], b"abc", "`Transfer-Encoding: gzip` does not say where the body ends;"),
            (&[("Transfer-Encoding", "chunked, gzip")], b"", "does not say where the body ends"),
        ] {
            let error = encode("POST", "/", headers, body).unwrap_err();
            assert!(error.to_string().contains(says), "{headers:?}: {error}");
        }
        assert!(encode("GET", "/", &[("Content-Length", "0")], b"").is_ok());
    }

    #[test]
    fn parts_that_would_break_the_grammar_are_refused() {
        for (method, path, headers, says) in [
            ("GET", "/", &[("a b", "c")][..], "header `a b` cannot be sent; names are"),
            ("GE T", "/", &[], "`GE T` is not a request method; use"),
            ("GET", "x", &[], "`x` is not a request path; begin it"),
            ("GET", "/a b", &[], "`/a b` is not a request path; begin it"),
            ("GET", "/", &[("a", "b\r\nc: d")], "header `a` cannot be sent; names are"),
        ] {
            let error = encode(method, path, headers, b"").unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
