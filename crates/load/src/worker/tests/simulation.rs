//! A simulated world for tests of the loop: its clock moves only while the loop waits, and its server follows a script.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use crate::cancel::Cancel;
use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Payload, Poller, Sending, Token, Transport};
use tare_sys::procfs::backlog::Backlog;
use tare_sys::socket::{SocketOptions, Target};

pub(super) const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The time of the world; clones share it.
#[derive(Clone, Default)]
pub(super) struct WorldClock(Rc<Cell<u64>>);

impl WorldClock {
    pub(super) fn pass(&self, time: Duration) {
        self.0.set(self.0.get() + time.as_nanos() as u64);
    }
}

impl Clock for WorldClock {
    fn now(&self) -> Nanos {
        Nanos(self.0.get())
    }

    /// The world's workers use a tenth of the time.
    fn thread_cpu_ns(&self) -> u64 {
        self.0.get() / 10
    }
}

/// How the server treats a request: from its moment of arrival to the moment and the bytes of the response.
pub(super) type Script = Box<dyn FnMut(Nanos) -> Reaction>;

/// How a server of another protocol treats received bytes: what it sends, and when.
pub(super) type ByteScript = Box<dyn FnMut(Token, Nanos, &[u8]) -> Vec<(Nanos, Vec<u8>)>>;

pub(super) enum Reaction {
    Answer { at: Nanos, bytes: &'static [u8] },
    LastAnswer { at: Nanos },
    Never,
    Reset { at: Nanos },
}

/// Answers each request after this delay.
pub(super) fn after(delay: Duration) -> Script {
    Box::new(move |arrival| Reaction::Answer { at: arrival + delay, bytes: ANSWER })
}

/// Answers after `delay`, but not while frozen: what arrives or is due then waits until the freeze ends.
pub(super) fn frozen_between(from: Nanos, until: Nanos, delay: Duration) -> Script {
    Box::new(move |arrival| {
        let ready = arrival + delay;
        let at = if ready >= from && arrival < until { ready.max(until) } else { ready };
        Reaction::Answer { at, bytes: ANSWER }
    })
}

/// How the server treats a connect.
#[derive(Clone, Copy)]
pub(super) enum Listener {
    Refuses,
    /// All connects succeed after this time.
    RefusesAfter(usize),
    /// The kernel completes the connect at once, and the server accepts it this long after its arrival.
    AcceptsAfter(Duration),
    /// Connects never complete, as with a full backlog.
    Ignores,
}

impl Listener {
    fn accept(self, unaccepted: &mut VecDeque<Nanos>, now: Nanos) {
        if let Self::AcceptsAfter(delay) = self {
            unaccepted.retain(|came| *came + delay > now);
        }
    }
}

enum SimulatedEvent {
    Connected,
    Refused,
    Bytes(Cow<'static, [u8]>),
    Ending,
    Reset,
    /// The server ends a connection on which nothing has happened for a while, after its last words.
    IdleEnd,
    End,
}

pub(super) struct World {
    clock: WorldClock,
    /// Set at its time. The loop must notice it on its own wake-ups.
    interrupt: Option<(Nanos, Cancel)>,
    /// How late a sleep ends, and how long a poll takes.
    overslept: Duration,
    look: Duration,
    transport: WorldTransport,
}

pub(super) struct WorldTransport {
    clock: WorldClock,
    script: RefCell<Script>,
    byte_script: Option<ByteScript>,
    listener: Listener,
    /// After this time without a request the server says these words and ends the connection.
    idle_limit: Option<(Duration, &'static [u8])>,
    connects: Rc<Cell<usize>>,
    /// Arrival of each connect that the server has not accepted yet.
    unaccepted: Rc<RefCell<VecDeque<Nanos>>>,
    sent: Rc<Cell<u64>>,
    sends: Rc<Cell<u64>>,
    most_unaccepted: Rc<Cell<usize>>,
    /// By time, then in the order of their causes.
    ahead: BTreeMap<(Nanos, u64), (Token, SimulatedEvent)>,
    caused: u64,
}

impl World {
    pub(super) fn new(script: Script) -> Self {
        let clock = WorldClock::default();
        let transport = WorldTransport {
            clock: clock.clone(),
            script: RefCell::new(script),
            byte_script: None,
            listener: Listener::AcceptsAfter(Duration::ZERO),
            idle_limit: None,
            connects: Rc::default(),
            unaccepted: Rc::default(),
            sent: Rc::default(),
            sends: Rc::default(),
            most_unaccepted: Rc::default(),
            ahead: BTreeMap::new(),
            caused: 0,
        };
        Self { clock, transport, interrupt: None, overslept: Duration::ZERO, look: Duration::ZERO }
    }

