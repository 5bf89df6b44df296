//! The server's end of a WebSocket: its request, its purpose, and the handling of received messages.

use tare_sys::clock::Nanos;
use tare_wire::ws::{Arrival, Endpoint, Kind, accept_for};

use crate::request::Request;

#[derive(Debug)]
pub(crate) struct WebSocket {
    pub(crate) end: Endpoint,
    /// `/ws/ts`: the server pushes the time since 1970 in this unit. `None`, `/ws/echo`: it sends messages back.
    pub(crate) stamp_unit_ns: Option<u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Send these bytes after the planted delay.
    Answer(Vec<u8>),
    /// Send these bytes at once, if there are any.
    AtOnce(Vec<u8>),
    /// Send these bytes, then close the connection.
    End(Vec<u8>),
}

impl WebSocket {
    /// The WebSocket that a request asks for, and the answer that opens it; `None` for other requests.
    pub(crate) fn open(request: &Request) -> Option<(Self, Vec<u8>)> {
        let key = request.websocket_key.as_ref()?;
        let stamp_unit_ns = match request.path.as_str() {
            "/ws/ts" => Some(1),
            "/ws/ts?unit=ms" => Some(1_000_000),
            "/ws/echo" => None,
            _ => return None,
        };
        let accept = accept_for(key.as_bytes());
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
        let answer = format!("{head}Sec-WebSocket-Accept: {accept}\r\n\r\n").into_bytes();
        Some((Self { end: Endpoint::server(), stamp_unit_ns }, answer))
    }

    /// Reads received bytes up to the next event; `None` when all are read.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8]) -> Option<Reaction> {
        match self.end.receive(bytes) {
            Ok(None) => None,
            Ok(Some(Arrival::Message(kind, message))) if self.stamp_unit_ns.is_none() => {
                Some(Reaction::Answer(self.frame(kind, &message)))
            }
            Ok(Some(Arrival::Close(_))) | Err(_) => Some(Reaction::End(self.take())),
            Ok(Some(_)) => Some(Reaction::AtOnce(self.take())),
        }
    }

    /// A message with this moment of the wall clock as its stamp.
    pub(crate) fn stamped_message(&mut self, unix_ns: u64) -> Vec<u8> {
        self.frame(Kind::Text, (unix_ns / self.stamp_unit_ns.unwrap_or(1)).to_string().as_bytes())
    }

    fn frame(&mut self, kind: Kind, message: &[u8]) -> Vec<u8> {
        // A message that arrived as text is valid text.
        let _ = self.end.send_message(kind, message);
        self.take()
    }

    fn take(&mut self) -> Vec<u8> {
        let bytes = self.end.outgoing().to_vec();
        self.end.clear_outgoing();
        bytes
    }
}

/// When the pushes of a connection begin within the first period: evenly spread over any number of connections, by the
/// golden ratio's multiples modulo 1 (Knuth, *The Art of Computer Programming*, vol. 3, section 6.4).
pub(crate) fn phase(serial: u64, period: Nanos) -> Nanos {
    let turn = serial.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Nanos(((u128::from(turn) * u128::from(period.0)) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushes_of_many_connections_are_evenly_spread_over_the_period() {
        for connections in [10, 2500] {
            let mut phases: Vec<u64> = (1..=connections).map(|serial| phase(serial, Nanos(1_000_000)).0).collect();
            phases.sort_unstable();
            let widest = phases.windows(2).map(|pair| pair[1] - pair[0]).max();
            assert!(widest.is_some_and(|widest| widest < 3_000_000 / connections), "{connections}: {widest:?}");
        }
    }

    #[test]
    fn only_a_request_with_a_key_for_a_known_path_opens_a_websocket() {
        let key = || Some("dGhlIHNhbXBsZSBub25jZQ==".to_owned());
        for (path, websocket_key, stamp_unit_ns) in [
            ("/ws/ts", key(), Some(Some(1))),
            ("/ws/ts?unit=ms", key(), Some(Some(1_000_000))),
            ("/ws/echo", key(), Some(None)),
            ("/ws/echo", None, None),
            ("/path0/1", key(), None),
        ] {
            let opened = WebSocket::open(&Request { path: path.to_owned(), websocket_key, ..Request::default() });
            assert_eq!(opened.as_ref().map(|(websocket, _)| websocket.stamp_unit_ns), stamp_unit_ns, "{path}");
            let proves = |(_, answer): &(WebSocket, Vec<u8>)| {
                String::from_utf8_lossy(answer).contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            };
            assert!(opened.as_ref().is_none_or(proves));
        }
    }
}
