//! A small blocking client that keeps the whole answer: for verifying, never for measuring.

use std::io::{self, Read, Write};
use std::time::Duration;

use tare_plan::contract::Request;
use tare_wire::grpc::Reply;
use tare_wire::http::{self, Head, Method, ParseError, Progress, ResponseParser, Sink, method_named};

use super::http2::{Deadline, Http2, request_of};
use super::stream::{Endpoint, Stream, speaks_tls};

/// Longest body of an answer that is kept; no contract expects a longer one.
pub(super) const MAX_BODY_BYTES: usize = 64 << 20;

/// From this status on, a request was refused.
const REFUSED: u16 = 400;

/// How often a request is sent if its connection is reset meanwhile. A server that refuses a body early and closes may
/// destroy its own answer (RFC 9112, section 9.6). If it does so each time, that is an error.
const ATTEMPTS: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// In the order of arrival, unchanged.
    pub(super) headers: Vec<(String, String)>,
    /// Of a gRPC call, its message.
    pub(super) body: Vec<u8>,
    /// What a gRPC call adds to an answer.
    pub(super) reply: Option<Reply>,
    pub(super) keeps_alive: bool,
}

impl Answer {
    /// The values of a header, joined as RFC 9110, section 5.3, allows.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        let values =
            self.headers.iter().filter(|(is, _)| is.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
        let values: Vec<&str> = values.collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    fn read_reply(&mut self, trailers: &[(String, String)]) {
        let mut reply = Reply::default();
        reply.take_headers(|name| field(&self.headers, name));
        let message = reply.take_body(&self.body).to_vec();
        reply.take_trailers(|name| field(trailers, name));
        (self.body, self.reply) = (message, Some(reply));
    }
}

fn field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a [u8]> {
    fields.iter().find(|(is, _)| is == name).map(|(_, value)| value.as_bytes())
}

impl Sink for Answer {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
        let text = |header: &httparse::Header<'_>| {
            (header.name.to_owned(), String::from_utf8_lossy(header.value).into_owned())
        };
        self.headers = head.headers.iter().map(text).collect();
    }

    fn body(&mut self, bytes: &[u8]) {
        let room = MAX_BODY_BYTES.saturating_sub(self.body.len());
        self.body.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("cannot be sent: {0}")]
    Encode(#[from] http::EncodeError),
    #[error("connection closed without keep-alive: the answer before did not say so, and the next request was refused")]
    ClosedSilently,
    #[error("connection failed while the request was sent: {0}")]
    Write(io::Error),
    #[error("no whole answer within {}s", .0.as_secs_f64())]
    Timeout(Duration),
    #[error("connection failed while the answer was read: {0}")]
    Read(io::Error),
    #[error("not an HTTP/1.1 answer: {0}")]
    Parse(#[from] ParseError),
    #[error("the server answers in HTTP/2, and not in HTTP/1.1; write protocol = \"h2c\", or ask another port")]
    SpeaksHttp2,
    #[error(
        "the server speaks TLS on this port, and was asked without; write {0}tls = {{ ca = \"FILE\" }}, or {0}https:// in its url"
    )]
    SpeaksTls(&'static str),
    #[error("more bytes than the answer announced follow it ({0} of them)")]
    Excess(usize),
    #[error("not an HTTP/2 request: {0}")]
    Http2Request(#[from] ::http::Error),
    #[error(
        "not an HTTP/2 answer: {0}; does the server speak HTTP/2 on this port? Otherwise write protocol = \"http1\""
    )]
    Http2(h2::Error),
    #[error("the server closed the connection before it answered over HTTP/2; does it speak it on this port?")]
    Http2Closed,
}

/// One connection at a time, reused as long as the server allows.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) endpoint: Endpoint,
    pub(super) timeout: Duration,
    connection: Option<Stream>,
    http2: Option<Http2>,
}