    /// A world whose server speaks another protocol.
    pub(super) fn with_byte_script(byte_script: ByteScript) -> Self {
        let mut world = Self::new(Box::new(|_| Reaction::Never));
        world.transport.byte_script = Some(byte_script);
        world
    }

    /// The same world, in which the slice is cancelled at this moment.
    pub(super) fn cancelling(mut self, at: Nanos, cancel: &Cancel) -> Self {
        self.interrupt = Some((at, cancel.clone()));
        self
    }

    /// The same world, in which sleeps end this much too late and polls take a little time.
    pub(super) fn drowsy(mut self, overslept: Duration) -> Self {
        (self.overslept, self.look) = (overslept, Duration::from_micros(1));
        self
    }

    /// The same world with another listener.
    pub(super) fn listening(mut self, listener: Listener) -> Self {
        self.transport.listener = listener;
        self
    }

    /// The same world, whose server ends connections that are idle for this long, with these last words.
    pub(super) fn ending_idle(mut self, after: Duration, last_words: &'static [u8]) -> Self {
        self.transport.idle_limit = Some((after, last_words));
        self
    }

    pub(super) fn clock(&self) -> WorldClock {
        self.clock.clone()
    }

    /// How many connections wait to be accepted, as the kernel would say it.
    pub(super) fn backlog(&self) -> Backlog {
        let (clock, listener) = (self.clock(), self.transport.listener);
        let unaccepted = Rc::clone(&self.transport.unaccepted);
        Box::new(move || {
            listener.accept(&mut unaccepted.borrow_mut(), clock.now());
            Some(unaccepted.borrow().len() as u64)
        })
    }

    /// The most connections that have ever waited for the server to accept them.
    pub(super) fn most_unaccepted(&self) -> Rc<Cell<usize>> {
        Rc::clone(&self.transport.most_unaccepted)
    }

    /// Counts sends. One send may carry several requests.
    pub(super) fn sends(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.transport.sends)
    }

    /// Counts attempts to connect.
    pub(super) fn connects(&self) -> Rc<Cell<usize>> {
        Rc::clone(&self.transport.connects)
    }

    /// Counts the bytes sent to the server.
    pub(super) fn requests_sent(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.transport.sent)
    }
}

impl WorldTransport {
    fn cause(&mut self, at: Nanos, token: Token, happening: SimulatedEvent) {
        self.caused += 1;
        let begins_idling = matches!(happening, SimulatedEvent::Connected | SimulatedEvent::Bytes(_));
        self.ahead.insert((at, self.caused), (token, happening));
        if let Some((limit, _)) = self.idle_limit.filter(|_| begins_idling) {
            self.end_idling(token);
            self.caused += 1;
            self.ahead.insert((at + limit, self.caused), (token, SimulatedEvent::IdleEnd));
        }
    }

    /// The server no longer counts how long a connection is idle.
    fn end_idling(&mut self, token: Token) {
        self.ahead.retain(|_, (other, event)| *other != token || !matches!(event, SimulatedEvent::IdleEnd));
    }
}

impl Transport for WorldTransport {
    fn connect(&mut self, token: Token, _: &Target, _: &SocketOptions) {
        let now = self.clock.now();
        let mut unaccepted = self.unaccepted.borrow_mut();
        self.listener.accept(&mut unaccepted, now);
        unaccepted.push_back(now);
        self.most_unaccepted.set(self.most_unaccepted.get().max(unaccepted.len()));
        drop(unaccepted);
        self.connects.set(self.connects.get() + 1);
        let happening = match self.listener {
            Listener::Refuses => SimulatedEvent::Refused,
            Listener::RefusesAfter(taken) if self.connects.get() > taken => SimulatedEvent::Refused,
            Listener::RefusesAfter(_) | Listener::AcceptsAfter(_) => SimulatedEvent::Connected,
            Listener::Ignores => return,
        };
        self.cause(now + Duration::from_micros(10), token, happening);
    }

