//! Frames: a message after its length in four bytes, the most significant first.

use std::io::{ErrorKind, Read};

use prost::Message;

use super::error::ProtocolError;

/// The most bytes of an order. An assignment contains the files of its requests.
pub const LONGEST_ORDER: u64 = 512 << 20;
/// The most bytes of a report. A sample takes some tens of kilobytes.
pub const LONGEST_REPORT: u64 = 16 << 20;

/// Bytes of the length.
const HEAD: usize = 4;

/// The bytes of a message with its length before it.
///
/// # Errors
/// When the message is too long for any frame.
pub fn encode_frame(message: &impl Message) -> Result<Vec<u8>, ProtocolError> {
    let bytes = message.encoded_len() as u64;
    let too_long = ProtocolError::TooLongToSend { bytes, limit: LONGEST_ORDER };
    let length = u32::try_from(bytes).ok().filter(|_| bytes <= LONGEST_ORDER).ok_or(too_long)?;
    let mut frame = Vec::with_capacity(HEAD + bytes as usize);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(&message.encode_to_vec());
    Ok(frame)
}

/// The next message; `None` where the bytes end between two messages. Memory grows with the bytes that arrive, not with
/// the length that is stated.
///
/// # Errors
/// When the bytes end within a message, when it is longer than `limit` bytes, and when it cannot be decoded.
pub fn read_frame<M: Message + Default>(reader: &mut impl Read, limit: u64) -> Result<Option<M>, ProtocolError> {
    let mut head = [0; HEAD];
    let Some(first) = read_first(reader)? else { return Ok(None) };
    head[0] = first;
    reader.read_exact(&mut head[1..])?;
    let bytes = u64::from(u32::from_be_bytes(head));
    if bytes > limit {
        return Err(ProtocolError::TooLong { bytes, limit });
    }
    let mut message = Vec::new();
    reader.take(bytes).read_to_end(&mut message)?;
    if (message.len() as u64) < bytes {
        return Err(ProtocolError::Pipe(ErrorKind::UnexpectedEof.into()));
    }
    Ok(Some(M::decode(message.as_slice())?))
}

/// One byte; `None` at the end.
fn read_first(reader: &mut impl Read) -> Result<Option<u8>, ProtocolError> {
    let mut byte = [0];
    loop {
        match reader.read(&mut byte) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(byte[0])),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Order, OrderKind, Ping};

    fn ping(number: u64) -> Order {
        OrderKind::Ping(Ping { number }).into()
    }

    fn read_all(mut bytes: &[u8], limit: u64) -> (Vec<Order>, Option<ProtocolError>) {
        let mut orders = Vec::new();
        loop {
            match read_frame(&mut bytes, limit) {
                Ok(Some(order)) => orders.push(order),
                Ok(None) => return (orders, None),
                Err(error) => return (orders, Some(error)),
            }
        }
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let bytes = [ping(1), ping(2), Order { kind: None }].map(|order| encode_frame(&order).unwrap()).concat();
        let (orders, error) = read_all(&bytes, 100);
        assert_eq!(orders, [ping(1), ping(2), Order { kind: None }]);
        assert!(error.is_none());
    }

    #[test]
    fn a_message_cut_short_is_an_error_and_those_before_it_are_read() {
        let bytes = [ping(1), ping(300)].map(|order| encode_frame(&order).unwrap()).concat();
        let first = encode_frame(&ping(1)).unwrap().len();
        for end in first + 1..bytes.len() {
            let (orders, error) = read_all(&bytes[..end], 100);
            assert_eq!(orders, [ping(1)], "{end} bytes");
            assert!(matches!(error, Some(ProtocolError::Pipe(_))), "{end} bytes: {error:?}");
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_not_read() {
        let (_, error) = read_all(&encode_frame(&ping(300)).unwrap(), 4);
        assert_eq!(
            error.unwrap().to_string(),
            "a message of 5 bytes, more than 4: is it text that a shell prints at login?"
        );
        let (_, error) = read_all(b"Welcome to bench1!\n", LONGEST_REPORT);
        assert!(matches!(error, Some(ProtocolError::TooLong { .. })), "{error:?}");
    }

    #[test]
    fn bytes_that_are_no_message_are_an_error() {
        let (_, error) = read_all(&[0, 0, 0, 3, 255, 255, 255], 100);
        assert!(matches!(error, Some(ProtocolError::Undecodable(_))), "{error:?}");
    }
}
