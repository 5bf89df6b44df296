//! Passes the poller's events to the slice runner, decrypted where the session uses TLS.

use tare_sample::ErrorClass;
use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Token, Transport};

use super::runner::SliceRunner;
use crate::protocol::tls::{Channel, Tls};

/// A slice runner, and the TLS beneath it.
pub(super) struct Layers<'a, C> {
    pub(super) runner: &'a mut SliceRunner<C>,
    pub(super) tls: Option<&'a mut Tls>,
}

impl<C: Clock, T: Transport> Handler<T> for Layers<'_, C> {
    fn on_event(&mut self, io: &mut T, token: Token, event: Event<'_>) {
        let Some(tls) = &mut self.tls else { return self.tell(io, token, event) };
        match event {
            Event::Connected { at } => match tls.begin(io, token) {
                Ok(()) => self.runner.connections.set_stage(token, ErrorClass::Tls),
                Err(cause) => self.fail(io, token, at, cause),
            },
            Event::Received { at, bytes } => self.on_received(io, token, at, bytes),
            Event::Closed { at, cause } => {
                let cause = tls.end(token, cause);
                self.tell(io, token, Event::Closed { at, cause });
            }
            other => self.tell(io, token, other),
        }
    }
}

impl<C: Clock> Layers<'_, C> {
    fn on_received(&mut self, io: &mut impl Transport, token: Token, at: Nanos, bytes: &[u8]) {
        let Some(tls) = &mut self.tls else { return };
        let decrypted = tls.receive(io, token, bytes);
        let plaintext = std::mem::take(&mut tls.plaintext);
        let end = decrypted.end;
        if let (Some(kind), false) = (decrypted.established, matches!(end, Some(CloseCause::TlsFailed(_)))) {
            self.runner.on_tls_established(kind);
            self.tell(io, token, Event::Connected { at });
        }
        if end.is_some() && self.has(token) {
            self.tell(io, token, Event::Ending);
        }
        // The runner may have closed the connection at any of these events.
        if !plaintext.is_empty() && self.has(token) {
            self.tell(io, token, Event::Received { at, bytes: &plaintext });
        }
        if let (Some(cause), true) = (end, self.has(token)) {
            self.fail(io, token, at, cause);
        }
        if let Some(tls) = &mut self.tls {
            tls.plaintext = plaintext;
        }
    }

    fn has(&self, token: Token) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.has(token))
    }

    /// Fails a connection whose socket is still open.
    fn fail(&mut self, io: &mut impl Transport, token: Token, at: Nanos, cause: CloseCause) {
        Channel { io, tls: self.tls.as_deref_mut() }.close(token);
        self.tell(io, token, Event::Closed { at, cause });
    }

    fn tell<T: Transport>(&mut self, io: &mut T, token: Token, event: Event<'_>) {
        self.runner.on_event(&mut Channel { io, tls: self.tls.as_deref_mut() }, token, event);
    }
}
