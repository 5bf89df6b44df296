//! Unary calls of gRPC over real sockets: right and wrong answers, and ends of connections in the middle.

use h2::server::Builder;
use http::{HeaderMap, Response};
use tare_load::{Check, ErrorClass, GrpcCode, LoadSession, Protocol, RequestSpec, SessionSpec};

use crate::http2::{Server, drive, server, spec};
use crate::http2_raw::{self, Answer, DATA, END_STREAM, drive_streams, drive_with, head, trailers};

const GRPC: (&str, &str) = ("content-type", "application/grpc");
const OK: &[(&str, &str)] = &[("grpc-status", "0")];
/// The message `1` in its frame.
const ONE: &[u8] = b"\0\0\0\0\x011";

fn call() -> RequestSpec {
    RequestSpec::call("/test.Service/Get", b"")
}

fn data(stream: u32, bytes: &[u8]) -> Vec<u8> {
    http2_raw::frame(DATA, 0, stream, bytes)
}

fn reply(stream: u32, bytes: &[u8], status: &[(&str, &str)]) -> Vec<u8> {
    [head(stream, 0, &[GRPC]), data(stream, bytes), trailers(stream, status)].concat()
}

#[test]
fn calls_are_answered_by_a_message_and_a_status() {
    for piece in [usize::MAX, 1] {
        let (address, _) = http2_raw::server(|stream| reply(stream, ONE, OK), piece);
        let sample = drive_streams(4, call(), address, 40);
        assert_eq!((sample.ok, sample.failed, sample.connections_opened), (40, 0, 1), "{:?}", sample.errors);
    }
}

#[test]
fn what_is_no_right_answer_is_a_failure_of_the_server_in_its_class() {
    const DOWN: &[(&str, &str)] = &[("grpc-status", "14"), ("grpc-message", "try%20later")];
    let cases: [(Answer, ErrorClass, &str); 8] = [
        (|s| reply(s, b"", DOWN), ErrorClass::Status, "grpc-status 14 UNAVAILABLE instead of 0 OK: \"try later\""),
        (
            |s| head(s, END_STREAM, &[GRPC, ("grpc-status", "12")]),
            ErrorClass::Status,
            "grpc-status 12 UNIMPLEMENTED instead of 0 OK",
        ),
        (|s| reply(s, b"\x01\0\0\0\x01x", OK), ErrorClass::Protocol, "the message is compressed, although"),
        (|s| reply(s, b"\0\xff\0\0\0", OK), ErrorClass::Protocol, "the message has 4278190080 bytes, and at most"),
        (|s| reply(s, b"\0\0\0\0\x021", OK), ErrorClass::Protocol, "the answer ended after 1 of the 2 bytes"),
        (|s| reply(s, &[ONE, ONE].concat(), OK), ErrorClass::Protocol, "bytes follow the message"),
        (
            |s| [head(s, 0, &[("content-type", "text/html")]), http2_raw::body(s)].concat(),
            ErrorClass::Protocol,
            "content-type \"text/html\" instead of application/grpc",
        ),
        (|s| reply(s, b"\0\0\0\0\x012", OK), ErrorClass::Validation, "body differs at byte 0"),
    ];
    for (answer, class, text) in cases {
        let (address, _) = http2_raw::server(answer, usize::MAX);
        let sample = drive_with(call(), address, 3);
        let failed = sample.errors.for_class(class);
        assert!(failed.count == 3 && failed.example.starts_with(text), "{text}: {:?}", sample.errors);
        assert_eq!((sample.failed, sample.connections_lost), (3, 0), "{text}");
    }
}

#[test]
fn another_status_may_be_the_expected_one() {
    let missing: Answer = |s| head(s, END_STREAM, &[GRPC, ("grpc-status", "5")]);
    let (address, _) = http2_raw::server(missing, usize::MAX);
    let requests = vec![call().expecting(Check::grpc_status(GrpcCode(5)))].into();
    let sample = drive(&SessionSpec { requests, ..spec(address, 1, 2) }, 10);
    assert_eq!((sample.ok, sample.failed), (10, 0), "{:?}", sample.errors);
}

/// Answers calls, and says goodbye after five on a connection.
async fn answer_five(mut connection: Server) -> Option<()> {
    let mut served = 0;
    while let Some(Ok((_, mut answering))) = connection.accept().await {
        served += 1;
        if served == 5 {
            connection.graceful_shutdown();
        }
        let head = Response::builder().header(GRPC.0, GRPC.1).body(()).unwrap();
        let mut sending = answering.send_response(head, false).ok()?;
        sending.send_data(ONE.into(), false).ok()?;
        let status = HeaderMap::from_iter([("grpc-status".parse().unwrap(), "0".parse().unwrap())]);
        sending.send_trailers(status).ok()?;
    }
    None
}

#[test]
fn goodbyes_and_few_streams_in_the_middle_lose_no_call() {
    let mut builder = Builder::new();
    builder.max_concurrent_streams(2);
    let address = server(builder, answer_five);
    let requests = vec![call().expecting(Check::body_is(*b"1"))].into();
    let sample = drive(&SessionSpec { requests, ..spec(address, 2, 8) }, 100);
    assert_eq!((sample.ok, sample.failed), (100, 0), "{:?}", sample.errors);
    assert!(sample.connections_opened >= 10, "{}", sample.connections_opened);
}

#[test]
fn calls_need_http2() {
    let (_, address) = crate::support::held_address();
    let spec = SessionSpec { protocol: Protocol::Http1 { pipeline: 1 }, ..crate::support::spec(address, vec![call()]) };
    let error = LoadSession::open(&spec).err().unwrap().to_string();
    assert_eq!(error, "calls of gRPC over HTTP/1.1; speak HTTP/2 with the server");
}
