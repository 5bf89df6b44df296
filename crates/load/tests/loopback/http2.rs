//! HTTP/2 over real sockets: several streams per connection, flow control, and ends of streams and connections.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::{Request, Response};
use rustls::{ServerConnection, StreamOwned};
use tare_load::{
    Check, ErrorClass, LoadSession, Protocol, RequestSpec, Schedule, SessionSpec, SliceSample, SliceSpec, TlsSpec,
    TlsTrust,
};
use tokio::net::TcpStream;

use crate::certificates::{Authority, Validity};
use crate::http2_raw::{self, Answer, END_STREAM, GOAWAY, HEADERS, SETTINGS, frame, head};
use crate::support::{self, count, get, run};

pub type Server = Connection<TcpStream, Bytes>;
pub type Answering = SendResponse<Bytes>;

/// A server that runs `serve` for every connection, one thread for all.
pub fn server<F>(builder: Builder, serve: impl Fn(Server) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = Option<()>> + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                if let Ok(connection) = builder.handshake(socket).await {
                    tokio::task::spawn_local(serve(connection));
                }
            }
        });
    });
    address
}

/// Answers every request in the same way, all of one connection at the same time.
pub fn each<F>(treat: impl Fn(Request<RecvStream>, Answering) -> F + Clone + Send + 'static) -> SocketAddr
where
    F: Future<Output = Option<()>> + 'static,
{
    server(Builder::new(), move |mut connection| {
        let treat = treat.clone();
        async move {
            while let Some(Ok((request, answering))) = connection.accept().await {
                tokio::task::spawn_local(treat(request, answering));
            }
            None
        }
    })
}

fn answer(mut answering: Answering, status: u16, body: &'static [u8]) -> Option<()> {
    let head = Response::builder().status(status).header("x-served-by", "tests").body(()).unwrap();
    answering.send_response(head, body.is_empty()).ok()?.send_data(Bytes::from_static(body), true).ok()
}

pub fn spec(address: SocketAddr, connections: usize, streams: u32) -> SessionSpec {
    SessionSpec { protocol: Protocol::Http2 { streams }, connections, ..support::spec(address, vec![get()]) }
}

pub fn drive(spec: &SessionSpec, requests: u64) -> SliceSample {
    run(&mut LoadSession::open(spec).unwrap(), &count(requests, spec.connections))
}

#[test]
fn streams_share_connections_that_stay_from_slice_to_slice() {
    let address = each(|_, answering| async { answer(answering, 200, b"1") });
    let mut session = LoadSession::open(&spec(address, 2, 10)).unwrap();
    let first = run(&mut session, &count(1000, 2));
    assert_eq!((first.ok, first.connections_opened, first.connections_lost), (1000, 2, 0), "{:?}", first.errors);
    let second = run(&mut session, &count(1000, 2));
    assert_eq!((second.ok, second.connections_opened), (1000, 0), "{:?}", second.errors);
}

#[test]
fn requests_arrive_as_they_were_written() {
    let address = each(|request, answering| async move {
        let (head, mut body) = request.into_parts();
        let mut length = 0;
        while let Some(Ok(bytes)) = body.data().await {
            length += bytes.len();
        }
        let fits = head.method == "POST"
            && head.uri.path_and_query()? == "/echo?a=b"
            && head.uri.authority()? == "tare.example"
            && head.headers.get("x-a")? == "b"
            && head.headers.get("content-length")? == "3"
            && !head.headers.contains_key("connection")
            && length == 3;
        answer(answering, if fits { 200 } else { 400 }, b"1")
    });
    let mut request = RequestSpec::post("/echo?a=b", *b"abc");
    request.headers = [("X-A", "b"), ("Host", "tare.example"), ("Connection", "keep-alive")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let sample = drive(&SessionSpec { requests: request.into(), ..spec(address, 1, 2) }, 10);
    assert_eq!(sample.ok, 10, "{:?}", sample.errors);
}

#[test]
fn answers_are_checked_as_they_are_over_http1() {
    for (status, body, expected) in [
        (200, &b"1"[..], None),
        (500, b"1", Some(ErrorClass::Status)),
        (200, b"2", Some(ErrorClass::Validation)),
        (200, b"", Some(ErrorClass::Validation)),
    ] {
        let address = each(move |_, answering| async move { answer(answering, status, body) });
        let request = get().expecting(Check::header_is("X-Served-By", "tests"));
        let sample = drive(&SessionSpec { requests: request.into(), ..spec(address, 1, 3) }, 6);
        let found = sample.errors.iter().next().map(|(class, tally)| (class, tally.count));
        assert_eq!(found, expected.map(|class| (class, 6)), "{:?}", sample.errors);
        assert_eq!(sample.connections_lost, 0);
    }
}

#[test]
fn large_bodies_go_both_ways_through_small_windows() {
    const LENGTH: usize = 5 * 1024 * 1024;
    let address = each(|request, mut answering| async move {
        let mut body = request.into_body();
        let mut all = Vec::new();
        while let Some(Ok(bytes)) = body.data().await {
            body.flow_control().release_capacity(bytes.len()).ok()?;
            all.extend_from_slice(&bytes);
        }
        let mut sending = answering.send_response(Response::new(()), false).ok()?;
        sending.send_data(all.into(), true).ok()
    });
    let body: Arc<[u8]> = (0..LENGTH).map(|index| (index % 251) as u8).collect();
    let request = RequestSpec::post("/", Arc::clone(&body)).expecting(Check::body_is(body));
    let sample = drive(&SessionSpec { requests: request.into(), ..spec(address, 2, 2) }, 8);
    assert_eq!(sample.ok, 8, "{:?}", sample.errors);
    assert!(sample.bytes_out > 8 * LENGTH as u64 && sample.bytes_in > 8 * LENGTH as u64);
}

#[test]
fn a_stream_that_is_reset_fails_alone() {
    let address = each(|request, mut answering| async move {
        if request.uri().path() == "/path0/1" {
            return answer(answering, 200, b"1");
        }
        answering.send_reset(Reason::ENHANCE_YOUR_CALM);
        None
    });
    let requests = vec![get(), RequestSpec::get("/reset")].into();
    let sample = drive(&SessionSpec { requests, ..spec(address, 1, 2) }, 20);
    let reset = sample.errors.for_class(ErrorClass::Read);
    assert_eq!((sample.ok, reset.count, sample.connections_lost), (10, 10, 0), "{:?}", sample.errors);
    assert!(reset.example.contains("RST_STREAM") && reset.example.contains("server"), "{}", reset.example);
}

#[test]
fn a_stream_without_an_answer_times_out_alone() {
    let address = each(|request, answering| async move {
        if request.uri().path() == "/path0/1" {
            return answer(answering, 200, b"1");
        }
        std::future::pending().await
    });
    let requests = vec![get(), RequestSpec::get("/never")].into();
    let timeout = Duration::from_millis(500);
    let sample = drive(&SessionSpec { requests, timeout, ..spec(address, 1, 4) }, 16);
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Timeout).count), (8, 8), "{:?}", sample.errors);
    assert_eq!(sample.connections_opened, 1);
}

