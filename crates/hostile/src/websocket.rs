//! What comes on a WebSocket: read alike however it is cut, never more than came, and answered in frames that are sound.

use tare_wire::ws::{Arrival, Endpoint, FrameError, Handshake, HandshakeError};

/// What frames came to: what they brought, what was wrong, and what was said to it.
type ParsedMessages = (Vec<Arrival>, Option<FrameError>, Vec<u8>);

/// Bytes are the same messages, or the same error, whole, in single bytes and in uneven pieces; and what is said to them
/// can be read by the other end.
pub fn frames(bytes: &[u8]) {
    let whole = read(bytes.chunks(bytes.len().max(1)));
    for size in [1, 3, 1 + bytes.len() / 2] {
        let pieces = read(bytes.chunks(size));
        // What is said is masked at random, and as long.
        let unmasked = |(arrivals, error, said): &ParsedMessages| (arrivals.clone(), error.clone(), said.len());
        assert_eq!(unmasked(&pieces), unmasked(&whole), "in pieces of {size} bytes");
    }
    let (arrivals, _, said) = whole;
    let length = |arrival: &Arrival| if let Arrival::Message(_, message) = arrival { message.len() } else { 0 };
    assert!(arrivals.iter().map(length).sum::<usize>() <= bytes.len(), "no more is told than came");
    let (mut server, mut said) = (Endpoint::server(), &said[..]);
    loop {
        match server.receive(&mut said) {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => panic!("what is said breaks the protocol: {error}"),
        }
    }
}

/// What ends any line and any head: a line that drips in is judged when it ends, and one that comes whole at once.
const END: &[u8] = b"\r\n\r\n";

/// Bytes, with an end to them, are the same refusal of a handshake however they are cut: nobody guesses its key.
pub fn upgrade(bytes: &[u8]) {
    let whole = heard(bytes.chunks(bytes.len().max(1)));
    for size in [1, 3, 1 + bytes.len() / 2] {
        assert_eq!(heard(bytes.chunks(size)), whole, "in pieces of {size} bytes");
    }
}

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> ParsedMessages {
    let mut client = Endpoint::client();
    let mut arrivals = Vec::new();
    for mut piece in pieces {
        loop {
            match client.receive(&mut piece) {
                Ok(Some(arrival)) => arrivals.push(arrival),
                Ok(None) => break,
                Err(error) => return (arrivals, Some(error), client.outgoing().to_vec()),
            }
        }
    }
    (arrivals, None, client.outgoing().to_vec())
}

fn heard<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<(), HandshakeError> {
    let (mut handshake, _) = Handshake::begin("/", "host", &[]).expect("a path and a host that can be sent");
    for mut piece in pieces.chain([END]) {
        match handshake.receive(&mut piece) {
            Ok(stands) => assert!(!stands, "a key was guessed"),
            // Each handshake has a key of its own.
            Err(HandshakeError::WrongAccept { found, .. }) => {
                return Err(HandshakeError::WrongAccept { found, expected: String::new() });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
