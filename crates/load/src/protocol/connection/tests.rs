//! Answers to pipelined requests, in pieces of any size.

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::payload::Payload;
use tare_sys::poll::{CloseCause, Sending, Token, Transport};
use tare_sys::socket::{SocketOptions, Target};

use super::{Connection, Exchange, Step};
use crate::input::check::Check;
use crate::input::request::{RequestSet, RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::recorder::Times;
use crate::schedule::Share;

const ANSWERS: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\
    HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n\
    HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n\
    HTTP/1.1 200 OK\r\n\r\nok";

/// A transport that accepts all bytes and receives none.
struct Nowhere;

impl Transport for Nowhere {
    fn connect(&mut self, _: Token, _: &Target, _: &SocketOptions) {}

    fn send(&mut self, _: Token, _: &Payload) -> Sending {
        Sending::Accepted
    }

    fn close(&mut self, _: Token) {}
}

/// Feeds the pieces to four requests under way, then ends the connection. Returns the intended start of each finished
/// request, in order, and the class of its problem.
fn finished<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<(u64, Option<ErrorClass>)> {
    let list = vec![RequestSpec::get("/").expecting(Check::body_is(*b"ok")).expecting(Check::status(200))];
    let requests = RequestSet::encode("localhost", &Requests::of(list)).unwrap();
    let mut cursor = requests.cursor(Share { worker: 0, workers: 1 });
    let mut connection = Connection::new(Protocol::Http1 { pipeline: 4 }, &"http://localhost".into());
    connection.open();
    for number in 0..4 {
        let request = cursor.next().unwrap();
        let times = Times { intended: Nanos(number), sent: Some(Nanos(number)), blocked_until: None };
        connection.begin(&mut Nowhere, Token(0), Exchange::new(request, times, Nanos::MAX), &mut cursor);
    }
    let mut all = Vec::new();
    for mut piece in pieces {
        loop {
            match connection.receive(&mut piece, &requests) {
                Step::More => break,
                Step::Finished { times, problem } => all.push((times.intended.0, problem.map(|problem| problem.class))),
                other => panic!("{other:?}"),
            }
        }
    }
    let (times, problem) = connection.end(&CloseCause::EndOfStream, &requests).finished.expect("a body until the end");
    all.push((times.intended.0, problem.map(|problem| problem.class)));
    assert_eq!(connection.under_way(), 0);
    all
}

#[test]
fn answers_go_to_their_requests_wherever_they_are_cut() {
    let expected = [(0, None), (1, None), (2, Some(ErrorClass::Status)), (3, None)];
    for cut in 0..=ANSWERS.len() {
        let (first, second) = ANSWERS.split_at(cut);
        assert_eq!(finished([first, second].into_iter()), expected, "cut at {cut}");
    }
    assert_eq!(finished(ANSWERS.chunks(1)), expected, "in single bytes");
}

/// The problem of one request whose answer arrives in these pieces.
fn broken<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let requests = RequestSet::encode("localhost", &RequestSpec::get("/").into()).unwrap();
    let mut cursor = requests.cursor(Share { worker: 0, workers: 1 });
    let mut connection = Connection::new(Protocol::default(), &"http://localhost".into());
    connection.open();
    let request = cursor.next().unwrap();
    connection.begin(&mut Nowhere, Token(0), Exchange::new(request, Times::default(), Nanos::MAX), &mut cursor);
    for mut piece in pieces {
        match connection.receive(&mut piece, &requests) {
            Step::More => {}
            Step::Broken(problem) => return problem.text,
            other => panic!("{other:?}"),
        }
    }
    panic!("the answer is not broken")
}

#[test]
fn the_example_of_a_broken_answer_begins_with_its_first_byte() {
    for raw in [
        &b"HTTP/1.1 2x0 OK\r\n"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    ] {
        let whole = broken([raw].into_iter());
        for cut in 1..raw.len() {
            let (first, second) = raw.split_at(cut);
            let text = broken([first, second].into_iter().filter(|piece| !piece.is_empty()));
            let quoted = text.split_once('"').unwrap().1;
            assert!(quoted.starts_with("HTTP/1.1 2"), "cut at {cut}: {text}");
            assert_eq!(text.split('"').next(), whole.split('"').next());
        }
    }
}
