//! Shared code of the tests against real sockets: a planted server, a session on it, a short slice.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, sockopt};
use tare_load::{
    Cancel, Check, LoadSession, RequestSpec, Schedule, SessionSpec, SliceSample, SliceSpec, StopRule, Target,
};
use tare_reference::{FaultKind, Options, Running};

pub fn planted(kind: FaultKind, after: u64) -> Running {
    server(Options { fault: Some(kind), fault_after: after, ..Options::default() })
}

pub fn server(options: Options) -> Running {
    Running::start(options, || ()).unwrap()
}

/// `GET /path0/1`, which is answered by `1`.
pub fn get() -> RequestSpec {
    RequestSpec::get("/path0/1").expecting(Check::body_is(*b"1"))
}

/// The default settings, with enough time.
pub fn spec(target: impl Into<Target>, requests: Vec<RequestSpec>) -> SessionSpec {
    SessionSpec { timeout: TIMEOUT, connect_timeout: TIMEOUT, ..SessionSpec::new(target, requests) }
}

/// Longer than a server on this machine ever needs, however busy the machine is.
pub const TIMEOUT: Duration = Duration::from_secs(10);

pub fn session(target: SocketAddr, connections: usize, requests: Vec<RequestSpec>) -> LoadSession {
    session_that_waits(TIMEOUT, target, connections, requests)
}

/// A session whose requests fail after `timeout` without an answer.
pub fn session_that_waits(
    timeout: Duration,
    target: SocketAddr,
    connections: usize,
    requests: Vec<RequestSpec>,
) -> LoadSession {
    let spec = spec(target, requests);
    LoadSession::open(&SessionSpec { connections, timeout, ..spec }).unwrap()
}

pub fn count(requests: u64, connections: usize) -> SliceSpec {
    let stop = StopRule::Count { requests, at_most: Duration::from_secs(20) };
    SliceSpec::new(Schedule::Closed, connections, stop)
}

pub fn run(session: &mut LoadSession, slice: &SliceSpec) -> SliceSample {
    let sample = session.run(slice, &Cancel::new()).unwrap();
    assert_eq!(sample.offered, sample.ok + sample.failed, "nothing is left out: {:?}", sample.errors);
    assert_eq!(sample.response.len(), sample.ok);
    assert_eq!(sample.failed_time.len(), sample.failed);
    assert_eq!(sample.send_lag.len(), sample.sent);
    assert_eq!(sample.errors.total(), sample.failed, "each failure is in one class: {:?}", sample.errors);
    sample
}

/// The same on a session of its own, also of streams, whose events have other times.
pub fn drive(spec: &SessionSpec, slice: &SliceSpec) -> SliceSample {
    let sample = LoadSession::open(spec).unwrap().run(slice, &Cancel::new()).unwrap();
    assert_eq!(sample.offered, sample.ok + sample.failed, "nothing is left out: {:?}", sample.errors);
    assert_eq!(sample.errors.total(), sample.failed, "each failure is in one class: {:?}", sample.errors);
    sample
}

/// Reads up to the end of a request's head; `None` if the client is gone.
pub fn read_head(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(head)
}

/// An address at which nobody listens. While the socket is held, no other program gets its port.
pub fn held_address() -> (OwnedFd, SocketAddr) {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    // A server of the test may listen there too, as long as this socket does not.
    sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = rustix::net::getsockname(&socket).unwrap().try_into().unwrap();
    (socket, address)
}

/// A server that treats every connection in the same way and notices when the client is gone.
pub fn crude_server(treat: impl Fn(TcpStream) + Send + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let treat = treat.clone();
            thread::spawn(move || treat(stream));
        }
    });
    address
}

/// Reads until the client is gone.
pub fn exhaust(mut stream: TcpStream) {
    let mut unread = [0; 1024];
    while stream.read(&mut unread).is_ok_and(|count| count > 0) {}
}
