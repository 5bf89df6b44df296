//! Planted faults: each fault of an answer as bytes and closed connections.

use std::process;
use std::sync::Arc;
use std::time::Duration;

use tare_sys::clock;
use tare_sys::poll::{Payload, Sending, Token, Transport};
use tare_sys::readiness::ReadinessTransport;

use super::Server;
use crate::contract::Answer;
use crate::options::FaultKind;

const TRICKLE: Duration = Duration::from_millis(100);

impl Server<'_> {
    pub(super) fn fail(&mut self, io: &mut ReadinessTransport, token: Token, kind: FaultKind, answer: &Answer) {
        match kind {
            FaultKind::Crash => process::abort(),
            FaultKind::Hang => self.hold(token),
            FaultKind::Close => self.drop_connection(io, token),
            FaultKind::CloseMidBody => {
                let mut bytes = answer.head(answer.body.len() + 1).into_bytes();
                bytes.extend_from_slice(answer.body.as_bytes());
                self.send_and_close(io, token, bytes);
            }
            FaultKind::WrongBody => {
                let mut bytes = answer.encode();
                if let Some(last) = bytes.last_mut() {
                    *last ^= 1;
                }
                self.send(io, token, &bytes.into(), true);
            }
            FaultKind::Status500 => {
                let wrong = Answer { status: 500, body: "planted".to_owned(), persistence: answer.persistence };
                self.send(io, token, &wrong.encode().into(), true);
            }
            FaultKind::Garbage => self.send(io, token, &Arc::from(*b"\x16\x03\x01 not HTTP at all\r\n\r\n"), true),
            FaultKind::TruncatedHeaders => {
                self.send_and_close(io, token, b"HTTP/1.1 200 OK\r\nContent-Le".to_vec());
            }
            FaultKind::Flood => self.start_flood(io, token),
            FaultKind::SlowLoris => self.send_slowly(token, &answer.encode()),
        }
    }

    fn hold(&mut self, token: Token) {
        if let Some(connection) = self.connection(token) {
            connection.is_answering = true;
        }
    }

    fn send_and_close(&mut self, io: &mut ReadinessTransport, token: Token, bytes: Vec<u8>) {
        if let Some(connection) = self.connection(token) {
            connection.closes_when_sent = true;
        }
        self.send(io, token, &bytes.into(), true);
    }

    pub(super) fn send_slowly(&mut self, token: Token, bytes: &[u8]) {
        let now = clock::now();
        for (index, byte) in bytes.iter().enumerate() {
            let at = now + TRICKLE * index as u32;
            self.send_later(token, Arc::from([*byte]), at, index + 1 == bytes.len());
        }
    }

    fn start_flood(&mut self, io: &mut ReadinessTransport, token: Token) {
        let Some(connection) = self.connection(token) else { return };
        connection.is_answering = true;
        connection.is_flooding = true;
        io.send(token, &Payload::from(*b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\n"));
        self.continue_flood(io, token);
    }

    /// Sends one more piece. Continues when it has left, or in the loop's next round at the latest.
    pub(super) fn continue_flood(&mut self, io: &mut ReadinessTransport, token: Token) {
        let flood = Arc::clone(&self.flood);
        if io.send(token, &Arc::clone(&flood)) == Sending::Accepted {
            self.send_later(token, flood, clock::now(), false);
        }
    }
}
