//! The server's loop: accepts, answers according to the contract, and plants the delays of its options.

mod breaking;
mod events;
mod push;
mod streams;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{Event, Handler, Poller, Sending, Token, Transport};
use tare_sys::readiness::{ReadinessPoller, ReadinessTransport};
use tare_sys::{limits, signal, socket};

use crate::connection::Connection;
use crate::contract::Answer;
use crate::http2::{Http2, PREFACE};
use crate::ledger::Served;
use crate::options::Options;
use crate::planted_costs::PlantedCosts;
use crate::request::{Persistence, Request};
use crate::timers::{Action, Later, Timers};
use crate::websocket::WebSocket;

const LISTENER: Token = Token(0);
/// The longest sleep, so that a stop is noticed.
const MAX_SLEEP: Duration = Duration::from_millis(20);
const FLOOD_BYTES: usize = 64 * 1024;
/// The path of the CPU totals, outside the contract and without planted costs.
const CPU_TOTALS_PATH: &str = "/cpu-totals";
const EVENTS_PATH: &str = "/events";

/// Why the reference server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    #[error("cannot listen on {address}: {source}; choose another port, or 0 for any")]
    Listen { address: SocketAddr, source: io::Error },
    /// The poller could not be opened or refused to wait.
    #[error("cannot wait for socket events: {0}; raise `ulimit -n` if it says that too many files are open")]
    Poll(#[source] io::Error),
    /// SIGTERM could not be ignored, or the thread could not be started.
    #[error("cannot set up the reference server: {0}")]
    SetUp(#[source] io::Error),
}

/// Serves until `stop` is set, or until the process gets a signal to end. `announce` gets the address for the ready
/// line, `tare: ready on ADDRESS`; the options may suppress or change it. Returns the list of answers, if it is kept.
pub fn serve_until_stopped(
    options: &Options,
    stop: &AtomicBool,
    announce: impl FnOnce(SocketAddr),
) -> Result<Vec<Served>, ReferenceError> {
    if options.ignore_sigterm {
        signal::ignore_sigterm().map_err(ReferenceError::SetUp)?;
    }
    // A connection beyond the limit would wait in the kernel until others have ended and another one arrives.
    limits::raise_open_files(u64::MAX);
    let asked = SocketAddr::from((options.address, options.port));
    let refused = |source| ReferenceError::Listen { address: asked, source };
    let listener = socket::open_listener(&asked).map_err(refused)?;
    let mut address = socket::local_address(listener.as_fd()).map_err(refused)?;
    let mut poller = ReadinessPoller::new().map_err(ReferenceError::Poll)?;
    poller.transport().watch_listener(LISTENER, listener).map_err(ReferenceError::Poll)?;
    // If the kernel refuses, delays are up to 50 µs longer than planted.
    let _ = clock::sharpen_timers();
    make_noise(options.stderr_noise);
    if options.lie_ready {
        // Port 1 is never assigned automatically, so no other program listens on it.
        address.set_port(1);
    }
    if !options.never_ready {
        announce(address);
    }
    let mut server = Server::new(options);
    while !stop.load(Ordering::Relaxed) {
        let now = clock::now();
        server.costs.stall_if_due(now);
        server.do_due(poller.transport(), now);
        let deadline = server.next_deadline(now);
        poller.wait(Some(deadline), &mut server).map_err(ReferenceError::Poll)?;
    }
    server.served.sort_unstable_by_key(|one| one.nth);
    Ok(server.served)
}

fn make_noise(lines: u64) {
    let mut stderr = std::io::stderr().lock();
    for line in 0..lines {
        // The server also runs if no program reads its output.
        let _ = writeln!(stderr, "tare reference: noise, line {line}");
    }
}

struct Server<'a> {
    options: &'a Options,
    costs: PlantedCosts,
    timers: Timers,
    push_period: Duration,
    /// The time of the clock that stamps messages at the origin of the monotonic clock.
    stamp_epoch_ns: u64,
    /// The list of answers, if it is kept.
    served: Vec<Served>,
    connections: Vec<Option<Connection>>,
    free: Vec<Token>,
    serial: u64,
    /// Requests answered and messages pushed.
    requests: u64,
    flood: Arc<[u8]>,
    /// The last whole request that arrived in one piece, and its answer. The same bytes need not be parsed again, so
    /// the server stays cheaper than any generator that is measured with it.
    memo: Option<(Vec<u8>, Arc<[u8]>)>,
}

