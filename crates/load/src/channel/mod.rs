//! What lies between a socket and a protocol: nothing, or TLS.

mod spec;

pub use spec::{Identity, TlsSpec, Trust};
