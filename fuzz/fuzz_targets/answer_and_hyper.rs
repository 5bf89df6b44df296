//! Where hyper's client and tare both read an answer, they read the same status and the same body.
#![no_main]

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use hyper::body::Body;
use hyper::client::conn::http1;
use hyper::rt::{Read, ReadBufCursor, Write};
use tare_wire::http::{Head, Progress, ResponseParser, Sink};

/// A status and a body.
type Answer = (u16, Vec<u8>);

/// A polled future that waits for nothing but these bytes is stuck after so many turns.
const MOST_TURNS: usize = 10_000;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (Some(ours), Some(theirs)) = (read_by_tare(bytes), read_by_hyper(bytes)) else { return };
    assert_eq!(ours, theirs);
});

#[derive(Default)]
struct WholeAnswer {
    status: u16,
    body: Vec<u8>,
}

impl Sink for WholeAnswer {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

fn read_by_tare(bytes: &[u8]) -> Option<Answer> {
    let mut parser = ResponseParser::new();
    parser.expect_response(false);
    let mut read = WholeAnswer::default();
    match parser.feed(bytes, &mut read).ok()? {
        Progress::Complete { .. } => {}
        Progress::NeedsMore => parser.finish_stream().ok()?,
    }
    // After 101 hyper hands over the connection.
    (read.status != 101).then_some((read.status, read.body))
}

/// The bytes once a request was written, then the end of the stream.
struct Stream<'a> {
    rest: &'a [u8],
    is_asked: bool,
}

impl Read for Stream<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, mut room: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        if !self.is_asked {
            return Poll::Pending;
        }
        let (now, rest) = self.rest.split_at(self.rest.len().min(room.remaining()));
        room.put_slice(now);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

impl Write for Stream<'_> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.is_asked = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn read_by_hyper(bytes: &[u8]) -> Option<Answer> {
    let mut idle = Context::from_waker(Waker::noop());
    let stream = Stream { rest: bytes, is_asked: false };
    let Poll::Ready(Ok((mut sender, connection))) = pin!(http1::handshake(stream)).poll(&mut idle) else { return None };
    let request = hyper::Request::get("/").header("host", "a").body(String::new()).ok()?;
    let mut connection = pin!(connection);
    let mut asked = pin!(sender.send_request(request));
    let mut body = None;
    let mut answer = (0, Vec::new());
    for _ in 0..MOST_TURNS {
        let is_over = connection.as_mut().poll(&mut idle).is_ready();
        if body.is_none() {
            match asked.as_mut().poll(&mut idle) {
                Poll::Ready(Ok(response)) => {
                    answer.0 = response.status().as_u16();
                    body = Some(response.into_body());
                }
                Poll::Ready(Err(_)) => return None,
                Poll::Pending if is_over => return None,
                Poll::Pending => {}
            }
        }
        let Some(body) = &mut body else { continue };
        while let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(&mut idle) {
            match frame {
                Some(Ok(frame)) => answer.1.extend_from_slice(frame.data_ref().map_or(&[], |data| data)),
                Some(Err(_)) => return None,
                None => return Some(answer),
            }
        }
    }
    None
}
