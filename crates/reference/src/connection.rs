//! One connection of the server: requests are parsed from the stream, and bodies are counted and discarded.

use tare_sys::clock::Nanos;
use tare_wire::http::{Body, Chunked};

use crate::http2::Http2;
use crate::request::{Persistence, Request};
use crate::websocket::WebSocket;

/// The largest header section of a request, in bytes.
const MAX_HEAD_BYTES: usize = 64 * 1024;

#[derive(Default)]
pub(crate) struct Connection {
    /// Unused bytes: an incomplete head, or bytes that arrived while an answer was being sent.
    unused: Vec<u8>,
    /// A request whose body is still arriving.
    current: Option<(Request, Body)>,
    /// An answer is delayed or sent slowly; further requests wait for it.
    pub(crate) is_answering: bool,
    /// A fault keeps the connection busy for ever.
    pub(crate) is_flooding: bool,
    /// When bytes last arrived, and the index of the current request among all of the server's.
    pub(crate) received: Nanos,
    pub(crate) nth: u64,
    /// The WebSocket, after an upgrade.
    pub(crate) websocket: Option<Box<WebSocket>>,
    /// The connection's state, where it speaks HTTP/2.
    pub(crate) http2: Option<Box<Http2>>,
    pub(crate) closes_when_sent: bool,
    /// Distinguishes this connection from an earlier one with the same token.
    pub(crate) serial: u64,
}

impl Connection {
    pub(crate) fn new(serial: u64) -> Self {
        Self { serial, ..Self::default() }
    }

    /// Whether the next byte begins a request that may be answered at once.
    pub(crate) fn is_between_requests(&self) -> bool {
        self.unused.is_empty() && self.current.is_none() && !self.is_answering
    }

    /// Adds received bytes. [`Connection::next`] parses them. Fails when the framing of a chunk is wrong.
    pub(crate) fn receive(&mut self, mut bytes: &[u8]) -> Result<(), ()> {
        // A large body need not be copied.
        if let Some((request, body)) = self.current.as_mut().filter(|_| self.unused.is_empty()) {
            bytes = &bytes[count(request, body, bytes)?.0..];
        }
        self.unused.extend_from_slice(bytes);
        Ok(())
    }

    /// The next complete request, once the one before has been answered. Fails when the bytes are not HTTP, or more
    /// than the server accepts.
    pub(crate) fn next(&mut self) -> Result<Option<Request>, ()> {
        if self.is_answering {
            return Ok(None);
        }
        if self.current.is_none() {
            match parse(&self.unused)? {
                Some((request, body, head_bytes)) => {
                    self.current = Some((request, body));
                    self.unused.drain(..head_bytes);
                }
                None if self.unused.len() <= MAX_HEAD_BYTES => return Ok(None),
                None => return Err(()),
            }
        }
        let Some((request, body)) = &mut self.current else { return Ok(None) };
        let (used, is_complete) = count(request, body, &self.unused)?;
        self.unused.drain(..used);
        Ok(self.current.take_if(|_| is_complete).map(|(request, _)| request))
    }
}

/// Counts the available bytes of a body, and discards them. Returns how many it used, and whether the body is complete.
fn count(request: &mut Request, body: &mut Body, bytes: &[u8]) -> Result<(usize, bool), ()> {
    body.feed(bytes, |content| request.body_bytes += content.len() as u64).map_err(|_| ())
}

fn parse(bytes: &[u8]) -> Result<Option<(Request, Body, usize)>, ()> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head_bytes) = parsed.parse(bytes).map_err(|_| ())? else { return Ok(None) };
    let is_1_0 = parsed.version == Some(0);
    let mut request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: parsed.path.unwrap_or_default().to_owned(),
        persistence: if is_1_0 { Persistence::Closes } else { Persistence::Stays },
        ..Request::default()
    };
    let mut body = Body::Length(0);
    for header in parsed.headers.iter() {
        let value = std::str::from_utf8(header.value).map_err(|_| ())?.trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            body = Body::Length(value.parse().map_err(|_| ())?);
        } else if header.name.eq_ignore_ascii_case("connection") {
            request.persistence = match value {
                _ if value.eq_ignore_ascii_case("close") => Persistence::Closes,
                _ if is_1_0 && value.eq_ignore_ascii_case("keep-alive") => Persistence::Kept,
                _ => request.persistence,
            };
        } else if header.name.eq_ignore_ascii_case("sec-websocket-key") {
            request.websocket_key = Some(value.to_owned());
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if !value.eq_ignore_ascii_case("chunked") {
                return Err(());
            }
            body = Body::Chunked(Chunked::default());
        }
    }
    Ok(Some((request, body, head_bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] = b"POST /path0 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /path1/2 HTTP/1.1\r\n\r\n";

    fn requests(pieces: &[&[u8]]) -> Vec<(String, u64)> {
        let mut connection = Connection::new(0);
        let mut found = Vec::new();
        for piece in pieces {
            connection.receive(piece).unwrap();
            while let Ok(Some(request)) = connection.next() {
                found.push((request.path, request.body_bytes));
            }
        }
        found
    }

    #[test]
    fn requests_are_the_same_wherever_the_stream_is_cut() {
        for cut in 0..TWO.len() {
            let (first, second) = TWO.split_at(cut);
            let expected = [("/path0".to_owned(), 3), ("/path1/2".to_owned(), 0)];
            assert_eq!(requests(&[first, second]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_body_in_chunks_is_counted_wherever_the_stream_is_cut() {
        let stream = b"POST /path0 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\nA;name=value\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET /path1/2 HTTP/1.1\r\n\r\n";
        for cut in 0..stream.len() {
            let (first, second) = stream.split_at(cut);
            let expected = [("/path0".to_owned(), 13), ("/path1/2".to_owned(), 0)];
            assert_eq!(requests(&[first, second]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_frames_no_chunk_is_unreadable() {
        for body in ["x\r\n", "-1\r\n", "fffffffffffffffff\r\n", "3\r\nabcd\r\n", "1\r\na\r\n2x\r\n"] {
            let mut connection = Connection::new(0);
            connection.receive(b"POST /path0 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
            assert_eq!(connection.next(), Ok(None));
            assert_eq!(connection.receive(body.as_bytes()), Err(()), "{body:?}");
        }
    }

    #[test]
    fn a_request_waits_until_the_one_before_is_answered() {
        let mut connection = Connection::new(0);
        connection.receive(TWO).unwrap();
        assert!(matches!(connection.next(), Ok(Some(_))));
        connection.is_answering = true;
        assert_eq!(connection.next(), Ok(None));
        connection.is_answering = false;
        assert!(matches!(connection.next(), Ok(Some(_))));
    }

    #[test]
    fn what_is_not_http_is_unreadable() {
        let mut connection = Connection::new(0);
        connection.receive(b"\x16\x03\x01\x02").unwrap();
        assert_eq!(connection.next(), Err(()));
    }
}
