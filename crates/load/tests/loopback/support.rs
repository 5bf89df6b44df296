//! What the tests against real sockets share: a planted server, a session on it, a short slice.

use std::net::SocketAddr;
use std::time::Duration;

use tare_load::{Cancel, Check, LoadSession, RequestSpec, Schedule, SessionSpec, SliceSample, SliceSpec, StopRule};
use tare_reference::{Fault, FaultKind, Options, Running};

pub fn planted(kind: FaultKind, after: u64) -> Running {
    server(Options { fault: Some(Fault { kind, after }), ..Options::default() })
}

pub fn server(options: Options) -> Running {
    Running::start(options, || ()).unwrap()
}

/// `GET /path0/1`, whose answer is `1`.
pub fn get() -> RequestSpec {
    RequestSpec::get("/path0/1").expecting(Check::body_is(*b"1"))
}

pub fn session(target: SocketAddr, connections: usize, requests: Vec<RequestSpec>) -> LoadSession {
    LoadSession::open(&SessionSpec {
        connections,
        timeout: Duration::from_millis(300),
        connect_timeout: Duration::from_millis(300),
        ..SessionSpec::new(target, requests)
    })
    .unwrap()
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
    assert!(sample.errors.total() >= sample.failed);
    sample
}

/// Reads up to the end of a request's head; `None` when the client has gone.
pub fn read_head(stream: &mut impl std::io::Read) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    Some(head)
}