impl Client {
    pub(super) fn new(endpoint: Endpoint, timeout: Duration) -> Self {
        Self { endpoint, timeout, connection: None, http2: None }
    }

    pub(super) fn host(&self) -> String {
        self.endpoint.host.clone().unwrap_or_else(|| self.endpoint.address.to_string())
    }

    /// Sends a request and reads its answer. After any failure the next request has a new connection.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Answer, Failure> {
        if self.endpoint.is_http2 {
            return self.ask_http2(request);
        }
        let (method, bytes) = self.encode(request)?;
        let has_body = request.body.is_some();
        let mut attempts = (1..ATTEMPTS).map(|_| self.exchange(&method, &bytes, has_body));
        let answer = attempts.find(|answer| !matches!(answer, Err(Failure::Write(_))));
        answer.unwrap_or_else(|| self.exchange(&method, &bytes, has_body))
    }

    /// The method, and the request in HTTP/1.1.
    fn encode(&self, request: &Request) -> Result<(Method, Vec<u8>), http::EncodeError> {
        let (method, host) = (method_named(&request.method)?, self.host());
        let (headers, body) = (request.header_list(), request.body_bytes());
        let sent = http::Request { method: &method, path: &request.path, host: &host, headers: &headers, body: &body };
        let bytes = sent.encode()?;
        Ok((method, bytes))
    }

    fn ask_http2(&mut self, request: &Request) -> Result<Answer, Failure> {
        let deadline = Deadline::after(self.timeout);
        let mut http2 = self.http2.take().map_or_else(|| self.begin_http2(deadline), Ok)?;
        let mut answer = Answer { keeps_alive: true, ..Answer::default() };
        let trailers = self.exchange_http2(&mut http2, request, deadline, &mut answer)?;
        self.http2 = Some(http2);
        if request.grpc.is_some() {
            answer.read_reply(&trailers);
        }
        Ok(answer)
    }

    fn begin_http2(&self, deadline: Deadline) -> Result<Http2, Failure> {
        Http2::begin(self.connect()?, deadline)
    }

    fn exchange_http2(
        &self,
        http2: &mut Http2,
        request: &Request,
        deadline: Deadline,
        reader: &mut impl Sink,
    ) -> Result<Vec<(String, String)>, Failure> {
        let scheme = if self.endpoint.security.is_some() { "https" } else { "http" };
        let asked = request_of(request, scheme, &self.host())?;
        let trailers = http2.ask(asked, request.body_bytes().to_vec().into(), deadline, reader);
        let of_tls = "protocol = \"h2\" with ";
        trailers.map_err(|failure| if self.wants_tls(&failure) { Failure::SpeaksTls(of_tls) } else { failure })
    }

    /// Asks over a connection of its own, until `reader` has enough. Returns whether the answer has ended.
    pub(super) fn read_alone(&self, request: &Request, reader: &mut impl Sink) -> Result<bool, Failure> {
        let deadline = Deadline::after(self.timeout);
        if self.endpoint.is_http2 {
            self.exchange_http2(&mut self.begin_http2(deadline)?, request, deadline, reader)?;
            return Ok(!reader.has_enough());
        }
        let (method, bytes) = self.encode(request)?;
        let mut stream = self.send_bytes_alone(&bytes)?;
        Ok(self.read(&mut stream, &method, reader)?.is_some())
    }

    fn exchange(&mut self, method: &Method, bytes: &[u8], has_body: bool) -> Result<Answer, Failure> {
        let is_reused = self.connection.is_some();
        let mut stream = self.connection.take().map_or_else(|| self.connect(), Ok)?;
        let (sent_bytes, written) = send(&mut stream, bytes);
        // Also after a failed write: a server that refuses a body early has usually answered.
        let mut answer = Answer::default();
        match (self.read(&mut stream, method, &mut answer), written) {
            (Ok(keeps_alive), _) => answer.keeps_alive = keeps_alive.unwrap_or(false),
            (Err(_), Err(error)) if sent_bytes > 0 => return Err(Failure::Write(error)),
            (Err(failure), _) if is_reused && is_closed_unread(&failure) => return Err(Failure::ClosedSilently),
            (Err(_), Err(error)) => return Err(Failure::Write(error)),
            (Err(failure), Ok(())) if self.wants_tls(&failure) => return Err(Failure::SpeaksTls("")),
            (Err(failure), Ok(())) => return Err(failure),
        }
        // It may close before it has read the body, without an announcement (RFC 9110, section 15.5.14).
        if answer.keeps_alive && !(has_body && answer.status >= REFUSED) {
            self.connection = Some(stream);
        }
        Ok(answer)
    }

    /// Whether there was no answer because the server speaks TLS. Some close the connection, and others send an alert.
    fn wants_tls(&self, failure: &Failure) -> bool {
        let is_unreadable =
            matches!(failure, Failure::Parse(ParseError::Malformed(_)) | Failure::Http2(_) | Failure::Http2Closed);
        let is_no_answer = is_closed_unread(failure) || is_unreadable;
        self.endpoint.security.is_none() && is_no_answer && speaks_tls(self.endpoint.address, self.timeout)
    }

    /// Sends bytes over a connection of their own.
    pub(super) fn send_bytes_alone(&self, bytes: &[u8]) -> Result<Stream, Failure> {
        let mut stream = self.connect()?;
        send(&mut stream, bytes).1.map_err(Failure::Write)?;
        Ok(stream)
    }

    fn connect(&self) -> Result<Stream, Failure> {
        let Endpoint { address, security, .. } = &self.endpoint;
        Stream::open(*address, security.as_ref(), self.timeout).map_err(Failure::Connect)
    }

    /// Reads until `reader` has enough. Returns whether the connection stays open; `None` before the answer's end.
    fn read(&self, stream: &mut Stream, method: &Method, reader: &mut impl Sink) -> Result<Option<bool>, Failure> {
        let mut parser = ResponseParser::new();
        parser.expect_response(*method == Method::HEAD);
        let mut buffer = vec![0; 64 * 1024];
        let deadline = Deadline::after(self.timeout);
        while !reader.has_enough() {
            // The socket's own timeout restarts with each byte.
            deadline.check()?;
            let got = match stream.read(&mut buffer) {
                // This process was stopped and continued, or it is to end.
                Err(error) if error.kind() == io::ErrorKind::Interrupted && !self.endpoint.is_cancelled() => continue,
                read => read.map_err(|error| self.read_failure(error))?,
            };
            if got == 0 {
                parser.finish_stream()?;
                return Ok(Some(false));
            }
            let progress = parser.feed(&buffer[..got], reader);
            if progress.is_err() && http::begins_http2(&buffer[..got]) {
                return Err(Failure::SpeaksHttp2);
            }
            if let Progress::Complete { consumed, keeps_alive } = progress? {
                return if consumed == got { Ok(Some(keeps_alive)) } else { Err(Failure::Excess(got - consumed)) };
            }
        }
        Ok(None)
    }

    fn read_failure(&self, error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Failure::Timeout(self.timeout),
            _ => Failure::Read(error),
        }
    }
}

/// Writes all bytes. Returns how many were written before a failure.
fn send(stream: &mut Stream, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut sent = 0;
    while sent < bytes.len() {
        match stream.write(&bytes[sent..]) {
            Ok(0) => return (sent, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (sent, Err(error)),
        }
    }
    (sent, stream.flush())
}

/// Whether the server closed the connection before it sent anything: it may not have read the request.
fn is_closed_unread(failure: &Failure) -> bool {
    match failure {
        Failure::Parse(ParseError::NoAnswer) => true,
        Failure::Read(error) => error.kind() == io::ErrorKind::ConnectionReset,
        _ => false,
    }
}
