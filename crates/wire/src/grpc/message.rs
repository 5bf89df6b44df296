//! The frame around each message: whether it is compressed, and its length.

pub const MAX_MESSAGE_BYTES: u32 = 16 << 20;

/// A byte that says whether the message is compressed, and its length in four.
const PREFIX_BYTES: usize = 5;

/// An uncompressed message in its frame.
///
/// # Panics
/// When the message is longer than its frame can say, 4 GiB.
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a message is shorter than 4 GiB");
    [&[0][..], &length.to_be_bytes(), message].concat()
}

/// What is wrong with the messages of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    #[error(
        "the message is compressed, although no compressed one can be read; leave grpc-accept-encoding out of the request, \
         without which no server may send one"
    )]
    Compressed,
    #[error("a message begins with the byte {0}, which is neither 0 nor 1")]
    NoFlag(u8),
    #[error("the message has {0} bytes, and at most {MAX_MESSAGE_BYTES} are accepted")]
    TooLong(u32),
    #[error("bytes follow the message, and the answer to a unary call has one")]
    Excess,
    #[error("the answer ended after {got} of the {of} bytes of its message")]
    Truncated { got: u32, of: u32 },
    #[error("the answer ended within the frame of a message")]
    TruncatedFrame,
    #[error("the status is OK, and no message came")]
    None,
}

/// Takes the message out of its frame, from bytes that arrive in any pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MessageReader {
    prefix: [u8; PREFIX_BYTES],
    prefix_bytes: usize,
    message_bytes: u32,
}

impl MessageReader {
    fn length(&self) -> u32 {
        let [_, a, b, c, d] = self.prefix;
        u32::from_be_bytes([a, b, c, d])
    }

    /// Takes bytes, and returns the part of the message among them.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], MessageError> {
        let of_prefix = (PREFIX_BYTES - self.prefix_bytes).min(bytes.len());
        let (prefix, rest) = bytes.split_at(of_prefix);
        self.prefix[self.prefix_bytes..self.prefix_bytes + of_prefix].copy_from_slice(prefix);
        self.prefix_bytes += of_prefix;
        if self.prefix_bytes < PREFIX_BYTES {
            return Ok(rest);
        }
        match self.prefix[0] {
            0 => {}
            1 => return Err(MessageError::Compressed),
            other => return Err(MessageError::NoFlag(other)),
        }
        if self.length() > MAX_MESSAGE_BYTES {
            return Err(MessageError::TooLong(self.length()));
        }
        let missing = (self.length() - self.message_bytes) as usize;
        if rest.len() > missing {
            return Err(MessageError::Excess);
        }
        self.message_bytes += rest.len() as u32;
        Ok(rest)
    }

    /// Whether one whole message has come.
    pub(super) fn finish(&self) -> Result<(), MessageError> {
        match self.prefix_bytes {
            0 => Err(MessageError::None),
            PREFIX_BYTES if self.message_bytes == self.length() => Ok(()),
            PREFIX_BYTES => Err(MessageError::Truncated { got: self.message_bytes, of: self.length() }),
            _ => Err(MessageError::TruncatedFrame),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<u8>, MessageError> {
        let mut reader = MessageReader::default();
        let mut message = Vec::new();
        for piece in pieces {
            message.extend_from_slice(reader.take(piece)?);
        }
        reader.finish().map(|()| message)
    }

    #[test]
    fn a_message_is_the_same_wherever_its_bytes_are_cut() {
        for message in [&b""[..], b"a", b"hello"] {
            let bytes = frame(message);
            for cut in 0..=bytes.len() {
                let (first, second) = bytes.split_at(cut);
                assert_eq!(read(&[first, second]).as_deref(), Ok(message), "cut at {cut}");
            }
        }
    }

    #[test]
    fn what_is_no_single_uncompressed_message_is_told() {
        for (bytes, error) in [
            (&b""[..], MessageError::None),
            (&[0, 0, 0], MessageError::TruncatedFrame),
            (&[0, 0, 0, 0, 2, 7], MessageError::Truncated { got: 1, of: 2 }),
            (&[1, 0, 0, 0, 0], MessageError::Compressed),
            (&[7, 0, 0, 0, 0], MessageError::NoFlag(7)),
            (&[0, 1, 0, 0, 1], MessageError::TooLong(MAX_MESSAGE_BYTES + 1)),
            (&[0, 0, 0, 0, 1, 7, 0], MessageError::Excess),
        ] {
            assert_eq!(read(&[bytes]), Err(error), "{bytes:?}");
        }
    }
}
