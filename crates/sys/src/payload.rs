//! Bytes to send, which many connections share.

use std::ops::Deref;
use std::sync::Arc;

/// Bytes to send. Clones share them and are cheap.
#[derive(Clone, Debug)]
pub struct Payload(Arc<[u8]>);

impl Payload {
    /// Whether both are clones of one payload.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_their_bytes_and_equals_do_not() {
        let payload = Payload::from(vec![1, 2, 3]);
        assert!(payload.clone().is_same(&payload));
        assert!(!payload.is_same(&Payload::from(vec![1, 2, 3])));
    }
}
