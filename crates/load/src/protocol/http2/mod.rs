//! HTTP/2 on one connection: the `h2` crate driven step by step, in memory, with a stream for each exchange.

mod message;
mod pipe;
mod stream;
#[cfg(test)]
mod tests;
mod wake;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::SendStream;
use h2::client::{Builder, ResponseFuture, SendRequest};
use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::{CloseCause, Token, Transport};
use tare_wire::http::status_line;

use self::message::{TranslatedRequests, problem};
use self::pipe::Pipe;
use self::stream::Stream;
use self::wake::WokenStreams;
use super::connection::{Begun, Ended, Exchange, Returned, Step};
use crate::input::request::{Parts, RequestSet};
use crate::problem::{Problem, escape};

/// Flow-control window for answers in bytes: so large that the server never waits for us.
const WINDOW_BYTES: u32 = 1 << 30;
/// Bytes of a request's body that are given to the crate at a time.
const SEND_BUFFER_BYTES: usize = 1 << 20;

/// A request that came back unprocessed this often is not sent again, because its server accepts none. A request may
/// come back several times when many connections are near their end together.
const MOST_RETURNS: u8 = 16;

/// The state of one connection that speaks HTTP/2.
#[derive(Debug)]
pub(crate) struct Http2 {
    /// Scheme and authority of all requests.
    base: Arc<str>,
    link: Option<Link>,
    streams: Vec<Option<Stream>>,
    wakers: Vec<Waker>,
    vacant: Vec<usize>,
    under_way: usize,
    woken: Arc<WokenStreams>,
    /// Streams that were woken and whose answers were not read yet.
    ready: Vec<usize>,
    /// What the exchanges that have ended mean, in the order of their ends.
    ended: VecDeque<Step>,
    /// The problem of the connection, reported after the exchanges that have ended.
    broken_by: Option<Problem>,
    translated: TranslatedRequests,
    awaits_flush: bool,
    is_retired: bool,
    is_broken: bool,
    /// Whether the end of the connection has failed any stream.
    has_failed_streams: bool,
}

/// A request that was sent, and the body that follows it.
type Asked = (ResponseFuture, SendStream<Bytes>, Bytes);

/// The crate's state of one open connection.
#[derive(Debug)]
struct Link {
    pipe: Pipe,
    machine: h2::client::Connection<Pipe, Bytes>,
    sender: SendRequest<Bytes>,
    /// Whether the server has ever accepted streams. It may take that back later.
    has_settings: bool,
}

impl Http2 {
    pub(crate) fn new(base: Arc<str>) -> Self {
        Self {
            base,
            link: None,
            streams: Vec::new(),
            wakers: Vec::new(),
            vacant: Vec::new(),
            under_way: 0,
            woken: Arc::default(),
            ready: Vec::new(),
            ended: VecDeque::new(),
            broken_by: None,
            translated: TranslatedRequests::default(),
            awaits_flush: false,
            is_retired: false,
            is_broken: false,
            has_failed_streams: false,
        }
    }

    /// Resets the state for a new connection, and prepares its preface.
    pub(crate) fn open(&mut self) {
        self.streams.clear();
        self.vacant.clear();
        self.wakers.clear();
        self.ready.clear();
        self.ended.clear();
        self.broken_by = None;
        self.woken = Arc::default();
        self.under_way = 0;
        self.link = Link::open();
        self.is_retired = self.link.is_none();
        self.is_broken = false;
        self.has_failed_streams = false;
        self.awaits_flush = false;
    }

    pub(crate) const fn under_way(&self) -> usize {
        self.under_way
    }

    pub(crate) const fn is_retired(&self) -> bool {
        self.is_retired
    }

    pub(crate) const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether a flush must be requested. After each event there may be bytes to send.
    pub(crate) const fn wants_flush(&mut self) -> bool {
        !std::mem::replace(&mut self.awaits_flush, true)
    }

