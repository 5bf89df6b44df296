//! Users who log in before the load: what their answers fill, what becomes of those who fail, and what is refused.

use std::collections::HashSet;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use bytes::Bytes;
use h2::server::Builder;
use http::Response;
use tare_load::{
    Body, Cancel, Check, ErrorClass, Feed, FeedFormat, LoadSession, Protocol, RequestSpec, Requests, Schedule,
    ServerClock, SessionSpec, SetupStep, SliceSample, SliceSpec, Target, TlsSpec, TlsTrust,
};
use tare_units::Span;

use super::{Got, Journal, answer, site};
use crate::http2;
use crate::support::{self, count};

/// A server that knows users by the token and the cookie of their login, and lets nobody in whose name begins with `bad`.
fn shop(closes: bool) -> (SocketAddr, Journal) {
    site(move |got| {
        let end = if closes { "Connection: close\r\n" } else { "" };
        if got.line == "POST /login" {
            let name = got.body.trim_start_matches("{\"user\": \"").trim_end_matches("\"}");
            if name.starts_with("bad") {
                return answer("401 Unauthorized", "", "{\"error\": \"no\"}");
            }
            let cookies = format!("Set-Cookie: sid=s-{name}; Path=/\r\nSet-Cookie: theme=dark\r\nX-Csrf: c-{name}\r\n");
            return answer("201 Created", &cookies, &format!("{{\"token\": \"t-{name}\"}}"));
        }
        let name = got.header("authorization").trim_start_matches("Bearer t-");
        let is_known = got.header("cookie") == format!("sid=s-{name}; theme=dark");
        let fits = is_known && got.header("x-csrf") == format!("c-{name}") && got.line.ends_with(name);
        answer(if fits { "200 OK" } else { "403 Forbidden" }, end, "")
    })
}

fn login() -> SetupStep {
    let body = Body::Json("{\"user\": \"{{user|json}}\"}".to_owned());
    let request = RequestSpec::post("/login", body).expecting(Check::status(201));
    let variables = [("token", "json $.token"), ("csrf", "header x-csrf")];
    let variables = variables.map(|(name, extract)| (name.to_owned(), extract.parse().unwrap()));
    SetupStep { request, variables: variables.into() }
}

/// A second request of the set-up, which needs what the first has filled.
fn visit() -> SetupStep {
    SetupStep { request: own_page("/first/{{user}}"), variables: Vec::new() }
}

fn own_page(path: &str) -> RequestSpec {
    RequestSpec::get(path).header("Authorization", "Bearer {{token}}").header("X-Csrf", "{{csrf}}")
}

fn requests(users: &str) -> Requests {
    let feed = Feed::parse("users.csv", FeedFormat::Separated(b','), format!("user\n{users}").as_bytes()).unwrap();
    Requests { setup: vec![login(), visit()], ..Requests::of([own_page("/page/{{user}}")]).feed(feed) }
}

fn spec(address: SocketAddr, requests: Requests) -> SessionSpec {
    SessionSpec { requests, connections: 4, ..support::spec(address, Vec::new()) }
}

fn drive(session: &mut LoadSession, slice: &SliceSpec) -> SliceSample {
    session.run(slice, &Cancel::new()).unwrap()
}

fn count_lines(journal: &Journal, line: &str) -> usize {
    journal.lock().unwrap().iter().filter(|got: &&Got| got.line.starts_with(line)).count()
}

#[test]
fn each_user_logs_in_once_and_keeps_its_values_over_connections_and_slices() {
    for closes in [false, true] {
        for schedule in [Schedule::Closed, Schedule::constant(1000.0)] {
            let (address, journal) = shop(closes);
            let mut session = LoadSession::open(&spec(address, requests("ada\nbob\ncy\ndan\neve\n"))).unwrap();
            assert_eq!(session.missing_users, None);
            for _ in 0..2 {
                let sample = drive(&mut session, &SliceSpec { schedule: schedule.clone(), ..count(20, 4) });
                assert_eq!((sample.ok, sample.failed), (20, 0), "{:?}", sample.errors);
            }
            assert_eq!((count_lines(&journal, "POST /login"), count_lines(&journal, "GET /first/")), (4, 4));
            for name in ["ada", "bob", "cy", "dan"] {
                assert!(count_lines(&journal, &format!("GET /page/{name}")) > 0, "{name}");
            }
        }
    }
}

