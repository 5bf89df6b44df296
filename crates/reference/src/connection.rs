//! One connection as the server sees it: requests are cut out of the stream, bodies are counted and thrown away.

/// The largest header section of a request that is read.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The state of one connection.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// Bytes that have not been used: an incomplete head, or what came while an answer is on its way.
    unused: Vec<u8>,
    current: Option<Request>,
    body_remaining: u64,
    /// An answer is delayed or trickling; further requests wait for it.
    pub(crate) is_answering: bool,
    /// A fault holds the connection for ever.
    pub(crate) is_flooding: bool,
    /// To be closed when everything has left.
    pub(crate) closes_when_sent: bool,
    /// Tells this connection from an earlier one of the same token.
    pub(crate) serial: u64,
}

/// A complete request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body_bytes: u64,
    pub(crate) wants_close: bool,
}

/// What the bytes so far amount to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Request(Request),
    NeedsMore,
    /// Not HTTP, or more than the server cares for.
    Unreadable,
}

impl Connection {
    pub(crate) fn new(serial: u64) -> Self {
        Self { serial, ..Self::default() }
    }

    /// Whether the next byte begins a request that may be answered at once.
    pub(crate) fn is_between_requests(&self) -> bool {
        self.unused.is_empty() && self.current.is_none() && !self.is_answering
    }

    /// Takes bytes that arrived; [`Connection::next`] tells what they amount to.
    pub(crate) fn receive(&mut self, mut bytes: &[u8]) {
        if self.current.is_some() && self.unused.is_empty() {
            let body = bytes.len().min(usize::try_from(self.body_remaining).unwrap_or(usize::MAX));
            self.body_remaining -= body as u64;
            bytes = &bytes[body..];
        }
        self.unused.extend_from_slice(bytes);
    }

    /// The next complete request, if one is there and the one before has been answered.
    pub(crate) fn next(&mut self) -> Next {
        if self.is_answering {
            return Next::NeedsMore;
        }
        if self.current.is_none() {
            match parse(&self.unused) {
                Ok(Some((request, head_bytes))) => {
                    self.body_remaining = request.body_bytes;
                    self.current = Some(request);
                    self.unused.drain(..head_bytes);
                }
                Ok(None) if self.unused.len() <= MAX_HEAD_BYTES => return Next::NeedsMore,
                Ok(None) | Err(()) => return Next::Unreadable,
            }
        }
        let body = self.unused.len().min(usize::try_from(self.body_remaining).unwrap_or(usize::MAX));
        self.unused.drain(..body);
        self.body_remaining -= body as u64;
        if self.body_remaining > 0 {
            return Next::NeedsMore;
        }
        self.current.take().map_or(Next::NeedsMore, Next::Request)
    }
}

fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, ()> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head_bytes) = parsed.parse(bytes).map_err(|_| ())? else { return Ok(None) };
    let mut request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: parsed.path.unwrap_or_default().to_owned(),
        ..Request::default()
    };
    for header in parsed.headers.iter() {
        let value = std::str::from_utf8(header.value).map_err(|_| ())?.trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            request.body_bytes = value.parse().map_err(|_| ())?;
        } else if header.name.eq_ignore_ascii_case("connection") {
            request.wants_close = value.eq_ignore_ascii_case("close");
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(());
        }
    }
    Ok(Some((request, head_bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] = b"POST /path0 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /path1/2 HTTP/1.1\r\n\r\n";

    fn requests(pieces: &[&[u8]]) -> Vec<(String, u64)> {
        let mut connection = Connection::new(0);
        let mut found = Vec::new();
        for piece in pieces {
            connection.receive(piece);
            while let Next::Request(request) = connection.next() {
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
    fn a_request_waits_until_the_one_before_is_answered() {
        let mut connection = Connection::new(0);
        connection.receive(TWO);
        assert!(matches!(connection.next(), Next::Request(_)));
        connection.is_answering = true;
        assert_eq!(connection.next(), Next::NeedsMore);
        connection.is_answering = false;
        assert!(matches!(connection.next(), Next::Request(_)));
    }

    #[test]
    fn what_is_not_http_is_unreadable() {
        let mut connection = Connection::new(0);
        connection.receive(b"\x16\x03\x01\x02");
        assert_eq!(connection.next(), Next::Unreadable);
    }
}
