//! How connections over real sockets end: one for each request, early answers, and bytes that nobody asked for.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tare_load::{Check, ErrorClass, RequestSpec};

use crate::support::{count, crude_server, exhaust, get, read_head, run, session};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1";

fn closing() -> RequestSpec {
    get().header("Connection", "close")
}

/// A server that counts its connections, and treats each in the same way.
fn counting(treat: impl Fn(TcpStream) + Send + Clone + 'static) -> (SocketAddr, Arc<AtomicU64>) {
    let accepted = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&accepted);
    let address = crude_server(move |stream| {
        counter.fetch_add(1, Ordering::Relaxed);
        treat(stream);
    });
    (address, accepted)
}

#[test]
fn requests_that_announce_close_use_a_connection_each_whatever_the_server_says() {
    let keeps = |mut stream: TcpStream| {
        while read_head(&mut stream).is_some() {
            let _ = stream.write_all(ANSWER);
        }
    };
    let closes = |mut stream: TcpStream| {
        let _ = read_head(&mut stream);
        let _ = stream.write_all(ANSWER);
    };
    for (address, accepted) in [counting(keeps), counting(closes)] {
        let sample = run(&mut session(address, 2, vec![closing()]), &count(20, 2));
        assert_eq!((sample.ok, sample.failed, sample.connections_lost), (20, 0, 0), "{:?}", sample.errors);
        // Each user may have opened one more, for a request that the other one sent.
        assert!((20..=22).contains(&sample.connections_opened), "{}", sample.connections_opened);
        assert!(accepted.load(Ordering::Relaxed) >= 20);
    }
}

#[test]
fn an_end_that_comes_with_an_answer_fails_no_request() {
    let address = crude_server(|mut stream| {
        let _ = read_head(&mut stream);
        // One segment carries both.
        let _ = rustix::net::send(&stream, ANSWER, rustix::net::SendFlags::MORE);
    });
    let sample = run(&mut session(address, 2, vec![get()]), &count(20, 2));
    assert_eq!((sample.ok, sample.failed), (20, 0), "{:?}", sample.errors);
}

#[test]
fn an_early_answer_is_read_although_the_server_reads_no_further() {
    for answer in [
        &b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"[..],
        b"HTTP/1.1 413 Too Large\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nno\r\n0\r\n\r\n",
    ] {
        let address = crude_server(move |mut stream| {
            let _ = read_head(&mut stream);
            let _ = stream.write_all(answer);
        });
        let body: Arc<[u8]> = vec![b'x'; 8 << 20].into();
        let request = RequestSpec::post("/", body).expecting(Check::status(413)).expecting(Check::body_is(*b"no"));
        let sample = run(&mut session(address, 4, vec![request]), &count(40, 4));
        assert_eq!((sample.ok, sample.failed), (40, 0), "{:?}", sample.errors);
    }
}

#[test]
fn an_upload_that_breaks_without_an_answer_fails() {
    let address = crude_server(|mut stream| drop(read_head(&mut stream)));
    let request = RequestSpec::post("/", vec![b'x'; 8 << 20]);
    let sample = run(&mut session(address, 2, vec![request]), &count(6, 2));
    assert_eq!((sample.ok, sample.failed), (0, 6), "{:?}", sample.errors);
    let classes: Vec<ErrorClass> = sample.errors.iter().map(|(class, _)| class).collect();
    assert!(classes.iter().all(|class| matches!(class, ErrorClass::Write | ErrorClass::Read)), "{classes:?}");
}

#[test]
fn an_answer_before_the_body_was_read_keeps_the_connection() {
    const LENGTH: usize = 3 << 20;
    let address = crude_server(|mut stream| {
        while read_head(&mut stream).is_some() {
            let _ = stream.write_all(ANSWER);
            let mut body = vec![0; LENGTH];
            let _ = stream.read_exact(&mut body);
        }
    });
    let request = RequestSpec::post("/", vec![b'x'; LENGTH]).expecting(Check::body_is(*b"1"));
    let sample = run(&mut session(address, 1, vec![request]), &count(5, 1));
    assert_eq!((sample.ok, sample.connections_opened), (5, 1), "{:?}", sample.errors);
}

#[test]
fn what_stands_behind_an_answer_is_no_part_of_it() {
    for (behind, events) in [("\r\n", 0), ("\r\n\r\n", 0), ("!!", 4)] {
        for fields in ["", "Connection: close\r\n"] {
            let answer = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 1\r\n\r\n1{behind}");
            let address = crude_server(move |mut stream| {
                let _ = read_head(&mut stream);
                let _ = stream.write_all(answer.as_bytes());
                let _ = stream.shutdown(Shutdown::Write);
                exhaust(stream);
            });
            let sample = run(&mut session(address, 1, vec![closing()]), &count(4, 1));
            let found = sample.connection_events.for_class(ErrorClass::Protocol).count;
            assert_eq!((sample.ok, sample.failed, found), (4, 0, events), "{fields}{behind:?}: {:?}", sample.errors);
        }
    }
}