#[test]
fn a_connection_that_has_gone_silent_is_replaced() {
    let connections = Arc::new(AtomicUsize::new(0));
    let address = support::crude_server(move |mut stream| {
        let answers = connections.fetch_add(1, Ordering::Relaxed) > 0;
        let _ = stream.write_all(&frame(SETTINGS, 0, 0, &[]));
        let _ = stream.read_exact(&mut [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()]);
        while let Some((kind, id, _)) = http2_raw::receive(&mut stream) {
            if kind == HEADERS && answers {
                let _ = stream.write_all(&head(id, END_STREAM, &[]));
            }
        }
    });
    let requests = vec![RequestSpec::get("/")].into();
    let timeout = Duration::from_millis(500);
    let sample = drive(&SessionSpec { requests, timeout, ..spec(address, 1, 1) }, 6);
    let overdue = sample.errors.for_class(ErrorClass::Timeout).count;
    assert_eq!((sample.ok, overdue), (4, 2), "{:?}", sample.errors);
    assert_eq!((sample.connections_opened, sample.connections_lost), (2, 1));
}

#[test]
fn a_server_that_says_goodbye_loses_nothing() {
    let address = server(Builder::new(), |mut connection| async move {
        let mut served = 0;
        while let Some(Ok((_, answering))) = connection.accept().await {
            served += 1;
            if served == 5 {
                connection.graceful_shutdown();
            }
            answer(answering, 200, b"1");
        }
        None
    });
    let sample = drive(&spec(address, 1, 1), 50);
    assert_eq!((sample.ok, sample.failed), (50, 0), "{:?}", sample.errors);
    assert!(sample.connections_opened >= 5, "{}", sample.connections_opened);
}

/// As a server of gRPC whose connections have an age: it says at the fifth request that it takes no more, and never answers
/// the first.
const OF_AN_AGE: Answer = |stream| match stream {
    1 => Vec::new(),
    9 => [head(9, END_STREAM, &[]), frame(GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])].concat(),
    stream => head(stream, END_STREAM, &[]),
};

#[test]
fn users_go_on_while_an_ended_connection_waits_for_its_last_answer() {
    for schedule in [Schedule::Closed, Schedule::constant(50.0)] {
        let (address, _) = http2_raw::server(OF_AN_AGE, usize::MAX);
        let (requests, timeout) = (vec![RequestSpec::get("/")].into(), Duration::from_secs(3));
        let spec = SessionSpec { requests, timeout, ..spec(address, 1, 8) };
        let slice = SliceSpec { schedule, ..count(17, 1) };
        let sample = support::run(&mut LoadSession::open(&spec).unwrap(), &slice);
        assert_eq!((sample.failed, sample.ok), (sample.connections_opened, 17 - sample.failed), "{:?}", sample.errors);
        assert!(sample.connections_opened > 1);
        assert_eq!(sample.response.count_above_ns(1_500_000_000), 0, "nobody waits for another user's answer");
    }
}

