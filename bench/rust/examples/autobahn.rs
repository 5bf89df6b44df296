//! Lets Autobahn's fuzzing server test the WebSocket codec: `autobahn ADDRESS`, run by `bench/autobahn`. Every case
//! opens a WebSocket with the engine's handshake and frames, and sends back what it receives.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use tare_wire::ws::{Arrival, Endpoint, Handshake};

/// The longest time without a byte in a case.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Number of attempts to connect, because a busy server may refuse one.
const TRIES: usize = 5;
const AGENT: &str = "tare";

fn main() -> Result<(), Box<dyn Error>> {
    let server = std::env::args().nth(1).ok_or("give the address of a fuzzing server, such as 127.0.0.1:9001")?;
    let count = Case::open(&server, "/getCaseCount")?.first_message()?;
    let count: usize = count.parse()?;
    for case in 1..=count {
        // The server judges a case that ends with an error.
        if let Err(error) = Case::open(&server, &format!("/runCase?case={case}&agent={AGENT}"))?.give_back() {
            println!("case {case} of {count}: {error}");
        }
    }
    Case::open(&server, &format!("/updateReports?agent={AGENT}"))?.give_back()?;
    println!("{count} cases");
    Ok(())
}

/// One WebSocket to the server.
struct Case {
    stream: TcpStream,
    end: Endpoint,
    /// Frames that arrived with the handshake.
    rest: Vec<u8>,
}

impl Case {
    fn open(server: &str, path: &str) -> Result<Self, Box<dyn Error>> {
        let mut opened = Self::try_open(server, path);
        for _ in 1..TRIES {
            if opened.is_ok() {
                break;
            }
            opened = Self::try_open(server, path);
        }
        opened
    }

    fn try_open(server: &str, path: &str) -> Result<Self, Box<dyn Error>> {
        let mut stream = TcpStream::connect(server)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let (mut handshake, request) = Handshake::begin(path, server, &[])?;
        stream.write_all(&request)?;
        let mut room = [0; 4096];
        loop {
            let length = stream.read(&mut room)?;
            let mut bytes = &room[..length];
            if length == 0 {
                return Err("the server closed the connection during the handshake".into());
            }
            if handshake.receive(&mut bytes)? {
                return Ok(Self { stream, end: Endpoint::client(), rest: bytes.to_vec() });
            }
        }
    }

    /// Sends every message back until the WebSocket ends.
    fn give_back(&mut self) -> Result<(), Box<dyn Error>> {
        let mut bytes = std::mem::take(&mut self.rest);
        while self.answer(&bytes)? {
            let mut room = [0; 65536];
            let length = self.stream.read(&mut room)?;
            if length == 0 {
                break;
            }
            bytes = room[..length].to_vec();
        }
        Ok(())
    }

    /// Answers the events in these bytes. Returns whether more may follow.
    fn answer(&mut self, mut bytes: &[u8]) -> Result<bool, Box<dyn Error>> {
        loop {
            let arrival = self.end.receive(&mut bytes);
            if let Ok(Some(Arrival::Message(kind, message))) = &arrival {
                self.end.send_message(*kind, message)?;
            }
            self.stream.write_all(self.end.outgoing())?;
            self.end.clear_outgoing();
            match arrival {
                Ok(Some(Arrival::Close(_))) | Err(_) => {
                    // The server closes the connection. Later bytes are ignored.
                    let _ = self.stream.shutdown(Shutdown::Write);
                    let _ = std::io::copy(&mut self.stream, &mut std::io::sink());
                    return Ok(false);
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(true),
            }
        }
    }

    fn first_message(&mut self) -> Result<String, Box<dyn Error>> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            if let Some(Arrival::Message(_, message)) = self.end.receive(&mut &bytes[..])? {
                return Ok(String::from_utf8(message.to_vec())?);
            }
            let mut room = [0; 4096];
            let length = self.stream.read(&mut room)?;
            if length == 0 {
                return Err("the server closed the connection without a message".into());
            }
            bytes = room[..length].to_vec();
        }
    }
}
