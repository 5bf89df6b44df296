//! Frames: a message as JSON, after its length in four bytes, the most significant first; and bytes within the JSON.

use std::fmt;
use std::io::{ErrorKind, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ProtocolError;

/// The most bytes of an order. The order to open a load contains the files of its requests.
pub const LONGEST_ORDER: u64 = 512 << 20;
/// The most bytes of a report. A sample takes some tens of kilobytes.
pub const LONGEST_REPORT: u64 = 16 << 20;

const HEAD: usize = 4;

/// The bytes of a message with its length before it.
pub fn encode_frame(message: &impl Serialize, limit: u64) -> Result<Vec<u8>, ProtocolError> {
    let mut frame = vec![0; HEAD];
    serde_json::to_writer(&mut frame, message)?;
    let bytes = (frame.len() - HEAD) as u64;
    let too_long = ProtocolError::TooLongToSend { bytes, limit };
    let length = u32::try_from(bytes).ok().filter(|_| bytes <= limit).ok_or(too_long)?;
    frame[..HEAD].copy_from_slice(&length.to_be_bytes());
    Ok(frame)
}

/// The next message; `None` where the bytes end between two. Memory grows with what arrives, not with what is stated.
pub fn read_frame<M: DeserializeOwned>(reader: &mut impl Read, limit: u64) -> Result<Option<M>, ProtocolError> {
    let cut_short = || ProtocolError::Pipe(ErrorKind::UnexpectedEof.into());
    let mut head = Vec::with_capacity(HEAD);
    reader.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let head = <[u8; HEAD]>::try_from(head).map_err(|_| cut_short())?;
    let bytes = u64::from(u32::from_be_bytes(head));
    if bytes > limit {
        return Err(ProtocolError::TooLong { bytes, limit });
    }
    let mut message = Vec::new();
    reader.take(bytes).read_to_end(&mut message)?;
    if (message.len() as u64) < bytes {
        return Err(cut_short());
    }
    Ok(Some(serde_json::from_slice(&message)?))
}

/// Bytes that are base64 in the JSON of a message.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Self).map_err(D::Error::custom)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Order;

    fn ping(number: u64) -> Vec<u8> {
        encode_frame(&Order::Ping { number }, LONGEST_ORDER).unwrap()
    }

    fn read_all(mut bytes: &[u8], limit: u64) -> (Vec<u64>, Option<ProtocolError>) {
        let mut pings = Vec::new();
        loop {
            match read_frame(&mut bytes, limit) {
                Ok(Some(Order::Ping { number })) => pings.push(number),
                Ok(Some(other)) => panic!("{other:?}"),
                Ok(None) => return (pings, None),
                Err(error) => return (pings, Some(error)),
            }
        }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let (pings, error) = read_all(&[ping(1), ping(2)].concat(), 100);
        assert_eq!(pings, [1, 2]);
        assert!(error.is_none());
    }

    #[test]
    fn bytes_arrive_as_they_were_sent() {
        let sent = Bytes((0..=255).collect());
        let frame = encode_frame(&sent, LONGEST_REPORT).unwrap();
        assert_eq!(read_frame::<Bytes>(&mut &frame[..], LONGEST_REPORT).unwrap(), Some(sent));
        let (_, error) = read_all(&encode_frame(&"a", LONGEST_REPORT).unwrap(), 100);
        assert!(matches!(error, Some(ProtocolError::Undecodable(_))), "{error:?}");
    }

    #[test]
    fn a_message_cut_short_is_an_error_and_those_before_it_are_read() {
        let (first, bytes) = (ping(1).len(), [ping(1), ping(300)].concat());
        for end in first + 1..bytes.len() {
            let (pings, error) = read_all(&bytes[..end], 100);
            assert_eq!(pings, [1], "{end} bytes");
            assert!(matches!(error, Some(ProtocolError::Pipe(_))), "{end} bytes: {error:?}");
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_neither_read_nor_sent() {
        let (_, error) = read_all(&ping(300), 4);
        assert_eq!(
            error.unwrap().to_string(),
            "a message of 23 bytes, more than 4: is it text that a shell prints at login?"
        );
        let (_, error) = read_all(b"Welcome to bench1!\n", LONGEST_REPORT);
        assert!(matches!(error, Some(ProtocolError::TooLong { .. })), "{error:?}");
        let error = encode_frame(&Order::Stop, 5).unwrap_err().to_string();
        assert_eq!(error, "a message of 6 bytes, more than 5: are the files of its requests too large?");
    }

    #[test]
    fn bytes_that_are_no_message_are_an_error() {
        for bytes in [&[0, 0, 0, 3, 255, 255, 255][..], &[0, 0, 0, 0], b"\0\0\0\x09{\"New\":0}"] {
            let (_, error) = read_all(bytes, 100);
            assert!(matches!(error, Some(ProtocolError::Undecodable(_))), "{error:?}");
        }
    }
}
