//! The core on top of its channels: what a poller says is decrypted on its way up, where there is anything to decrypt.

use rustls::HandshakeKind;
use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Token, Transport};

use super::core::Core;
use crate::channel::{Channel, Tls};
use crate::sample::ErrorClass;

/// A core, and the TLS beneath it.
pub(super) struct Layers<'a, C> {
    pub(super) core: &'a mut Core<C>,
    pub(super) tls: Option<&'a mut Tls>,
}

impl<C: Clock, T: Transport> Handler<T> for Layers<'_, C> {
    fn on_event(&mut self, io: &mut T, token: Token, event: Event<'_>) {
        let Some(tls) = &mut self.tls else {
            return self.core.on_event(&mut Channel { io, tls: None }, token, event);
        };
        match event {
            Event::Connected { at } => match tls.begin(io, token) {
                Ok(()) => self.core.on_stage(token, ErrorClass::Tls),
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
        let mut plaintext = std::mem::take(&mut tls.plaintext);
        plaintext.clear();
        let decrypted = tls.receive(io, token, bytes, &mut plaintext);
        let end = decrypted.end;
        if let (Some(kind), false) = (decrypted.established, matches!(end, Some(CloseCause::TlsFailed(_)))) {
            self.core.books.secured(kind == HandshakeKind::Resumed);
            self.tell(io, token, Event::Connected { at });
        }
        // The core may have closed the connection at any of these events.
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

    /// Ends a connection of which the socket still stands.
    fn fail(&mut self, io: &mut impl Transport, token: Token, at: Nanos, cause: CloseCause) {
        Channel { io, tls: self.tls.as_deref_mut() }.close(token);
        self.tell(io, token, Event::Closed { at, cause });
    }

    fn tell<T: Transport>(&mut self, io: &mut T, token: Token, event: Event<'_>) {
        self.core.on_event(&mut Channel { io, tls: self.tls.as_deref_mut() }, token, event);
    }
}
