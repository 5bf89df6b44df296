//! The simplest HTTP server for comparing generators: one thread, one read and one write per request, the same answer
//! of 130 bytes to everything. It is as cheap as such a server in C, so that the generator is what is measured. The
//! reference server does the rest: faults, delays, all of HTTP. `fixed_answer_server [PORT] [--spin]` prints `ready on
//! ADDRESS` and serves until it is killed. With `--spin` it never sleeps, so that no generator pays for waking it up.
#![allow(clippy::print_stdout, reason = "it says where it listens")]

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use rustix::event::{Timespec, epoll};
use rustix::net::{RecvFlags, SendFlags, SocketFlags, sockopt};

const ANSWER: &[u8; 130] = b"HTTP/1.1 200 OK\r\nServer: tare-benchmarks\r\nContent-Type: text/plain; charset=UTF-8\r\n\
    Connection: keep-alive\r\nContent-Length: 2\r\n\r\nok";
const LISTENER: u64 = u64::MAX;
const EVENTS: usize = 512;
const HEAD_BYTES: usize = 64 * 1024;

/// A connection, and the number of bytes of a body that have not arrived.
struct Connection {
    socket: OwnedFd,
    body_bytes: usize,
    /// The begin of a head that arrived in pieces.
    head: Vec<u8>,
}

struct Server {
    epoll: OwnedFd,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// Several answers, for requests that arrived together.
    answers: Vec<u8>,
    /// How long to sleep without work; `None` for no limit.
    longest_sleep: Option<Timespec>,
}

fn main() -> anyhow::Result<()> {
    let port = std::env::args().nth(1).map_or(Ok(0), |text| text.parse())?;
    let longest_sleep = std::env::args().any(|argument| argument == "--spin").then(Timespec::default);
    let listener = listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    println!("ready on {}", listener.local_addr()?);
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    Server { epoll, listener, connections: Vec::new(), free: Vec::new(), answers: Vec::new(), longest_sleep }.serve()
}

/// Listens with a backlog for thousands of clients. The standard library has no option for that.
fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    rustix::net::listen(&listener, 20_000)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

impl Server {
    fn serve(&mut self) -> anyhow::Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut buffer = vec![0; 8 * 1024 * 1024];
        loop {
            events.clear();
            epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), self.longest_sleep.as_ref())?;
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    index => self.read(index as usize, &mut buffer),
                }
            }
        }
    }

    fn accept(&mut self) -> anyhow::Result<()> {
        while let Ok(socket) = rustix::net::accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            sockopt::set_tcp_nodelay(&socket, true)?;
            let index = self.free.pop().unwrap_or(self.connections.len());
            epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
            let connection = Some(Connection { socket, body_bytes: 0, head: Vec::new() });
            if index == self.connections.len() {
                self.connections.push(connection);
            } else {
                self.connections[index] = connection;
            }
        }
        Ok(())
    }

    fn read(&mut self, index: usize, buffer: &mut [u8]) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else { return };
        // The kernel discards a body without a copy, so that the generator is the slower side.
        let (flags, most) = match connection.body_bytes {
            0 => (RecvFlags::empty(), HEAD_BYTES),
            rest => (RecvFlags::TRUNC, rest.min(buffer.len())),
        };
        let received = rustix::net::recv(&connection.socket, &mut buffer[..most], flags).map(|(_, length)| length);
        let keeps = match received {
            Ok(0) => false,
            Ok(length) => connection.answer(&buffer[..length], &mut self.answers),
            Err(rustix::io::Errno::AGAIN) => true,
            Err(_) => false,
        };
        if !keeps {
            self.connections[index] = None;
            self.free.push(index);
        }
    }
}

impl Connection {
    /// Answers every complete request in these bytes. Returns false when the connection must be closed.
    fn answer(&mut self, bytes: &[u8], answers: &mut Vec<u8>) -> bool {
        let complete = if self.head.is_empty() {
            self.count(bytes)
        } else {
            let mut held = std::mem::take(&mut self.head);
            held.extend_from_slice(bytes);
            self.count(&held)
        };
        let out: &[u8] = match complete {
            0 => return true,
            1 => ANSWER,
            _ => {
                answers.clear();
                (0..complete).for_each(|_| answers.extend_from_slice(ANSWER));
                answers
            }
        };
        // A client that does not read its answers is disconnected.
        rustix::net::send(&self.socket, out, SendFlags::NOSIGNAL).is_ok_and(|sent| sent == out.len())
    }

    /// Number of requests that end within these bytes.
    fn count(&mut self, mut bytes: &[u8]) -> usize {
        let mut complete = 0;
        loop {
            if self.body_bytes > 0 {
                let taken = self.body_bytes.min(bytes.len());
                self.body_bytes -= taken;
                bytes = &bytes[taken..];
                if self.body_bytes > 0 {
                    return complete;
                }
                complete += 1;
            }
            if bytes.is_empty() {
                return complete;
            }
            let Some(end) = end_of_head(bytes) else {
                self.head.extend_from_slice(bytes);
                return complete;
            };
            self.body_bytes = body_length(&bytes[..end]);
            complete += usize::from(self.body_bytes == 0);
            bytes = &bytes[end..];
        }
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn body_length(head: &[u8]) -> usize {
    const NAME: &[u8] = b"content-length:";
    let lines = head.split(|byte| *byte == b'\n');
    let value = lines.filter(|line| line.len() > NAME.len()).find_map(|line| {
        let (name, value) = line.split_at(NAME.len());
        name.eq_ignore_ascii_case(NAME).then_some(value)
    });
    value.and_then(|value| std::str::from_utf8(value).ok()?.trim().parse().ok()).unwrap_or(0)
}
