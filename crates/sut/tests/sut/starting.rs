//! What is said of servers that do not start as their suite says, and two answers of one that has just begun.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_plan::contract::Contract;
use tare_sut::contract::{TwoAnswers, ask_twice};
use tare_sut::server::{Server, ServerSpec};

use crate::server::HELPER;
use crate::spec::announcing;

static NEVER: AtomicBool = AtomicBool::new(false);

fn start_error(command: [&str; 3], change: impl Fn(&mut ServerSpec)) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = announcing(command, directory.path().join("server.log"));
    spec.startup_timeout = Duration::from_millis(400);
    change(&mut spec);
    Server::start(&spec, &NEVER).unwrap_err().to_string()
}

#[test]
fn a_server_on_another_port_than_it_is_given_is_told_with_its_port() {
    // The helper takes any free port, and not the one of its variable.
    let text = start_error([HELPER, "listens", "0"], |spec| {
        spec.ready = None;
        spec.env.insert("PORT".into(), "{port}".into());
    });
    assert!(text.contains("no program listens on port ") && text.contains("; it listens on 127.0.0.1:"), "{text}");
    assert!(text.contains(": does it read its port?") && !text.contains("ready rule"), "{text}");
}

#[test]
fn a_line_without_an_end_is_shown_where_no_line_matched() {
    let text = start_error(["sh", "-c", "printf 'listening on 80'; sleep 1000"], |_| {});
    assert!(text.contains("no line matched") && text.ends_with("\n  | listening on 80"), "{text}");
}

#[test]
fn a_server_that_goes_to_the_background_is_to_stay() {
    let text = start_error(["sh", "-c", "exit 0"], |_| {});
    assert!(text.contains("(exit code 0); if it went into the background, keep it in the foreground"), "{text}");
    assert!(!start_error(["sh", "-c", "exit 1"], |_| {}).contains("background"));
}

/// Asks a server twice that gives one of these statuses after the other, and then the last again.
fn asked(statuses: &'static [u16]) -> Result<TwoAnswers, String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (stream, at) in listener.incoming().flatten().zip(0..) {
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let status = statuses.get(at).or(statuses.last()).unwrap();
            let _ = write!(&stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    let text = "schema = 1\n[[checks]]\nname = \"a\"\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";
    let exchange = Contract::parse("contract.toml", text).unwrap().exchanges("x", 1).next().unwrap();
    ask_twice(address, &exchange.request, Duration::from_secs(5))
}

#[test]
fn a_status_that_changes_while_a_server_begins_is_not_taken_for_its_own() {
    assert_eq!(asked(&[503, 200]).unwrap().status, 200);
    assert_eq!(asked(&[404]).unwrap().status, 404);
    let says = "it answers with status 503, and a second later with 200";
    assert_eq!(asked(&[200, 503, 200]).unwrap_err(), says);
}