impl<'a> Server<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            costs: PlantedCosts::new(options, clock::now()),
            timers: Timers::default(),
            push_period: Duration::from_millis(options.push_period_ms.max(1)),
            stamp_epoch_ns: clock::wall_clock_epoch().unix_ns.saturating_add_signed(options.clock_ahead_ns),
            served: Vec::new(),
            // No connection uses the listener's slot.
            connections: vec![None],
            free: Vec::new(),
            serial: 0,
            requests: 0,
            flood: vec![b'x'; FLOOD_BYTES].into(),
            memo: None,
        }
    }

    fn next_deadline(&self, now: Nanos) -> Nanos {
        let soonest = [self.timers.next(), self.costs.next_stall()].into_iter().flatten().min();
        soonest.map_or(now + MAX_SLEEP, |soonest| soonest.min(now + MAX_SLEEP))
    }

    fn connection(&mut self, token: Token) -> Option<&mut Connection> {
        self.connections.get_mut(token.index())?.as_mut()
    }

    fn accept(&mut self, io: &mut ReadinessTransport, socket: std::os::fd::OwnedFd) {
        let token = self.free.pop().unwrap_or(Token(self.connections.len() as u32));
        if token.index() == self.connections.len() {
            self.connections.push(None);
        }
        if io.adopt_socket(token, socket).is_err() {
            return self.free.push(token);
        }
        self.serial += 1;
        self.connections[token.index()] = Some(Connection::new(self.serial));
    }

    fn drop_connection(&mut self, io: &mut ReadinessTransport, token: Token) {
        io.close(token);
        if self.connections[token.index()].take().is_some() {
            self.free.push(token);
        }
    }

    fn receive(&mut self, io: &mut ReadinessTransport, token: Token, at: Nanos, mut bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(token.index()).and_then(Option::as_mut) else { return };
        let is_whole = connection.is_between_requests();
        connection.received = at;
        if connection.websocket.is_some() {
            return self.receive_frames(io, token, bytes);
        }
        if connection.http2.is_none()
            && is_whole
            && let Some(rest) = bytes.strip_prefix(PREFACE)
        {
            connection.http2 = Http2::begin().map(Box::new);
            bytes = rest;
        }
        if connection.http2.is_some() {
            return self.receive_http2(io, token, at, bytes);
        }
        if is_whole
            && let Some(answer) = self.memo.as_ref().filter(|(request, _)| request == bytes).map(|(_, answer)| answer)
        {
            let answer = Arc::clone(answer);
            connection.nth = self.requests;
            self.requests += 1;
            return self.send_after(io, token, answer);
        }
        if connection.receive(bytes).is_err() {
            return self.drop_connection(io, token);
        }
        self.serve_connection(io, token, is_whole.then_some(bytes));
    }

    fn send_after(&mut self, io: &mut ReadinessTransport, token: Token, answer: Arc<[u8]>) {
        let delay = self.costs.burn_for_request();
        if delay.is_zero() {
            self.send(io, token, &answer, true);
        } else {
            self.send_later(token, answer, clock::now() + delay, true);
        }
    }

    /// Answers every complete request. `whole` are the received bytes, if no earlier ones were waiting.
    fn serve_connection(&mut self, io: &mut ReadinessTransport, token: Token, mut whole: Option<&[u8]>) {
        while let Some(connection) = self.connection(token) {
            match connection.next() {
                Ok(None) => return,
                Err(()) => return self.drop_connection(io, token),
                Ok(Some(request)) => {
                    // Only bytes that were exactly this request may be remembered for it.
                    let alone = whole
                        .take()
                        .filter(|_| connection.is_between_requests() && request.persistence != Persistence::Closes);
                    self.answer(io, token, &request, alone);
                }
            }
        }
    }

    fn answer(&mut self, io: &mut ReadinessTransport, token: Token, request: &Request, whole: Option<&[u8]>) {
        let mut answer = Answer::to(&request.method, &request.path, request.body_bytes, self.options);
        let nth = self.requests;
        self.requests += 1;
        if let Some(connection) = self.connection(token) {
            connection.nth = nth;
            connection.closes_when_sent |= request.persistence == Persistence::Closes;
            answer.persistence = request.persistence;
        }
        if let Some(fault) = self.options.fault.filter(|_| nth >= self.options.fault_after) {
            return self.fail(io, token, fault, &answer);
        }
        if let Some((websocket, opening)) = WebSocket::open(request) {
            return self.open_websocket(io, token, websocket, opening);
        }
        if request.path == EVENTS_PATH {
            return self.send_events(token);
        }
        if request.path == CPU_TOTALS_PATH {
            (answer.status, answer.body) = (200, self.costs.cpu_account());
            return self.send(io, token, &answer.encode().into(), true);
        }
        if let Some(whole) = whole.filter(|_| self.options.fault.is_none()) {
            self.memo = Some((whole.to_vec(), answer.encode().into()));
        }
        self.send_after(io, token, answer.encode().into());
    }

    fn open_websocket(&mut self, io: &mut ReadinessTransport, token: Token, websocket: WebSocket, opening: Vec<u8>) {
        let pushes = websocket.stamp_unit_ns.is_some();
        if let Some(connection) = self.connection(token) {
            connection.websocket = Some(Box::new(websocket));
            io.send(token, &opening.into());
            if pushes {
                self.start_pushing(token);
            }
        }
    }

    fn send(&mut self, io: &mut ReadinessTransport, token: Token, bytes: &Arc<[u8]>, is_last: bool) {
        if is_last {
            self.note_answer(token);
        }
        let sending = io.send(token, &Arc::clone(bytes));
        let Some(connection) = self.connection(token) else { return };
        if is_last {
            connection.is_answering = false;
            if connection.closes_when_sent && sending == Sending::Accepted {
                self.drop_connection(io, token);
            }
        }
    }

    fn send_later(&mut self, token: Token, bytes: Arc<[u8]>, at: Nanos, is_last: bool) {
        let Some(connection) = self.connection(token) else { return };
        connection.is_answering = true;
        self.plan(token, at, Action::Send { bytes, is_last });
    }

    fn note_answer(&mut self, token: Token) {
        if let Some(&mut Connection { nth, received, .. }) = self.connection(token) {
            self.note_served(nth, received);
        }
    }

    /// Adds an answer to the list, if that is kept; otherwise it costs nothing.
    fn note_served(&mut self, nth: u64, received: Nanos) {
        if self.options.keeps_ledger {
            self.served.push(Served { nth, received, answered: clock::now() });
        }
    }

    fn plan(&mut self, token: Token, at: Nanos, action: Action) {
        let Some(serial) = self.connection(token).map(|connection| connection.serial) else { return };
        self.timers.add(at, Later { token, serial, action });
    }

    fn do_due(&mut self, io: &mut ReadinessTransport, now: Nanos) {
        while let Some((at, Later { token, serial, action })) = self.timers.pop_due(now) {
            let connection = self.connection(token).filter(|connection| connection.serial == serial);
            let Some(connection) = connection else { continue };
            match action {
                Action::Push { stamp } => self.push(io, token, stamp, at),
                Action::Answer { stream, status, body } => {
                    self.answer_stream(token, *stream, status, body);
                    self.send_written(io, token);
                }
                Action::Send { .. } if connection.is_flooding => self.continue_flood(io, token),
                Action::Event { bytes, is_last: false } => {
                    self.note_answer(token);
                    self.send(io, token, &bytes, false);
                }
                Action::Send { bytes, is_last } | Action::Event { bytes, is_last } => {
                    self.send(io, token, &bytes, is_last);
                    if is_last {
                        self.serve_connection(io, token, None);
                    }
                }
            }
        }
    }

    fn on_sent(&mut self, io: &mut ReadinessTransport, token: Token) {
        let Some(connection) = self.connection(token) else { return };
        if connection.is_flooding {
            self.continue_flood(io, token);
        } else if connection.closes_when_sent && !connection.is_answering {
            self.drop_connection(io, token);
        }
    }
}

impl Handler<ReadinessTransport> for Server<'_> {
    fn on_event(&mut self, io: &mut ReadinessTransport, token: Token, event: Event<'_>) {
        match event {
            Event::Accepted { socket } => self.accept(io, socket),
            Event::Received { at, bytes } => self.receive(io, token, at, bytes),
            Event::Sent { .. } => self.on_sent(io, token),
            Event::Closed { .. } => self.drop_connection(io, token),
            _ => {}
        }
    }
}
