//! The connection of one user during its set-up: the protocols and the TLS of the load, over a blocking socket.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};
use tare_sample::ErrorClass;
use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{CloseCause, Token};
use tare_sys::socket::Target;

use crate::input::request::{Parts, RequestSet};
use crate::problem::Problem;
use crate::protocol::Protocol;
use crate::protocol::answer::PartialAnswer;
use crate::protocol::connection::{Connection, Exchange, Step};
use crate::protocol::offline::Outbox;
use crate::protocol::tls::{Channel, Security, Tls};
use crate::recorder::Times;
use crate::session::spec::SessionSpec;

const TOKEN: Token = Token(0);

/// One connection at a time, reused as long as the server allows.
pub(super) struct Client<'a> {
    spec: &'a SessionSpec,
    target: Target,
    tls: Option<Tls>,
    requests: &'a RequestSet,
    connection: Connection,
    /// Also of a Unix socket, which has the operations of any stream.
    stream: Option<TcpStream>,
    /// When its TLS handshake is late; `None` if it is over.
    handshake_until: Option<Nanos>,
    outbox: Outbox,
}

impl<'a> Client<'a> {
    /// No connection yet. Users alternate between the addresses of the server.
    pub(super) fn new(
        spec: &'a SessionSpec,
        protocol: Protocol,
        security: Option<&Security>,
        requests: &'a RequestSet,
        user: usize,
    ) -> Self {
        let targets = spec.targets();
        Self {
            spec,
            target: targets[user % targets.len()].clone(),
            tls: security.cloned().map(Tls::new),
            requests,
            connection: Connection::new(protocol, &spec.base().into()),
            stream: None,
            handshake_until: None,
            outbox: Outbox::default(),
        }
    }

    pub(super) fn ask(&mut self, request: usize, parts: Parts) -> Result<PartialAnswer, Problem> {
        let stream = match self.stream.take().filter(is_open) {
            Some(stream) => stream,
            None => self.connect()?,
        };
        let deadline = clock::now() + self.spec.timeout;
        let times = Times { intended: clock::now(), ..Times::default() };
        let exchange = Exchange::new(self.requests, request, times, deadline);
        let mut channel = Channel { io: &mut self.outbox, tls: self.tls.as_mut() };
        self.connection.begin_parts(&mut channel, TOKEN, exchange, Arc::new(parts));
        let (answer, has_ended) = self.converse(&stream, deadline)?;
        if !has_ended && !self.connection.is_retired() {
            self.stream = Some(stream);
        }
        Ok(answer)
    }

    /// Sends what the connection has to send and reads, until the answer is complete. Also returns whether the
    /// connection has ended with it.
    fn converse(&mut self, stream: &TcpStream, deadline: Nanos) -> Result<(PartialAnswer, bool), Problem> {
        loop {
            self.connection.flush(&mut Channel { io: &mut self.outbox, tls: self.tls.as_mut() }, TOKEN);
            let (bytes, end) = self.exchange_bytes(stream, deadline)?;
            let mut step = self.connection.receive(&mut &*bytes, self.requests);
            if matches!(step, Step::More)
                && let Some(cause) = &end
            {
                step = if self.connection.completes_answer(cause) {
                    self.connection.receive(&mut &[][..], self.requests)
                } else {
                    Step::Broken(self.connection.problem_of_end(cause))
                };
            }
            match step {
                Step::More => {}
                Step::Finished(exchange, None) => return Ok((exchange.answer, end.is_some())),
                Step::Finished(_, Some(problem)) | Step::Broken(problem) => return Err(problem),
                _ => return Err(Problem::new(ErrorClass::Read, "the server did not process the request")),
            }
        }
    }

    /// Sends what waits, and reads. Returns what has come as plain text, and whether the connection ends with it.
    fn exchange_bytes(
        &mut self,
        mut stream: &TcpStream,
        deadline: Nanos,
    ) -> Result<(Vec<u8>, Option<CloseCause>), Problem> {
        let until = self.handshake_until.map_or(deadline, |until| until.min(deadline));
        let left = Duration::from_nanos(until.since(clock::now()));
        if left.is_zero() {
            return Err(self.late());
        }
        let limited = stream.set_read_timeout(Some(left)).and_then(|()| stream.set_write_timeout(Some(left)));
        limited.map_err(|error| Problem::of_end(&CloseCause::ReadFailed(error)))?;
        // A server that refuses a body early may have answered already.
        let written = self.outbox.0.drain(..).try_for_each(|bytes| stream.write_all(&bytes));
        let mut bytes = vec![0; 64 * 1024];
        let (count, end) = match (stream.read(&mut bytes), written) {
            (Ok(0), _) => (0, Some(CloseCause::EndOfStream)),
            (Ok(count), _) => (count, None),
            (Err(error), _) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Err(self.late());
            }
            // This process was stopped and continued.
            (Err(error), Ok(())) if error.kind() == io::ErrorKind::Interrupted => (0, None),
            (Err(_), Err(error)) => (0, Some(CloseCause::WriteFailed(error))),
            (Err(error), Ok(())) => (0, Some(CloseCause::ReadFailed(error))),
        };
        bytes.truncate(count);
        let Some(tls) = &mut self.tls else { return Ok((bytes, end)) };
        let decrypted = tls.receive(&mut self.outbox, TOKEN, &bytes);
        self.handshake_until = self.handshake_until.filter(|_| decrypted.established.is_none());
        Ok((std::mem::take(&mut tls.plaintext), decrypted.end.or_else(|| end.map(|cause| tls.end(TOKEN, cause)))))
    }

    fn late(&self) -> Problem {
        match self.handshake_until {
            Some(_) => Problem::new(ErrorClass::Tls, "not connected until the deadline"),
            None => Problem::new(ErrorClass::Timeout, "no complete answer until the deadline"),
        }
    }

    /// Opens a connection. Its TLS handshake, if there is one, goes on with the first request.
    fn connect(&mut self) -> Result<TcpStream, Problem> {
        self.connection.open();
        self.outbox = Outbox::default();
        let timeout = self.spec.connect_timeout;
        let until = clock::now() + timeout;
        let connected = match &self.target {
            Target::Tcp(address) => TcpStream::connect_timeout(address, timeout),
            Target::Unix(path) => connect_unix(path, timeout).map(TcpStream::from),
        };
        let failed = |error: io::Error| Problem::of_end(&CloseCause::ConnectFailed(error));
        let stream = connected.map_err(failed)?;
        if let Target::Tcp(_) = self.target {
            stream.set_nodelay(true).map_err(failed)?;
        }
        if let Some(tls) = &mut self.tls {
            tls.begin(&mut self.outbox, TOKEN).map_err(|cause| Problem::of_end(&cause))?;
            self.handshake_until = Some(until);
        }
        Ok(stream)
    }
}

/// Whether the server has left a connection open since its last answer.
fn is_open(stream: &TcpStream) -> bool {
    let seen = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let is_waiting = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
    let has_not_ended = matches!(seen, Ok(1)) || seen.is_err_and(|error| is_waiting(&error));
    has_not_ended && stream.set_nonblocking(false).is_ok()
}

/// Connects to a socket in the file system. Waits so long at most while its listener has no room for a connection.
fn connect_unix(path: &Path, timeout: Duration) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout))?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn a_connection_that_its_server_has_closed_is_not_used_again() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        assert!(is_open(&ours));
        theirs.write_all(b"SETTINGS").unwrap();
        assert!(is_open(&ours), "a server of HTTP/2 may say something unasked");
        (&ours).read_exact(&mut [0; 8]).unwrap();
        drop(theirs);
        assert!(!is_open(&ours));
    }
}