#[test]
fn users_who_cannot_be_set_up_take_no_part_and_are_counted_by_class() {
    let (address, journal) = shop(false);
    let mut session = LoadSession::open(&spec(address, requests("ada\nbad1\ncy\nbad2\n"))).unwrap();
    let missing = session.missing_users.clone().unwrap();
    for says in ["2 of 4 users", "set-up of a user, POST /login: status 401 instead of 201"] {
        assert!(missing.contains(says), "{missing}");
    }
    let sample = drive(&mut session, &count(20, 4));
    assert_eq!((sample.ok, sample.failed, sample.connections_opened), (20, 0, 2), "{:?}", sample.errors);
    let events = sample.connection_events.for_class(ErrorClass::Status);
    assert_eq!((events.count, sample.connection_events.total()), (2, 2));
    assert!(events.example.contains("status 401"), "{}", events.example);
    assert_eq!(drive(&mut session, &count(4, 4)).connection_events.total(), 0, "the first slice has told it");
    assert_eq!(count_lines(&journal, "POST /login"), 4);
}

#[test]
fn a_load_without_any_user_ends_before_it_begins() {
    let (address, journal) = shop(false);
    let many = SessionSpec { connections: 500, ..spec(address, requests("bad\n")) };
    let error = LoadSession::open(&many).err().unwrap().to_string();
    for says in ["no user could be set up (status)", "POST /login: status 401 instead of 201"] {
        assert!(error.contains(says), "{error}");
    }
    assert!(count_lines(&journal, "POST /login") < 200, "the others are not tried");
    let (_held, nobody) = support::held_address();
    let error = LoadSession::open(&spec(nobody, requests("ada\n"))).err().unwrap().to_string();
    assert!(error.contains("no user could be set up (connect)") && error.contains("refused"), "{error}");
}

#[test]
fn users_who_were_not_tried_are_missing_too() {
    let refused = Arc::new(AtomicUsize::new(0));
    let (address, _) = site(move |got| {
        if got.line != "POST /login" {
            return answer("200 OK", "", "");
        }
        if got.body.contains("bad") {
            refused.fetch_add(1, Ordering::Relaxed);
            return answer("401 Unauthorized", "", "");
        }
        while refused.load(Ordering::Relaxed) < 64 {
            sleep(Duration::from_millis(1));
        }
        // The others are given up.
        sleep(Duration::from_millis(200));
        answer("201 Created", "X-Csrf: c\r\n", "{\"token\": \"t\"}")
    });
    let users = format!("late\n{}", "bad\n".repeat(499));
    let session = LoadSession::open(&SessionSpec { connections: 500, ..spec(address, requests(&users)) }).unwrap();
    assert!(session.missing_users.as_ref().unwrap().starts_with("499 of 500 users"), "{:?}", session.missing_users);
}

#[test]
fn a_handshake_that_is_reset_or_hangs_is_a_failure_of_tls() {
    // What it leaves unread makes the kernel reset the connection.
    let resets = support::crude_server(|mut stream| drop(stream.read(&mut [0])));
    let hangs = support::crude_server(support::exhaust);
    let late = "not connected until the deadline";
    for (address, within_ms, says) in [(resets, 20_000, "during the handshake"), (hangs, 100, late)] {
        let tls = Some(TlsSpec { trust: TlsTrust::Any, ..TlsSpec::new("localhost") });
        let all = spec(address, requests("ada\nbob\ncy\ndan\n"));
        let spec = SessionSpec { tls, connect_timeout: Duration::from_millis(within_ms), ..all };
        let error = LoadSession::open(&spec).err().unwrap().to_string();
        assert!(error.contains("no user could be set up (tls)") && error.contains(says), "{error}");
    }
}

#[test]
fn a_socket_without_room_for_all_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let timeout = Duration::from_millis(200);
    let all = spec(SocketAddr::from(([127, 0, 0, 1], 80)), requests("ada\nbob\ncy\ndan\n"));
    let spec = SessionSpec { target: Target::Unix(path), timeout, connect_timeout: timeout, ..all };
    let error = LoadSession::open(&spec).err().unwrap().to_string();
    assert!(error.contains("no user could be set up (connect)") && error.contains("no room"), "{error}");
}