    /// The server reacts to each request, also to several in one send.
    fn send(&mut self, token: Token, payload: &Payload) -> Sending {
        self.end_idling(token);
        if let Some(byte_script) = &mut self.byte_script {
            for (at, bytes) in byte_script(token, self.clock.now(), payload) {
                self.cause(at, token, SimulatedEvent::Bytes(bytes.into()));
            }
            return Sending::Accepted;
        }
        let requests = payload.windows(4).filter(|bytes| bytes == b"\r\n\r\n").count();
        self.sends.set(self.sends.get() + 1);
        self.sent.set(self.sent.get() + requests as u64);
        for _ in 0..requests {
            let reaction = (self.script.borrow_mut())(self.clock.now());
            match reaction {
                Reaction::Answer { at, bytes } => self.cause(at, token, SimulatedEvent::Bytes(bytes.into())),
                Reaction::LastAnswer { at } => {
                    self.cause(at, token, SimulatedEvent::Ending);
                    self.cause(at, token, SimulatedEvent::Bytes(ANSWER.into()));
                    self.cause(at, token, SimulatedEvent::End);
                }
                Reaction::Reset { at } => self.cause(at, token, SimulatedEvent::Reset),
                Reaction::Never => {}
            }
        }
        Sending::Accepted
    }

    fn renumber(&mut self, from: Token, to: Token) {
        self.ahead.values_mut().filter(|(token, _)| *token == from).for_each(|(token, _)| *token = to);
    }

    fn close(&mut self, token: Token) {
        self.ahead.retain(|_, (other, _)| *other != token);
    }
}

impl Poller for World {
    type Transport = WorldTransport;

    fn transport(&mut self) -> &mut WorldTransport {
        &mut self.transport
    }

    fn wait<H: Handler<WorldTransport>>(&mut self, deadline: Option<Nanos>, handler: &mut H) -> io::Result<()> {
        let next = self.transport.ahead.keys().next().map(|(at, _)| *at);
        let until = next.into_iter().chain(deadline).min().expect("a wait without an end");
        let now = self.clock.now();
        let at = match until {
            _ if deadline.is_some_and(|deadline| deadline <= now) => now + self.look,
            until if until > now => until + self.overslept,
            _ => now,
        };
        self.clock.0.set(at.0);
        if let Some((_, cancel)) = self.interrupt.take_if(|(raised_at, _)| *raised_at <= at) {
            cancel.cancel();
        }
        while let Some(entry) = self.transport.ahead.first_entry() {
            if entry.key().0 > at {
                break;
            }
            let (token, happening) = entry.remove();
            let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
            let event = match happening {
                SimulatedEvent::Connected => Event::Connected { at },
                SimulatedEvent::Refused => Event::Closed { at, cause: CloseCause::ConnectFailed(refused()) },
                SimulatedEvent::Bytes(ref bytes) => Event::Received { at, bytes },
                SimulatedEvent::Ending => Event::Ending,
                SimulatedEvent::Reset => {
                    let error = io::Error::from(io::ErrorKind::ConnectionReset);
                    Event::Closed { at, cause: CloseCause::ReadFailed(error) }
                }
                SimulatedEvent::IdleEnd => {
                    self.transport.cause(at, token, SimulatedEvent::End);
                    let bytes = self.transport.idle_limit.map_or(&b""[..], |(_, last_words)| last_words);
                    Event::Received { at, bytes }
                }
                SimulatedEvent::End => Event::Closed { at, cause: CloseCause::EndOfStream },
            };
            handler.on_event(&mut self.transport, token, event);
        }
        Ok(())
    }
}
