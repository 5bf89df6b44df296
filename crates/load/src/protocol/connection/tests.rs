//! Answers to pipelined requests, in pieces of any size.

use RequestEnd::{Answered, Failed};
use proptest::prelude::*;
use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::{CloseCause, Token};

use super::{Connection, Exchange, Step};
use crate::input::check::Check;
use crate::input::request::{RequestSet, RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::protocol::offline::{OfflineOutcome, Outbox, RequestEnd, outcome_of_bytes};
use crate::recorder::Times;
use crate::schedule::Share;

const ANSWERS: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\
    HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n\
    HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n\
    HTTP/1.1 200 OK\r\n\r\nok";

/// Streams are put together from these pieces: answers, parts of answers, and what stands between them.
const PIECES: [&str; 16] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nA: b\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: a\r\n b\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.2 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
    "\r\n",
    "\n",
    "\r",
    "ok",
    "2\r\n",
];

/// Feeds the pieces to four requests under way, then ends the connection.
fn outcome<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> OfflineOutcome {
    let request = RequestSpec::get("/").expecting(Check::body_is(*b"ok")).expecting(Check::status(200));
    outcome_of_bytes(Protocol::Http1 { pipeline: 4 }, &Requests::of(vec![request]), pieces).unwrap()
}

#[test]
fn answers_go_to_their_requests_wherever_they_are_cut() {
    let ends = [Answered, Answered, Failed(ErrorClass::Status), Answered];
    let expected = OfflineOutcome { ended: ends.into_iter().enumerate().collect(), broken: None };
    for cut in 0..=ANSWERS.len() {
        let (first, second) = ANSWERS.split_at(cut);
        assert_eq!(outcome([first, second].into_iter()), expected, "cut at {cut}");
    }
    assert_eq!(outcome(ANSWERS.chunks(1)), expected, "in single bytes");
}

/// The problem of one request whose answer arrives in these pieces.
fn broken<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let requests = RequestSet::encode("localhost", &RequestSpec::get("/").into()).unwrap();
    let mut cursor = requests.cursor(Share::WHOLE);
    let mut connection = Connection::new(Protocol::default(), &"http://localhost".into());
    connection.open();
    let request = cursor.next().unwrap();
    let exchange = Exchange::new(&requests, request, Times::default(), Nanos::MAX);
    connection.begin(&mut Outbox::default(), Token(0), exchange, &mut cursor);
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

#[test]
fn a_connection_that_ends_behind_an_answer_says_what_may_be_the_cause() {
    let requests = RequestSet::encode("localhost", &RequestSpec::get("/").into()).unwrap();
    let mut cursor = requests.cursor(Share::WHOLE);
    for (answers, cause, is_named) in [
        (0, CloseCause::EndOfStream, false),
        (1, CloseCause::EndOfStream, true),
        (2, CloseCause::ReadFailed(std::io::ErrorKind::ConnectionReset.into()), true),
        (1, CloseCause::WriteFailed(std::io::ErrorKind::BrokenPipe.into()), true),
        (1, CloseCause::TlsFailed("a wrong record".to_owned()), false),
    ] {
        let mut connection = Connection::new(Protocol::default(), &"http://localhost".into());
        connection.open();
        for number in 0..=answers {
            let request = cursor.next().unwrap();
            let exchange = Exchange::new(&requests, request, Times::default(), Nanos::MAX);
            connection.begin(&mut Outbox::default(), Token(0), exchange, &mut cursor);
            if number < answers {
                let mut answer = &b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"[..];
                assert!(matches!(connection.receive(&mut answer, &requests), Step::Finished(_, None)));
            }
        }
        let text = connection.problem_of_end(&cause).text;
        assert_eq!(text.contains("Connection: close"), is_named, "{cause:?} after {answers}: {text}");
    }
}

#[test]
fn a_request_that_may_be_redirected_is_encoded_once_and_leaves_with_others() {
    let list = Requests { follow: 5, ..Requests::of([RequestSpec::post("/", *b"abc")]) };
    let requests = RequestSet::encode("localhost", &list).unwrap();
    let mut cursor = requests.cursor(Share::WHOLE);
    let mut begin_both = |pipeline: u32, sent: &mut Outbox| {
        let mut connection = Connection::new(Protocol::Http1 { pipeline }, &"http://localhost".into());
        connection.open();
        [(); 2].map(|()| {
            let exchange = Exchange::new(&requests, 0, Times::default(), Nanos::MAX);
            let bytes = connection.begin_parts(sent, Token(0), exchange, cursor.parts(0));
            (bytes > 0, connection.wants_flush())
        })
    };
    let mut sent = Outbox::default();
    begin_both(1, &mut sent);
    assert_eq!(sent.0[0][..], requests.first_requests(1)[0][..]);
    assert_eq!(sent.0[0].as_ptr(), sent.0[1].as_ptr());
    assert_eq!(begin_both(2, &mut sent), [(false, true), (false, false)], "both wait for one flush");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_same_stream_has_the_same_outcome_however_it_is_cut(
        picks in proptest::collection::vec(0..PIECES.len(), 0..8),
        length in 1_usize..40,
    ) {
        let stream = picks.iter().map(|pick| PIECES[*pick]).collect::<String>();
        let whole = outcome([stream.as_bytes()].into_iter().filter(|piece| !piece.is_empty()));
        prop_assert_eq!(&outcome(stream.as_bytes().chunks(1)), &whole, "in single bytes: {:?}", stream);
        prop_assert_eq!(&outcome(stream.as_bytes().chunks(length)), &whole, "in {} bytes: {:?}", length, stream);
    }
}
