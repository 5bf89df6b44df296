//! The layer between socket and protocol: none, or TLS. The worker reads and writes plain text in both cases.

mod config;
mod connections;
mod failure;
mod pem;
mod spec;
mod verify;

use tare_sys::poll::{Payload, Sending, Token, Transport};
use tare_sys::socket::{SocketOptions, Target};

pub(crate) use self::config::Security;
pub use self::config::tls_client;
pub(crate) use self::connections::Tls;
pub(crate) use self::failure::explain_io;
pub use self::spec::{Identity, TlsSpec};

/// A transport of plain text on top of the poller's transport.
pub(crate) struct Channel<'a, T> {
    pub(crate) io: &'a mut T,
    pub(crate) tls: Option<&'a mut Tls>,
}

impl<T: Transport> Transport for Channel<'_, T> {
    fn connect(&mut self, token: Token, target: &Target, options: &SocketOptions) {
        self.io.connect(token, target, options);
    }

    fn send(&mut self, token: Token, payload: &Payload) -> Sending {
        match &mut self.tls {
            None => self.io.send(token, payload),
            Some(tls) => tls.send(self.io, token, payload),
        }
    }

    fn send_bytes(&mut self, token: Token, bytes: &[u8]) -> Sending {
        match &mut self.tls {
            None => self.io.send_bytes(token, bytes),
            Some(tls) => tls.send(self.io, token, bytes),
        }
    }

    fn close(&mut self, token: Token) {
        if let Some(tls) = &mut self.tls {
            tls.close(self.io, token);
        }
        self.io.close(token);
    }
}