#[test]
fn what_an_answer_does_not_contain_is_said_with_what_it_has() {
    let (address, _) = site(|_| answer("201 Created", "X-Csrf: c\r\n", "{\"user\": 1}"));
    let error = LoadSession::open(&spec(address, requests("ada\n"))).err().unwrap().to_string();
    for says in ["(validation)", "POST /login: no value for `token`: body has nothing at $.token", "user"] {
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn what_nobody_uses_or_knows_is_refused_before_any_request() {
    let (address, journal) = shop(false);
    let with = |change: &dyn Fn(&mut Requests)| {
        let mut requests = requests("ada\n");
        change(&mut requests);
        LoadSession::open(&spec(address, requests)).err().unwrap().to_string()
    };
    for (error, says) in [
        (
            with(&|all| all.setup[0].variables.push(("more".to_owned(), "json $".parse().unwrap()))),
            "`more`: no request uses it",
        ),
        (with(&|all| all.list[0].path = "/{{tokn}}".to_owned()), "did you mean {{token}}?"),
        (with(&|all| all.setup.swap(0, 1)), "set-up request 1 (GET /first/{{user}}), header Authorization"),
        (
            with(&|all| all.setup[0].variables.push(("user".to_owned(), "json $".parse().unwrap()))),
            "there are two of this name",
        ),
    ] {
        assert!(error.contains(says), "{error}");
    }
    assert!(journal.lock().unwrap().is_empty());
}

#[test]
fn a_websocket_is_opened_with_the_values_of_its_user() {
    let (address, journal) = site(|got| match got.line.as_str() {
        "POST /login" => answer("200 OK", "", "{\"token\": \"t\"}"),
        _ => answer("400 Bad Request", "", ""),
    });
    let setup = SetupStep {
        request: RequestSpec::post("/login", *b""),
        variables: vec![("token".to_owned(), "json $.token".parse().unwrap())],
    };
    let request = RequestSpec::get("/ws?token={{token}}");
    let requests = Requests { setup: vec![setup], ..Requests::of([request]) };
    let spec = SessionSpec { protocol: Protocol::Exchange, ..spec(address, requests) };
    drive(&mut LoadSession::open(&spec).unwrap(), &count(4, 4));
    assert!(count_lines(&journal, "GET /ws?token=t") >= 4);
}

#[test]
fn nobody_is_set_up_to_estimate_the_servers_clock() {
    let (address, journal) = site(|got| match got.line.as_str() {
        "POST /register" => answer("201 Created", "", &format!("{{\"token\": \"{}\"}}", got.body)),
        _ => answer("400 Bad Request", "", ""),
    });
    let setup = SetupStep {
        request: RequestSpec::post("/register", Body::Text("{{uuid}}".to_owned())),
        variables: vec![("token".to_owned(), "json $.token".parse().unwrap())],
    };
    let requests = Requests { setup: vec![setup], ..Requests::of([RequestSpec::get("/ws?token={{token}}")]) };
    let protocol = Protocol::Push { period: Span::from_millis(10), messages: Some(1) };
    let spec = SessionSpec { protocol, server_clock: ServerClock::Estimate, ..spec(address, requests) };
    let mut session = LoadSession::open(&spec).unwrap();
    assert!(session.estimates_clock());
    for _ in 0..2 {
        drive(&mut session, &count(4, 4));
    }
    let journal = journal.lock().unwrap();
    let registered: HashSet<&str> = journal[..4].iter().map(|got| &*got.body).collect();
    assert_eq!((registered.len(), journal[0].line.as_str()), (4, "POST /register"));
    for got in &journal[4..] {
        let token = got.line.strip_prefix("GET /ws?token=").unwrap_or_default();
        assert!(registered.contains(token), "{}", got.line);
    }
}

#[test]
fn http_2_sets_users_up_over_http_2() {
    let address = http2::server(Builder::new(), |mut connection| async move {
        while let Some(Ok((request, mut answering))) = connection.accept().await {
            let is_known = request.headers().get("x-id").is_some_and(|id| id == "7");
            let status = if is_known || request.uri().path() == "/id" { 200 } else { 403 };
            let head = Response::builder().status(status).body(()).unwrap();
            answering.send_response(head, false).ok()?.send_data(Bytes::from_static(b"id=7;"), true).ok()?;
        }
        None
    });
    let variables = vec![("id".to_owned(), "body ~ id=([0-9]+)".parse().unwrap())];
    let setup = SetupStep { request: RequestSpec::get("/id"), variables };
    let requests = Requests { setup: vec![setup], ..Requests::of([RequestSpec::get("/").header("X-Id", "{{id}}")]) };
    for protocol in [Protocol::Http2 { streams: 2 }, Protocol::Events { messages: Some(1), streams: Some(2) }] {
        let spec = SessionSpec { protocol, ..spec(address, requests.clone()) };
        let sample = drive(&mut LoadSession::open(&spec).unwrap(), &count(8, 4));
        assert_eq!((sample.ok, sample.failed), (8, 0), "{:?}", sample.errors);
    }
}
