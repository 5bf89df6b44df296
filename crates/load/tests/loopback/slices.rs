//! Slices over real sockets: load models, several workers, kept connections, cancellation.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use crate::support::{count, get, run, server, session, spec};
use tare_load::{
    Cancel, Check, LoadError, LoadSession, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule, Target, Watched,
};
use tare_reference::Options;
use tare_sys::affinity::{CpuSet, allowed_cpus};

fn open(rate_per_s: f64, millis: u64) -> SliceSpec {
    SliceSpec {
        schedule: Schedule::constant(rate_per_s),
        stop: StopRule::Duration(Duration::from_millis(millis)),
        ..count(0, 4)
    }
}

#[test]
fn connections_stay_open_from_slice_to_slice() {
    let server = server(Options::default());
    let mut session = session(server.address(), 4, vec![get()]);
    run(&mut session, &count(100, 4));
    let second = run(&mut session, &count(100, 4));
    assert_eq!((second.ok, second.connections_opened, second.connections_lost), (100, 0, 0));
}

#[test]
fn many_connections_are_all_open_before_the_slice_begins() {
    let server = server(Options::default());
    let mut session = session(server.address(), 300, vec![get()]);
    let first = run(&mut session, &SliceSpec { connections: 300, ..count(600, 4) });
    assert_eq!((first.ok, first.connections_opened, first.connections_lost), (600, 300, 0), "{:?}", first.errors);
    let second = run(&mut session, &SliceSpec { connections: 300, ..count(600, 4) });
    assert_eq!((second.ok, second.connections_opened), (600, 0), "{:?}", second.errors);
}

#[test]
fn a_slice_may_use_fewer_connections_than_the_session_has() {
    let server = server(Options::default());
    let mut session = session(server.address(), 4, vec![get()]);
    assert_eq!(run(&mut session, &count(20, 4)).ok, 20);
    assert_eq!(run(&mut session, &count(20, 1)).ok, 20);
    assert_eq!(run(&mut session, &count(20, 3)).ok, 20);
}

#[test]
fn an_open_slice_offers_exactly_its_schedule() {
    let server = server(Options::default());
    let mut session = session(server.address(), 4, vec![get()]);
    let mut slice = open(2000.0, 200);
    assert_eq!(run(&mut session, &slice).offered, 400);
    slice.discard_head = Duration::from_millis(50);
    let sample = run(&mut session, &slice);
    assert_eq!((sample.offered, sample.window_ns, sample.discarded_head_ns), (300, 150_000_000, 50_000_000));
}

#[test]
fn requests_of_a_set_take_turns() {
    let server = server(Options::default());
    let requests = (0..3).map(|n| {
        let body = format!("{}", n + 1).into_bytes();
        RequestSpec::get(&format!("/path{n}/1")).expecting(Check::body_is(body))
    });
    let sample = run(&mut session(server.address(), 2, requests.collect::<Vec<_>>()), &count(31, 2));
    assert_eq!((sample.ok, sample.failed), (31, 0), "{:?}", sample.errors);
}

#[test]
fn a_cancelled_slice_is_a_usable_sample() {
    let server = server(Options::default());
    let mut session = session(server.address(), 4, vec![get()]);
    let cancel = Cancel::new();
    cancel.cancel();
    let sample = session.run(&open(1000.0, 60_000), &cancel).unwrap();
    assert!(sample.cancelled && sample.offered == sample.ok + sample.failed);
}

#[test]
fn planted_delays_are_seen_and_never_undercut() {
    let server = server(Options { delay_us: 3000, slow_share: 0.1, slow_us: 20_000, ..Options::default() });
    let sample = run(&mut session(server.address(), 4, vec![get()]), &count(200, 4));
    assert!(sample.service.min_ns().unwrap() >= 3_000_000 * 999 / 1000);
    assert!(sample.service.count_above_ns(19_900_000) >= 20, "every tenth takes 20 ms");
}

#[test]
fn a_frozen_server_is_felt_by_all_who_should_have_been_served() {
    let server = server(Options { stall_every_s: 0.15, stall_ms: 100, ..Options::default() });
    let sample = run(&mut session(server.address(), 4, vec![get()]), &open(1000.0, 400));
    assert_eq!(sample.offered, 400);
    // At least one whole stall is within the slice. Requests of its first half waited for 50 ms or more.
    let late = sample.response.count_above_ns(50_000_000);
    assert!(late >= 40 && sample.response.max_ns().unwrap() >= 90_000_000);
    // Only requests under way had a long service time.
    assert!(sample.service.count_above_ns(50_000_000) <= late / 2);
}

#[test]
fn workers_share_connections_and_counts() {
    let server = server(Options::default());
    let allowed = allowed_cpus().unwrap();
    let cpus = CpuSet::from_indices(allowed.iter().take(2));
    let workers = cpus.len();
    let mut session = LoadSession::open(&SessionSpec {
        connections: 5,
        cpus,
        timeout: Duration::from_secs(5),
        congestion: Some("reno".to_owned()),
        ..spec(server.address(), vec![get()])
    })
    .unwrap();
    assert_eq!(session.congestion.as_deref(), Some("reno"));
    let sample = run(&mut session, &count(501, 5));
    assert_eq!((sample.ok, sample.workers as usize), (501, workers));
    assert_eq!(run(&mut session, &SliceSpec { connections: 5, ..open(1000.0, 100) }).offered, 100);
}

#[test]
fn contradictory_specifications_say_what_to_change() {
    let server = server(Options::default());
    let mut session = session(server.address(), 2, vec![get()]);
    let refused = |session: &mut LoadSession, slice: SliceSpec| {
        let error = session.run(&slice, &Cancel::new()).unwrap_err();
        assert!(matches!(error, LoadError::Spec { .. }), "{error}");
    };
    refused(&mut session, count(1, 3));
    refused(&mut session, count(1, 0));
    refused(&mut session, open(0.0, 100));
    refused(&mut session, open(f64::NAN, 100));
    refused(&mut session, SliceSpec { discard_head: Duration::from_secs(1), connections: 2, ..open(10.0, 100) });
}

#[test]
fn a_server_may_listen_in_the_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.socket");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        while stream.read(&mut request).is_ok_and(|count| count > 0) {
            assert!(request.starts_with(b"GET /path0/1 HTTP/1.1\r\nHost: localhost\r\n"));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1").unwrap();
        }
    });
    let mut session = LoadSession::open(&spec(Target::Unix(path), vec![get()])).unwrap();
    let sample = run(&mut session, &count(10, 1));
    assert_eq!((sample.ok, session.congestion.as_deref()), (10, None), "{:?}", sample.errors);
}

#[test]
fn what_the_intervals_brought_adds_up_to_the_slice() {
    let server = server(Options::default());
    let mut session = session(server.address(), 4, vec![get()]);
    let mut seen = (0, 0, 0);
    let slice = SliceSpec { trace: 10_000, ..open(2000.0, 600) };
    let whole = session
        .run_watched(&slice, Some(Duration::from_millis(50)), &Cancel::new(), None, &mut |watched| {
            if let Watched::Interval(part) = watched {
                seen = (seen.0 + 1, seen.1 + part.ok, seen.2 + part.window_ns);
                assert_eq!(part.trace.len() as u64, part.offered, "each part has the times of its requests");
            }
        })
        .unwrap();
    assert!(whole.trace.is_empty(), "a load of hours would fill the memory");
    assert!(seen.0 >= 3, "{} intervals", seen.0);
    assert_eq!((seen.1, seen.2), (whole.ok, whole.window_ns));
    assert_eq!(whole.offered, 1200, "whatever became of them");
}