    pub(crate) fn begin(&mut self, exchange: Exchange, parts: &Arc<Parts>) -> Begun {
        let stream = match self.send_request(exchange.request, parts) {
            Ok((answer, sending, body)) => Stream::new(exchange, Arc::clone(parts), answer, sending, body),
            Err(problem) => Stream::failed(exchange, Arc::clone(parts), problem),
        };
        let slot = self.free_slot();
        self.streams[slot] = Some(stream);
        self.under_way += 1;
        // Starts its flow control for the body.
        self.woken.push(slot);
        if self.wants_flush() { Begun::ToBeFlushed } else { Begun::Gathered }
    }

    fn send_request(&mut self, request: usize, parts: &Arc<Parts>) -> Result<Asked, Problem> {
        let unsent = |text: String| Problem::new(ErrorClass::Write, text);
        let request = self.translated.get(&self.base, request, parts);
        let request = request.map_err(|error| unsent(format!("HTTP/2 cannot carry the request: {error}")))?;
        let link = self.link.as_mut().ok_or_else(|| unsent("no connection".to_owned()))?;
        let body = if parts.body.is_empty() { Bytes::new() } else { Bytes::from_owner(Arc::clone(&parts.body)) };
        // A handle of its own, because each handle queues one request that exceeds the server's limit of streams.
        let begun = link.sender.clone().send_request(request, body.is_empty());
        let (answer, sending) = begun.map_err(|error| problem(&error))?;
        Ok((answer, sending, body))
    }

    fn free_slot(&mut self) -> usize {
        self.vacant.pop().unwrap_or_else(|| {
            self.streams.push(None);
            self.wakers.push(self.woken.waker(self.streams.len() - 1));
            self.streams.len() - 1
        })
    }

