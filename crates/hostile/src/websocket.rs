//! Input on a WebSocket: read equally in any pieces, never beyond its end, and answered with valid frames.

use tare_wire::ws::{Arrival, Endpoint, FrameError, Handshake};

use crate::connection::check_cuts;

/// The result of frames: their messages, their error, and the answers.
type ParsedMessages = (Vec<Arrival>, Option<FrameError>, Vec<u8>);

/// Bytes give the same messages or the same error, whole, in single bytes and in uneven pieces. The other end can read
/// the answers.
pub fn check_frames(bytes: &[u8]) {
    // Answers are masked at random, so only their lengths can be compared.
    let unmasked = |(arrivals, error, said): ParsedMessages| (arrivals, error, said.len());
    check_cuts(|size| unmasked(read(bytes.chunks(size))), bytes.len());
    let (arrivals, _, said) = read(bytes.chunks(bytes.len().max(1)));
    let length = |arrival: &Arrival| if let Arrival::Message(_, message) = arrival { message.len() } else { 0 };
    assert!(arrivals.iter().map(length).sum::<usize>() <= bytes.len(), "no more than the received bytes");
    let (mut server, mut said) = (Endpoint::server(), &said[..]);
    loop {
        match server.receive(&mut said) {
            Ok(Some(_)) => {}
            // The answer to a close with an invalid code says that the protocol was violated, in the library's words.
            Ok(None) | Err(FrameError::InvalidCloseCode) => break,
            Err(error) => panic!("what is said breaks the protocol: {error}"),
        }
    }
}

/// Ends any line and any head: an incomplete line is judged when it ends, a complete one at once.
const END: &[u8] = b"\r\n\r\n";

/// Bytes with an end give the same refusal of a handshake in any pieces: no input contains the right key.
pub fn check_upgrade(bytes: &[u8]) {
    check_cuts(|size| handshake_refusal(bytes.chunks(size)).err(), bytes.len());
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

fn handshake_refusal<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<(), String> {
    let (mut handshake, _) = Handshake::begin("/", "host", &[]).expect("a path and a host that can be sent");
    for mut piece in pieces.chain([END]) {
        match handshake.receive(&mut piece) {
            Ok(is_open) => assert!(!is_open, "a key was guessed"),
            // Each handshake has a key of its own.
            Err(text) => return Err(text.split(", expected").next().unwrap_or_default().to_owned()),
        }
    }
    Ok(())
}