/// Answers the first stream of a connection, and says that it will not process the others.
const ONLY_THE_FIRST: Answer = |stream| match stream {
    1 => [head(1, END_STREAM, &[]), frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])].concat(),
    _ => Vec::new(),
};

#[test]
fn streams_that_a_server_did_not_process_are_asked_again_elsewhere() {
    let (address, _) = http2_raw::server(ONLY_THE_FIRST, usize::MAX);
    let requests = vec![RequestSpec::get("/")].into();
    let sample = drive(&SessionSpec { requests, ..spec(address, 1, 3) }, 9);
    assert_eq!((sample.ok, sample.failed, sample.sent), (9, 0, 9), "{:?}", sample.errors);
    assert!((9..12).contains(&sample.connections_opened), "{}", sample.connections_opened);
}

#[test]
fn a_request_that_comes_back_again_and_again_fails() {
    let address = server(Builder::new(), |mut connection| async move {
        connection.abrupt_shutdown(Reason::NO_ERROR);
        std::future::poll_fn(|context| connection.poll_closed(context)).await.ok()
    });
    // Each time later than before: it takes two seconds.
    let sample = drive(&spec(address, 1, 1), 1);
    assert_eq!((sample.ok, sample.failed), (0, 1), "{:?}", sample.errors);
}

#[test]
fn a_server_that_goes_away_in_anger_fails_what_is_under_way() {
    let address = server(Builder::new(), |mut connection| async move {
        let _ = connection.accept().await;
        connection.abrupt_shutdown(Reason::INTERNAL_ERROR);
        std::future::poll_fn(|context| connection.poll_closed(context)).await.ok()
    });
    let sample = drive(&spec(address, 1, 3), 9);
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Read).count), (0, 9), "{:?}", sample.errors);
    assert!(sample.errors.for_class(ErrorClass::Read).example.contains("GOAWAY"), "{:?}", sample.errors);
}

#[test]
fn more_streams_than_a_server_allows_wait_for_one_another() {
    let mut builder = Builder::new();
    builder.max_concurrent_streams(2);
    let address = server(builder, |mut connection| async move {
        while let Some(Ok((_, answering))) = connection.accept().await {
            answer(answering, 200, b"1");
        }
        None
    });
    let sample = drive(&spec(address, 1, 16), 200);
    assert_eq!((sample.ok, sample.connections_opened), (200, 1), "{:?}", sample.errors);
}

#[test]
fn a_server_of_http1_breaks_the_protocol() {
    let address = support::crude_server(|mut stream| {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        support::exhaust(stream);
    });
    let sample = drive(&spec(address, 1, 2), 4);
    let broken = sample.errors.for_class(ErrorClass::Protocol);
    // The answer to the preface may arrive before any request.
    assert!(sample.ok == 0 && sample.failed == 4 && broken.count >= 4, "{:?}", sample.errors);
    let says = "the server answers in HTTP/1.1 (\"HTTP/1.1 400 Bad Request\"), and not in HTTP/2";
    assert_eq!(broken.example, says);
}

#[test]
fn a_connection_that_ends_is_a_read_error() {
    let address = support::crude_server(|mut stream| {
        let _ = stream.read(&mut [0; 1024]);
    });
    let sample = drive(&spec(address, 1, 2), 4);
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Read).count), (0, 4), "{:?}", sample.errors);
}

/// A TLS server that negotiates these protocols and speaks none of them.
fn secured(protocols: &[&[u8]]) -> SocketAddr {
    let mut config = Authority::new().issue("localhost", Validity::Now).server();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let config = Arc::new(config);
    support::crude_server(move |stream| {
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
        let _ = stream.read(&mut [0; 1024]);
    })
}

#[test]
fn over_tls_http2_is_agreed_upon_or_refused() {
    let tls = Some(TlsSpec { trust: TlsTrust::Any, ..TlsSpec::new("localhost") });
    for (protocols, class, says) in [
        (&[&b"http/1.1"[..]][..], ErrorClass::Tls, "that was asked for: add --http2, or leave it out"),
        (&[], ErrorClass::Tls, "does not agree to HTTP/2 (ALPN h2); let it offer h2, or"),
        (&[b"h2"], ErrorClass::Read, "closed"),
    ] {
        let sample = drive(&SessionSpec { tls: tls.clone(), ..spec(secured(protocols), 1, 1) }, 2);
        let failed = sample.errors.for_class(class);
        assert!(failed.count == sample.failed && failed.example.contains(says), "{:?}", sample.errors);
    }
}