    /// Sends the crate's bytes, and returns their number.
    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        self.awaits_flush = false;
        // The received bytes have already shown how the connection ends. None arrived since.
        let _ = self.drive();
        self.send_written(io, token)
    }

    /// Sends the bytes that the crate has written, such as a GOAWAY, and returns their number.
    pub(crate) fn send_written(&self, io: &mut impl Transport, token: Token) -> usize {
        let Some(link) = &self.link else { return 0 };
        link.pipe.drain_written(|bytes| {
            if !bytes.is_empty() {
                io.send_bytes(token, bytes);
            }
            bytes.len()
        })
    }

    /// Reads all bytes at once, and then returns the exchanges that they have finished, one per call.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        if !bytes.is_empty() {
            self.broken_by = self.read(std::mem::take(bytes), requests);
        }
        if let Some(step) = self.ended.pop_front() {
            self.under_way -= 1;
            return step;
        }
        self.broken_by.take().map_or(Step::More, Step::Broken)
    }

    /// Reads bytes, and the answers that they complete. Returns what is wrong with the connection.
    fn read(&mut self, bytes: &[u8], requests: &RequestSet) -> Option<Problem> {
        // After a GOAWAY of the server no request may begin.
        let had_goaway = self.is_retired;
        self.link.as_ref()?.pipe.push_received(bytes);
        let end = self.drive();
        if let (Some(Err(error)), false) = (&end, self.has_settings()) {
            let text = match status_line(bytes) {
                Some(line) => format!("the server answers in HTTP/1.1 (\"{}\"), and not in HTTP/2", escape(line)),
                None => format!("{error}; does the server speak HTTP/2 here at all?"),
            };
            return Some(Problem::new(ErrorClass::Protocol, text));
        }
        self.read_answers(requests);
        // A failed connection fails its streams. If it has none, it is the connection's problem. An error that this side
        // finds after the server's GOAWAY and its last answer is no problem.
        let error = end?.err()?;
        let is_its_own = error.is_remote() || !had_goaway;
        (is_its_own && !self.has_failed_streams).then(|| problem(&error))
    }

    /// Whether the server's settings have arrived. No request leaves before.
    fn has_settings(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.has_settings)
    }

    /// Drives the crate and the uploads until neither makes progress. Returns how the connection ended, if it did.
    fn drive(&mut self) -> Option<Result<(), h2::Error>> {
        let link = self.link.as_mut()?;
        let mut idle = Context::from_waker(Waker::noop());
        loop {
            let end = match Pin::new(&mut link.machine).poll(&mut idle) {
                Poll::Pending => None,
                Poll::Ready(end) => Some(end),
            };
            let looked_at = self.ready.len();
            link.has_settings = link.has_settings || link.machine.max_concurrent_send_streams() > 0;
            self.woken.take(&mut self.ready);
            let mut has_sent = false;
            for &slot in &self.ready[looked_at..] {
                if let Some(stream) = &mut self.streams[slot] {
                    has_sent |= stream.upload(&mut Context::from_waker(&self.wakers[slot]));
                }
            }
            if end.is_some() || !has_sent {
                self.is_broken |= matches!(end, Some(Err(_)));
                self.is_retired |= end.is_some() || matches!(link.sender.poll_ready(&mut idle), Poll::Ready(Err(_)));
                return end;
            }
        }
    }

    fn read_answers(&mut self, requests: &RequestSet) {
        while let Some(slot) = self.ready.pop() {
            let Some(stream) = &mut self.streams[slot] else { continue };
            let mut context = Context::from_waker(&self.wakers[slot]);
            let Poll::Ready(broken) = stream.answer(&mut context, requests) else { continue };
            let Some(stream) = self.take_stream(slot) else { continue };
            let Stream { mut exchange, parts, is_unprocessed, is_lost, .. } = stream;
            let step = if is_unprocessed && exchange.returns < MOST_RETURNS {
                exchange.returns += 1;
                Step::Returned(Returned { exchange, parts, redirected: None })
            } else if broken.is_some() {
                self.has_failed_streams |= is_lost;
                Step::Finished { times: exchange.times(), problem: broken, kept: None }
            } else {
                exchange.sent = Some(parts);
                exchange.complete(requests, &self.base)
            };
            self.ended.push_back(step);
        }
    }

    /// Removes the stream of a slot. If it has not ended, the crate resets it when it is dropped.
    fn take_stream(&mut self, slot: usize) -> Option<Stream> {
        self.vacant.push(slot);
        self.streams[slot].take()
    }

    /// Handles the end of the connection, which completes no answer. The server may have sent a reason before.
    pub(crate) fn end(&mut self, cause: &CloseCause) -> Ended {
        if let Some(link) = &self.link {
            link.pipe.end_received();
        }
        let problem = match (cause, self.drive()) {
            (CloseCause::EndOfStream, Some(Err(said))) if !said.is_io() => problem(&said),
            (CloseCause::EndOfStream, _) => {
                Problem::new(ErrorClass::Read, "connection closed before the answer was complete")
            }
            (cause, _) => Problem::of_end(cause),
        };
        Ended { finished: None, problem }
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.streams.iter().flatten().map(|stream| stream.exchange.deadline).min()
    }

    /// Gives up one overdue stream; the others continue.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        self.take(|stream| stream.exchange.deadline <= now)
    }

    pub(crate) fn take_any(&mut self) -> Option<Exchange> {
        self.take(|_| true)
    }

    fn take(&mut self, which: impl Fn(&Stream) -> bool) -> Option<Exchange> {
        let slot = self.streams.iter().position(|stream| stream.as_ref().is_some_and(&which))?;
        self.under_way -= 1;
        self.take_stream(slot).map(|stream| stream.exchange)
    }
}

impl Link {
    /// The crate's state, with its preface and settings ready to be sent.
    fn open() -> Option<Self> {
        let pipe = Pipe::default();
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            // Before the server's settings arrive, its limit of streams is unknown, and it refuses streams above the
            // limit.
            .initial_max_send_streams(0)
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_send_buffer_size(SEND_BUFFER_BYTES);
        let handshake = pin!(builder.handshake::<_, Bytes>(pipe.clone()));
        // Memory accepts the preface at once.
        match handshake.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok((sender, machine))) => Some(Self { pipe, machine, sender, has_settings: false }),
            _ => None,
        }
    }
}
