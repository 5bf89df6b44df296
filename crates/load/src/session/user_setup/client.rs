//! The connection of one user during its set-up: the protocols of the load, over a blocking socket.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};
use rustls::{ClientConnection, StreamOwned};
use tare_sample::ErrorClass;
use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{CloseCause, Token};
use tare_sys::socket::Target;

use crate::input::request::{Parts, RequestSet};
use crate::problem::Problem;
use crate::protocol::Protocol;
use crate::protocol::answer::Taken;
use crate::protocol::connection::{Connection, Exchange, Step};
use crate::protocol::offline::Outbox;
use crate::protocol::tls::{Security, explain_io};
use crate::recorder::Times;
use crate::session::spec::SessionSpec;

const TOKEN: Token = Token(0);

/// One connection at a time, reused as long as the server allows.
pub(super) struct Client<'a> {
    spec: &'a SessionSpec,
    target: Target,
    security: Option<&'a Security>,
    requests: &'a RequestSet,
    connection: Connection,
    stream: Option<Box<dyn BlockingStream>>,
}

trait BlockingStream: Read + Write {
    fn set_timeout(&self, timeout: Duration) -> io::Result<()>;
}

impl BlockingStream for TcpStream {
    fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(timeout))?;
        self.set_write_timeout(Some(timeout))
    }
}

impl BlockingStream for UnixStream {
    fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(timeout))?;
        self.set_write_timeout(Some(timeout))
    }
}

impl<S: BlockingStream> BlockingStream for StreamOwned<ClientConnection, S> {
    fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.sock.set_timeout(timeout)
    }
}

impl<'a> Client<'a> {
    /// No connection yet. Users alternate between the addresses of the server.
    pub(super) fn new(
        spec: &'a SessionSpec,
        protocol: Protocol,
        security: Option<&'a Security>,
        requests: &'a RequestSet,
        user: usize,
    ) -> Self {
        let targets = spec.targets();
        Self {
            spec,
            target: targets[user % targets.len()].clone(),
            security,
            requests,
            connection: Connection::new(protocol, &spec.base().into()),
            stream: None,
        }
    }

    pub(super) fn ask(&mut self, request: usize, parts: Parts) -> Result<Box<Taken>, Problem> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        let deadline = clock::now() + self.spec.timeout;
        let exchange = Exchange::new(request, Times { intended: clock::now(), ..Times::default() }, deadline);
        let mut outbox = Outbox::default();
        self.connection.begin_parts(&mut outbox, TOKEN, exchange, Arc::new(parts));
        let answer = self.converse(&mut *stream, &mut outbox, deadline)?;
        if !self.connection.is_retired() {
            self.stream = Some(stream);
        }
        Ok(answer)
    }

    /// Sends what the connection has to send and reads, until the answer is complete.
    fn converse(
        &mut self,
        stream: &mut dyn BlockingStream,
        outbox: &mut Outbox,
        deadline: Nanos,
    ) -> Result<Box<Taken>, Problem> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            self.connection.flush(outbox, TOKEN);
            let left = Duration::from_nanos(deadline.since(clock::now()));
            if left.is_zero() {
                return Err(Problem::new(ErrorClass::Timeout, "no complete answer until the deadline"));
            }
            stream.set_timeout(left).map_err(|error| problem_of_io(error, Ok(())))?;
            // A server that refuses a body early may have answered already.
            let written = outbox.0.drain(..).try_for_each(|bytes| stream.write_all(&bytes));
            let written = written.and_then(|()| stream.flush());
            let count = stream.read(&mut buffer).map_err(|error| problem_of_io(error, written))?;
            let is_broken = count == 0 && !self.connection.completes_answer(&CloseCause::EndOfStream);
            let step = if is_broken {
                Step::Broken(self.connection.problem_of_end(&CloseCause::EndOfStream))
            } else {
                self.connection.receive(&mut &buffer[..count], self.requests)
            };
            match step {
                Step::More => {}
                Step::Finished(mut exchange, None) => return Ok(exchange.answer.take_kept()),
                Step::Finished(_, Some(problem)) | Step::Broken(problem) => return Err(problem),
                _ => return Err(Problem::new(ErrorClass::Read, "the server did not process the request")),
            }
        }
    }

    fn connect(&mut self) -> Result<Box<dyn BlockingStream>, Problem> {
        self.connection.open();
        let failed = |error: io::Error| Problem::of_end(&CloseCause::ConnectFailed(error));
        match &self.target {
            Target::Tcp(address) => {
                let socket = TcpStream::connect_timeout(address, self.spec.connect_timeout).map_err(failed)?;
                socket.set_nodelay(true).map_err(failed)?;
                self.secure(socket)
            }
            Target::Unix(path) => self.secure(connect_unix(path, self.spec.connect_timeout).map_err(failed)?),
        }
    }

    fn secure(&self, mut socket: impl BlockingStream + 'static) -> Result<Box<dyn BlockingStream>, Problem> {
        let Some(security) = self.security else { return Ok(Box::new(socket)) };
        let failed = |error: io::Error| Problem::new(ErrorClass::Tls, explain_io(&error));
        socket.set_timeout(self.spec.connect_timeout).map_err(failed)?;
        let mut connection = security.begin().map_err(|error| failed(io::Error::other(error)))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(failed)?;
        }
        match security.disagreement(&connection) {
            Some(refused) => Err(Problem::new(ErrorClass::Tls, refused)),
            None => Ok(Box::new(StreamOwned::new(connection, socket))),
        }
    }
}

/// Connects to a socket in the file system. Waits so long at most while its listener has no room for a connection.
fn connect_unix(path: &Path, timeout: Duration) -> io::Result<UnixStream> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout))?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

/// The problem of a read that failed, and of the write before it.
fn problem_of_io(read: io::Error, written: io::Result<()>) -> Problem {
    match (read.kind(), written) {
        (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, _) => {
            Problem::new(ErrorClass::Timeout, "no complete answer until the deadline")
        }
        (_, Err(error)) => Problem::of_end(&CloseCause::WriteFailed(error)),
        (_, Ok(())) => Problem::of_end(&CloseCause::ReadFailed(read)),
    }
}
