//! Pushed messages: one per WebSocket and period, stamped with its due time, and sent after the planted delay. A
//! stalled server sends the due messages late, with their original stamps.

use std::time::Duration;

use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{Token, Transport};
use tare_sys::readiness::ReadinessTransport;

use super::Server;
use crate::options::FaultKind;
use crate::timers::Timers;
use crate::websocket::{Reaction, phase};

/// The next message of one WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Message {
    stamp: Nanos,
    token: Token,
    /// Distinguishes the WebSocket from a later connection with the same token.
    serial: u64,
}

/// The next messages of all WebSockets.
#[derive(Debug)]
pub(super) struct Pushes {
    period: Duration,
    /// The stamping clock's time at the origin of the monotonic clock.
    unix_ns: u64,
    pub(super) due: Timers<Message>,
}

impl Pushes {
    /// Pushes with stamps of a clock that is this far ahead of this machine's.
    pub(super) fn every(period_ms: u64, ahead_ns: i64) -> Self {
        let unix_ns = clock::wall_clock_epoch().unix_ns.saturating_add_signed(ahead_ns);
        Self { period: Duration::from_millis(period_ms.max(1)), unix_ns, due: Timers::new() }
    }
}

impl Server<'_> {
    /// A WebSocket was opened on which messages begin within one period.
    pub(super) fn start_pushing(&mut self, token: Token) {
        let Some(serial) = self.connection(token).map(|connection| connection.serial) else { return };
        let stamp = clock::now() + Duration::from_nanos(phase(serial, self.pushes.period.into()).0);
        self.plan_push(token, serial, stamp, Nanos::ZERO);
    }

    /// Prepares the message that is due at `stamp`. It leaves after the one before it.
    fn plan_push(&mut self, token: Token, serial: u64, stamp: Nanos, before: Nanos) {
        let leaves = (stamp + self.costs.burn_for_request()).max(before);
        self.pushes.due.add(leaves, Message { stamp, token, serial });
    }

    /// Sends the messages that are due.
    pub(super) fn push_due(&mut self, io: &mut ReadinessTransport, now: Nanos) {
        while let Some((left, due)) = self.pushes.due.pop_due(now) {
            let unix_ns = due.stamp.0.saturating_add(self.pushes.unix_ns);
            let fault = self.options.fault.filter(|_| self.requests >= self.options.fault_after);
            let connection = self.connection(due.token).filter(|connection| connection.serial == due.serial);
            let Some(websocket) = connection.and_then(|connection| connection.websocket.as_mut()) else { continue };
            let frame = websocket.stamped_message(unix_ns);
            if let Some(fault) = fault {
                self.fail_push(io, due.token, fault, frame);
                continue;
            }
            self.ledger.add(self.requests, due.stamp, clock::now);
            self.requests += 1;
            io.send(due.token, &frame.into());
            self.plan_push(due.token, due.serial, due.stamp + self.pushes.period, left);
        }
    }

    /// The faults of an answer, applied to a WebSocket. No message is pushed after them.
    fn fail_push(&mut self, io: &mut ReadinessTransport, token: Token, kind: FaultKind, mut frame: Vec<u8>) {
        match kind {
            FaultKind::Crash => std::process::abort(),
            FaultKind::Exit => std::process::exit(3),
            FaultKind::Hang => return,
            FaultKind::Close => frame.clear(),
            FaultKind::CloseMidBody => frame.truncate(frame.len() / 2),
            FaultKind::TruncatedHeaders => frame.truncate(1),
            // Text that is not valid UTF-8.
            FaultKind::WrongBody => frame.iter_mut().skip(2).for_each(|byte| *byte = 0xff),
            FaultKind::Status500 => frame = b"\x88\x02\x03\xf3".to_vec(),
            // Reserved bits, and a frame of a size that no client accepts.
            FaultKind::Garbage => frame = b"\xff\x00".to_vec(),
            FaultKind::Flood => frame = b"\x82\x7f\x00\x00\x01\x00\x00\x00\x00\x00".to_vec(),
            FaultKind::SlowLoris => return self.send_slowly(token, &frame),
        }
        io.send(token, &frame.into());
        if matches!(kind, FaultKind::Close | FaultKind::CloseMidBody | FaultKind::TruncatedHeaders) {
            self.drop_connection(io, token);
        }
    }

    /// Handles bytes that a client sends on a WebSocket.
    pub(super) fn receive_frames(&mut self, io: &mut ReadinessTransport, token: Token, mut bytes: &[u8]) {
        while let Some(websocket) = self.connection(token).and_then(|connection| connection.websocket.as_mut()) {
            match websocket.receive(&mut bytes) {
                None => return,
                Some(Reaction::Answer(frame)) => {
                    let nth = self.requests;
                    self.requests += 1;
                    if let Some(connection) = self.connection(token) {
                        connection.nth = nth;
                    }
                    self.send_after(io, token, frame.into());
                }
                Some(Reaction::AtOnce(frame)) if frame.is_empty() => {}
                Some(Reaction::AtOnce(frame)) => drop(io.send(token, &frame.into())),
                Some(Reaction::End(frame)) => {
                    io.send(token, &frame.into());
                    return self.drop_connection(io, token);
                }
            }
        }
    }
}
