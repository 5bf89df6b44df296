//! HTTP/2 without TLS on one connection: the `h2` crate driven step by step, in memory.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Connection, SendResponse, handshake};
use http::{HeaderMap, HeaderValue, Response};
use tare_sys::clock::Nanos;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};

use crate::contract::Answer;
use crate::request::Request;

/// How a connection begins that speaks HTTP/2 without an upgrade.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const GRPC: &str = "application/grpc";
/// An empty message of gRPC: not compressed, no bytes.
const EMPTY_MESSAGE: &[u8] = &[0; 5];
/// Written bytes are taken in pieces of this size.
const PIECE_BYTES: usize = 4096;

/// One connection. Its requests are answered in any order.
pub(crate) struct Http2 {
    /// The client's end of the connection: it takes any number of bytes at once.
    client: DuplexStream,
    connection: Connection<DuplexStream, Bytes>,
    /// Requests whose body is not complete.
    arriving: Vec<Stream>,
    /// Whole requests that are to be answered.
    pub(crate) arrived: Vec<Stream>,
    /// Requests whose answer is not sent yet: which of the server's, and when each had arrived.
    answered: Answered,
    /// When bytes last arrived.
    received: Nanos,
}

/// Which of the server's requests were answered, and when each had arrived.
pub(crate) type Answered = Vec<(u64, Nanos)>;

/// A request and its stream.
pub(crate) struct Stream {
    pub(crate) request: Request,
    /// Which of the server's requests it is, once it is whole.
    pub(crate) nth: u64,
    body: RecvStream,
    respond: SendResponse<Bytes>,
    is_call: bool,
    received: Nanos,
}

impl Http2 {
    /// A connection whose client has sent the preface.
    pub(crate) fn begin() -> Option<Self> {
        let (mut client, server) = duplex(usize::MAX);
        let mut context = Context::from_waker(Waker::noop());
        let written = Pin::new(&mut client).poll_write(&mut context, PREFACE);
        let begun = pin!(handshake(server)).poll(&mut context);
        let (Poll::Ready(Ok(_)), Poll::Ready(Ok(connection))) = (written, begun) else { return None };
        let (arriving, arrived, answered) = (Vec::new(), Vec::new(), Vec::new());
        Some(Self { client, connection, arriving, arrived, answered, received: Nanos::ZERO })
    }

    /// Takes bytes that arrived at this time. Fails when the connection cannot be used any more.
    pub(crate) fn receive(&mut self, at: Nanos, bytes: &[u8]) -> Result<(), ()> {
        self.received = at;
        match Pin::new(&mut self.client).poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
            Poll::Ready(Ok(_)) => self.advance(),
            Poll::Ready(Err(_)) | Poll::Pending => Err(()),
        }
    }

    /// Answers the request of a stream; `None` if the client has given it up.
    pub(crate) fn answer(&mut self, stream: Stream, status: u16, body: Bytes) -> Option<()> {
        let Stream { mut respond, is_call, nth, received, .. } = stream;
        // The status of a call is in its trailers.
        let (status, content_type) = if is_call { (200, GRPC) } else { (status, Answer::TYPE) };
        let head = Response::builder().status(status).header("content-type", content_type);
        // A client that has reset the stream wants no answer.
        let sent = match is_call {
            true => respond.send_response(head.body(()).ok()?, false).and_then(|mut sending| {
                sending.send_data(EMPTY_MESSAGE.into(), false)?;
                let status = HeaderValue::from_static("0");
                sending.send_trailers(HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), status)]))
            }),
            false => {
                let head = head.header("content-length", body.len()).body(()).ok()?;
                respond.send_response(head, false).and_then(|mut sending| sending.send_data(body, true))
            }
        };
        sent.ok().map(|()| self.answered.push((nth, received)))
    }

    /// The bytes to send, and what they answer: which of the server's requests, and when each had arrived.
    pub(crate) fn drain_written(&mut self) -> Result<(Vec<u8>, Answered), ()> {
        self.advance()?;
        let mut written = Vec::new();
        let mut room = [0; PIECE_BYTES];
        loop {
            let mut piece = ReadBuf::new(&mut room);
            let read = Pin::new(&mut self.client).poll_read(&mut Context::from_waker(Waker::noop()), &mut piece);
            if read.is_pending() || piece.filled().is_empty() {
                break;
            }
            written.extend_from_slice(piece.filled());
        }
        Ok((written, std::mem::take(&mut self.answered)))
    }

    /// Lets the protocol do what it can without waiting.
    fn advance(&mut self) -> Result<(), ()> {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match self.connection.poll_accept(&mut context) {
                Poll::Ready(Some(Ok((head, respond)))) => self.accept(head, respond),
                Poll::Ready(_) => return Err(()),
                // What is read of bodies opens windows, which the connection must still say.
                Poll::Pending if self.read_bodies(&mut context) => {}
                Poll::Pending => return Ok(()),
            }
        }
    }

    fn accept(&mut self, head: http::Request<RecvStream>, respond: SendResponse<Bytes>) {
        let (parts, body) = head.into_parts();
        let is_call = parts.headers.get("content-type").is_some_and(|value| value.as_bytes() == GRPC.as_bytes());
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let request = Request { method: parts.method.as_str().to_owned(), path, ..Request::default() };
        self.arriving.push(Stream { request, nth: 0, body, respond, is_call, received: self.received });
    }

    /// Reads what has come of the bodies; whether anything has.
    fn read_bodies(&mut self, context: &mut Context<'_>) -> bool {
        let mut has_read = false;
        for mut stream in std::mem::take(&mut self.arriving) {
            loop {
                match stream.body.poll_data(context) {
                    Poll::Ready(Some(Ok(part))) => {
                        has_read = true;
                        stream.request.body_bytes += part.len() as u64;
                        // It fails only for more than was received.
                        let _ = stream.body.flow_control().release_capacity(part.len());
                    }
                    Poll::Ready(None) => {
                        self.arrived.push(stream);
                        break;
                    }
                    // The client has reset the stream.
                    Poll::Ready(Some(Err(_))) => break,
                    Poll::Pending => {
                        self.arriving.push(stream);
                        break;
                    }
                }
            }
        }
        has_read
    }
}
