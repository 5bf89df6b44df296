//! Pushed messages: one per WebSocket and period, stamped with its due time, and sent after the planted delay. A
//! stalled server sends the due messages late, with their original stamps.

use std::time::Duration;

use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{Token, Transport};
use tare_sys::readiness::ReadinessTransport;

use super::Server;
use crate::options::FaultKind;
use crate::timers::Action;
use crate::websocket::{Reaction, phase};

impl Server<'_> {
    /// A WebSocket was opened on which messages begin within one period.
    pub(super) fn start_pushing(&mut self, token: Token) {
        let Some(serial) = self.connection(token).map(|connection| connection.serial) else { return };
        let stamp = clock::now() + Duration::from_nanos(phase(serial, self.push_period.into()).0);
        self.plan_push(token, stamp, Nanos::ZERO);
    }

    /// Prepares the message that is due at `stamp`. It leaves after the one before it.
    fn plan_push(&mut self, token: Token, stamp: Nanos, before: Nanos) {
        let leaves = (stamp + self.costs.burn_for_request()).max(before);
        self.plan(token, leaves, Action::Push { stamp });
    }

    /// Sends the message that was due at `stamp` and is planned to leave at `leaves`, and prepares the next.
    pub(super) fn push(&mut self, io: &mut ReadinessTransport, token: Token, stamp: Nanos, leaves: Nanos) {
        let unix_ns = stamp.0.saturating_add(self.stamp_epoch_ns);
        let fault = self.options.fault.filter(|_| self.requests >= self.options.fault_after);
        let connection = self.connection(token);
        let Some(websocket) = connection.and_then(|connection| connection.websocket.as_mut()) else { return };
        let frame = websocket.stamped_message(unix_ns);
        if let Some(fault) = fault {
            return self.fail_push(io, token, fault, frame);
        }
        self.note_served(self.requests, stamp);
        self.requests += 1;
        io.send(token, &frame.into());
        self.plan_push(token, stamp + self.push_period, leaves);
    }

    /// The faults of an answer, applied to a WebSocket. No message is pushed after them.
    fn fail_push(&mut self, io: &mut ReadinessTransport, token: Token, kind: FaultKind, mut frame: Vec<u8>) {
        match kind {
            FaultKind::Crash => std::process::abort(),
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
