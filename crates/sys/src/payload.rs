//! What is sent: bytes that many connections share, and for large ones a file in memory that the kernel can send from.
//! When a file pays is the caller's business; a poller uses it where it is there.

use std::io::{self, Write};
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, memfd_create};

/// Bytes to send, cheap to clone: clones share them.
#[derive(Clone, Debug)]
pub struct Payload {
    bytes: Arc<[u8]>,
    file: Option<Arc<OwnedFd>>,
}

impl Payload {
    /// The same bytes, laid down in a file in memory too, from which a poller sends without copying them.
    ///
    /// # Errors
    /// When no file descriptor or no memory is left.
    ///
    /// # Source
    /// memfd_create(2), sendfile(2).
    pub fn with_file(self) -> io::Result<Self> {
        let mut file = std::fs::File::from(memfd_create("tare-payload", MemfdFlags::CLOEXEC)?);
        file.write_all(&self.bytes)?;
        Ok(Self { file: Some(Arc::new(file.into())), ..self })
    }

    /// Whether both are clones of one payload.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// The file that holds the same bytes, if there is one.
    pub fn file(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(|file| file.as_fd())
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl<T: Into<Arc<[u8]>>> From<T> for Payload {
    fn from(bytes: T) -> Self {
        Self { bytes: bytes.into(), file: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::FileExt;

    #[test]
    fn the_file_holds_the_same_bytes() {
        let payload = Payload::from(*b"to be sent").with_file().unwrap();
        let file = std::fs::File::from(payload.file().unwrap().try_clone_to_owned().unwrap());
        let mut read = vec![0; payload.len()];
        file.read_exact_at(&mut read, 0).unwrap();
        assert_eq!(*payload, *read);
        assert_eq!((&file).read(&mut [0; 1]).unwrap(), 0);
    }

    #[test]
    fn clones_share_their_bytes() {
        let payload = Payload::from(vec![1, 2, 3]);
        assert_eq!(payload.clone().as_ptr(), payload.as_ptr());
        assert!(payload.file().is_none());
    }
}
