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

const COMPRESSED: &str = "the message is compressed, although no compressed one can be read; leave \
                          grpc-accept-encoding out of the request, without which no server may send one";

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

    /// Takes bytes, and returns the part of the message among them, or what is wrong with it.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        let of_prefix = (PREFIX_BYTES - self.prefix_bytes).min(bytes.len());
        let (prefix, rest) = bytes.split_at(of_prefix);
        self.prefix[self.prefix_bytes..self.prefix_bytes + of_prefix].copy_from_slice(prefix);
        self.prefix_bytes += of_prefix;
        if self.prefix_bytes < PREFIX_BYTES {
            return Ok(rest);
        }
        match self.prefix[0] {
            0 => {}
            1 => return Err(COMPRESSED.to_owned()),
            other => return Err(format!("a message begins with the byte {other}, which is neither 0 nor 1")),
        }
        let length = self.length();
        if length > MAX_MESSAGE_BYTES {
            return Err(format!("the message has {length} bytes, and at most {MAX_MESSAGE_BYTES} are accepted"));
        }
        if rest.len() > (length - self.message_bytes) as usize {
            return Err("bytes follow the message, and the answer to a unary call has one".to_owned());
        }
        self.message_bytes += rest.len() as u32;
        Ok(rest)
    }

    /// Whether one whole message has come.
    pub(super) fn finish(&self) -> Result<(), String> {
        let (got, of) = (self.message_bytes, self.length());
        match self.prefix_bytes {
            0 => Err("the status is OK, and no message came".to_owned()),
            PREFIX_BYTES if got == of => Ok(()),
            PREFIX_BYTES => Err(format!("the answer ended after {got} of the {of} bytes of its message")),
            _ => Err("the answer ended within the frame of a message".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Result<Vec<u8>, String> {
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
            (&b""[..], "the status is OK, and no message came"),
            (&[0, 0, 0], "the answer ended within the frame"),
            (&[0, 0, 0, 0, 2, 7], "the answer ended after 1 of the 2 bytes"),
            (&[1, 0, 0, 0, 0], "the message is compressed, although no compressed one can be read; leave grpc-"),
            (&[7, 0, 0, 0, 0], "a message begins with the byte 7"),
            (&[0, 1, 0, 0, 1], "the message has 16777217 bytes, and at most 16777216"),
            (&[0, 0, 0, 0, 1, 7, 0], "bytes follow the message"),
        ] {
            let found = read(&[bytes]).unwrap_err();
            assert!(found.starts_with(error), "{bytes:?}: {found}");
        }
    }
}
