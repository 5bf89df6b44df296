//! HTTP/2 for verifying: one request at a time, over a stream that blocks for short times only.

use std::future::Future;
use std::io::{self, Read, Write};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Connection, SendRequest, handshake};
use tare_plan::contract::Request;
use tare_sys::clock::{self, Nanos};
use tare_wire::http::{Field, Head, Sink, status_line};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::client::Failure;
use super::stream::Stream;

/// How long a read waits for a byte before the protocol goes on.
const TICK: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    at: Nanos,
    pub(super) timeout: Duration,
}

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Self {
        Self { at: clock::now() + timeout, timeout }
    }

    /// Fails once it is over.
    pub(super) fn check(self) -> Result<(), Failure> {
        if clock::now() < self.at { Ok(()) } else { Err(Failure::Timeout(self.timeout)) }
    }
}

#[derive(Debug)]
pub(super) struct Http2 {
    sender: SendRequest<Bytes>,
    connection: Connection<Blocking, Bytes>,
}

impl Http2 {
    /// Begins to speak HTTP/2, without an upgrade.
    pub(super) fn begin(stream: Stream, deadline: Deadline) -> Result<Self, Failure> {
        stream.set_read_timeout(TICK).map_err(Failure::Connect)?;
        let (sender, connection) =
            run(pin!(handshake(Blocking { stream, has_read: false })), None, deadline)?.map_err(Failure::Http2)?;
        Ok(Self { sender, connection })
    }

    /// Sends a request and passes its answer to `reader`, until that has enough. Returns the trailers.
    pub(super) fn ask(
        &mut self,
        request: http::Request<()>,
        body: Bytes,
        deadline: Deadline,
        reader: &mut impl Sink,
    ) -> Result<Vec<(String, String)>, Failure> {
        let Self { sender, connection } = self;
        let has_body = !body.is_empty();
        let sender = sender.clone();
        let exchange = async move {
            let mut sender = sender.ready().await?;
            let (response, mut sending) = sender.send_request(request, !has_body)?;
            if has_body {
                sending.send_data(body, true)?;
            }
            let (head, mut received) = response.await?.into_parts();
            let fields = head.headers.iter();
            let fields: Vec<_> =
                fields.map(|(name, value)| Field { name: name.as_str(), value: value.as_bytes() }).collect();
            reader.head(&Head::new(head.status.as_u16(), &fields));
            while !reader.has_enough()
                && let Some(part) = received.data().await
            {
                let part = part?;
                received.flow_control().release_capacity(part.len())?;
                reader.body(&part);
            }
            if reader.has_enough() {
                return Ok(Vec::new());
            }
            let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let trailers = received.trailers().await?.unwrap_or_default();
            Ok::<_, h2::Error>(trailers.iter().map(|(name, value)| (name.to_string(), text(value))).collect())
        };
        run(pin!(exchange), Some(connection), deadline)?.map_err(Failure::Http2)
    }
}

/// The request as HTTP/2 has it. `Host` becomes the authority.
pub(super) fn request_of(request: &Request, scheme: &str, host: &str) -> Result<http::Request<()>, http::Error> {
    let uri = format!("{scheme}://{host}{}", request.path);
    let start = http::Request::builder().method(request.method.as_str()).uri(uri).version(http::Version::HTTP_2);
    request.headers.iter().fold(start, |builder, (name, value)| builder.header(name, value)).body(())
}

/// Polls a future, and the connection that it waits for. Each poll of that blocks for a tick, so that nothing spins.
fn run<T>(
    mut future: Pin<&mut impl Future<Output = T>>,
    mut connection: Option<&mut Connection<Blocking, Bytes>>,
    deadline: Deadline,
) -> Result<T, Failure> {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        deadline.check()?;
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Ok(done);
        }
        let polled = connection.as_mut().map(|connection| Pin::new(&mut **connection).poll(&mut context));
        if let Some(Poll::Ready(end)) = polled {
            // What had arrived before may complete the answer.
            return match future.as_mut().poll(&mut context) {
                Poll::Ready(done) => Ok(done),
                Poll::Pending => Err(end.err().map_or(Failure::Http2Closed, Failure::Http2)),
            };
        }
    }
}

/// A stream whose reads end soon without a byte: not ready then.
#[derive(Debug)]
struct Blocking {
    stream: Stream,
    has_read: bool,
}

impl AsyncRead for Blocking {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut buffer = [0; 16 * 1024];
        let most = room.remaining().min(buffer.len());
        match self.stream.read(&mut buffer[..most]) {
            Ok(count) => {
                if let Some(line) = status_line(&buffer[..count]).filter(|_| !self.has_read) {
                    let text = format!("the server answers in HTTP/1.1 (\"{}\")", line.escape_ascii());
                    return Poll::Ready(Err(io::Error::other(text)));
                }
                self.has_read = true;
                room.put_slice(&buffer[..count]);
                Poll::Ready(Ok(()))
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => Poll::Pending,
                _ => Poll::Ready(Err(error)),
            },
        }
    }
}

impl AsyncWrite for Blocking {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.stream.write(bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.stream.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
