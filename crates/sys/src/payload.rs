//! Bytes to send, which many connections share.

use std::ops::Deref;
use std::sync::Arc;

/// Bytes to send. Clones share them and are cheap.
#[derive(Clone, Debug)]
pub struct Payload(Arc<[u8]>);

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<T: Into<Arc<[u8]>>> From<T> for Payload {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}
