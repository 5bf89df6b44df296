//! TLS over real sockets, against servers with valid and invalid certificates.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tare_load::{
    Check, ErrorClass, Identity, LoadError, LoadSession, RequestSpec, Requests, SessionSpec, SetupStep, SliceSample,
    Think, TlsSpec, TlsTrust,
};

use crate::certificates::{Authority, Issued, Validity, trusting};
use crate::support::{self, count, get, run};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1";
const LAST_ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1";
const UNTIL_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n1";

type Stream = StreamOwned<ServerConnection, TcpStream>;

/// A server that treats every connection in the same way after its TLS handshake.
pub fn server(config: ServerConfig, treat: impl Fn(Stream) + Send + Clone + 'static) -> SocketAddr {
    let config = Arc::new(config);
    let begin = move || ServerConnection::new(Arc::clone(&config)).unwrap();
    support::crude_server(move |stream| treat(StreamOwned::new(begin(), stream)))
}

/// Gives every request the same answer while the client is connected.
fn answering(answer: &'static [u8]) -> impl Fn(Stream) + Send + Clone + 'static {
    move |mut stream| {
        let mut request = [0; 4096];
        while stream.read(&mut request).is_ok_and(|count| count > 0) {
            if stream.write_all(answer).is_err() {
                return;
            }
        }
    }
}

fn spec(address: SocketAddr, trust: TlsTrust) -> SessionSpec {
    SessionSpec { tls: Some(TlsSpec { trust, ..TlsSpec::new("localhost") }), ..support::spec(address, vec![get()]) }
}

fn drive(spec: &SessionSpec, requests: u64) -> SliceSample {
    run(&mut LoadSession::open(spec).unwrap(), &count(requests, spec.connections))
}

fn assert_refused(sample: &SliceSample, says: &str) {
    let refused = sample.errors.for_class(ErrorClass::Tls);
    assert!(refused.count > 0 && refused.count == sample.failed && sample.ok == 0, "{:?}", sample.errors);
    assert!(refused.example.contains(says), "{}", refused.example);
}

#[test]
fn the_name_in_tls_is_the_one_that_is_stated_and_not_that_of_the_address() {
    let authority = Authority::new();
    let naming = |mut stream: Stream| {
        let mut request = [0; 4096];
        while stream.read(&mut request).is_ok_and(|count| count > 0) {
            let is_right = stream.conn.server_name() == Some("shop.example");
            let answer = if is_right { ANSWER } else { b"HTTP/1.1 421 Misdirected\r\nContent-Length: 0\r\n\r\n" };
            stream.write_all(answer).unwrap();
        }
    };
    let address = server(authority.issue("shop.example", Validity::Now).server(), naming);
    let tls = TlsSpec { trust: authority.trust(), ..TlsSpec::new("shop.example") };
    let spec = SessionSpec { tls: Some(tls), ..spec(address, authority.trust()) };
    let sample = drive(&spec, 3);
    assert_eq!((sample.ok, sample.failed), (3, 0), "{:?}", sample.errors);
}

#[test]
fn a_server_whose_authority_is_named_is_believed() {
    let authority = Authority::new();
    let address = server(authority.issue("localhost", Validity::Now).server(), answering(ANSWER));
    let spec = SessionSpec { connections: 3, ..spec(address, authority.trust()) };
    let mut session = LoadSession::open(&spec).unwrap();
    let first = run(&mut session, &count(60, 3));
    assert_eq!((first.ok, first.tls_handshakes, first.connections_opened), (60, 3, 3), "{:?}", first.errors);
    let second = run(&mut session, &count(60, 3));
    assert_eq!((second.ok, second.tls_handshakes), (60, 0), "the handshake belongs to the connection");
}

#[test]
fn bytes_outside_tls_behind_an_answer_are_a_connection_event() {
    for outside in [&b"garbage!!!!!"[..], b"\x15\x03\x03\x00\x02\x02\x28"] {
        let authority = Authority::new();
        let address = server(authority.issue("localhost", Validity::Now).server(), move |mut stream| {
            let mut request = [0; 4096];
            if stream.read(&mut request).is_ok_and(|count| count > 0) {
                let mut records = Vec::new();
                stream.conn.writer().write_all(ANSWER).unwrap();
                stream.conn.write_tls(&mut records).unwrap();
                records.extend_from_slice(outside);
                let _ = stream.sock.write_all(&records);
                support::exhaust(stream.sock);
            }
        });
        let think = Think::Constant(Duration::from_millis(20));
        let requests = Requests { think, ..get().into() };
        let sample = drive(&SessionSpec { requests, ..spec(address, authority.trust()) }, 4);
        assert_eq!((sample.ok, sample.failed), (4, 0), "{:?}", sample.errors);
        let events = sample.connection_events.for_class(ErrorClass::Tls);
        assert!(events.count > 0 && !events.example.contains("speak TLS"), "{:?}", sample.connection_events);
    }
}

#[test]
fn sessions_are_resumed_and_that_is_counted() {
    let authority = Authority::new();
    let address = server(authority.issue("localhost", Validity::Now).server(), answering(LAST_ANSWER));
    let sample = drive(&spec(address, authority.trust()), 20);
    assert_eq!((sample.ok, sample.connections_lost), (20, 0), "{:?}", sample.errors);
    assert_eq!(sample.tls_resumed + 1, sample.tls_handshakes, "all but the first");
    let mut full = spec(address, authority.trust());
    full.tls.as_mut().unwrap().resumption = false;
    let sample = drive(&full, 20);
    assert_eq!((sample.ok, sample.tls_resumed), (20, 0), "{:?}", sample.errors);
    assert!(sample.tls_handshakes >= 20, "{}", sample.tls_handshakes);
}

#[test]
fn certificates_that_do_not_hold_are_refused_with_a_remedy() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    for (name, validity, trust, says) in [
        ("localhost", Validity::Now, theirs.trust(), "--cacert"),
        ("elsewhere.example", Validity::Now, ours.trust(), "a name of its certificate"),
        ("localhost", Validity::Past, ours.trust(), "renew"),
    ] {
        let address = server(ours.issue(name, validity).server(), answering(ANSWER));
        assert_refused(&drive(&spec(address, trust), 2), says);
        let credulous = drive(&spec(address, TlsTrust::Any), 2);
        assert_eq!(credulous.ok, 2, "{says}: {:?}", credulous.errors);
    }
}

#[test]
fn a_certificate_of_version_1_is_accepted_where_none_is_checked() {
    let authority = Authority::new();
    let address = server(authority.issue("localhost", Validity::Now).server_of_version_1(), answering(ANSWER));
    let sample = drive(&spec(address, TlsTrust::Any), 2);
    assert_eq!(sample.ok, 2, "{:?}", sample.errors);
    assert_refused(&drive(&spec(address, authority.trust()), 2), "of version 1");
}

#[test]
fn a_server_that_has_signed_for_itself_is_believed_where_it_is_named() {
    let (issued, trust) = Authority::of_itself("localhost");
    let address = server(issued.server(), answering(ANSWER));
    let sample = drive(&spec(address, trust), 2);
    assert_eq!(sample.ok, 2, "{:?}", sample.errors);
    assert_refused(&drive(&spec(address, Authority::new().trust()), 2), "is not trusted: it is an authority's own");
    let (elsewhere, trust) = Authority::of_itself("elsewhere.example");
    let address = server(elsewhere.server(), answering(ANSWER));
    assert_refused(&drive(&spec(address, trust), 2), "a name of its certificate");
}

#[test]
fn a_client_certificate_is_shown_where_it_is_demanded() {
    let authority = Authority::new();
    let address = server(authority.issue("localhost", Validity::Now).demanding(&authority), answering(ANSWER));
    let mut spec = spec(address, authority.trust());
    assert_refused(&drive(&spec, 2), "--cert");
    let client = authority.issue("a client", Validity::Now);
    let (certificate, key) = client.files();
    spec.tls.as_mut().unwrap().identity = Some(Identity { certificate, key });
    let sample = drive(&spec, 2);
    assert_eq!(sample.ok, 2, "{:?}", sample.errors);
}

#[test]
fn a_server_in_plain_text_is_told_from_one_with_a_bad_certificate() {
    let address = support::crude_server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        support::exhaust(stream);
    });
    assert_refused(&drive(&spec(address, TlsTrust::Any), 2), "does the server speak TLS");
}

#[test]
fn users_are_set_up_over_tls_and_its_failures_are_told_in_the_same_words() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let issued = ours.issue("localhost", Validity::Now);
    let step = SetupStep { request: get(), variables: vec![("one".to_owned(), "body ~ (1)".parse().unwrap())] };
    let again = SetupStep { request: RequestSpec::get("/path0/{{one}}"), variables: Vec::new() };
    let load = Requests::of([RequestSpec::get("/path0/{{one}}")]);
    let requests = Requests { setup: vec![step, again], ..load };
    let with = |address, trust| SessionSpec { requests: requests.clone(), ..spec(address, trust) };
    // The second server ends each connection with its answer.
    for answer in [ANSWER, LAST_ANSWER] {
        let address = server(issued.server(), answering(answer));
        let sample = drive(&with(address, ours.trust()), 3);
        assert_eq!((sample.ok, sample.failed), (3, 0), "{:?}", sample.errors);
    }
    let ends_unannounced = server(issued.server(), |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        stream.conn.writer().write_all(ANSWER).unwrap();
        stream.conn.send_close_notify();
        let _ = stream.flush();
        support::exhaust(stream.sock);
    });
    let session = LoadSession::open(&with(ends_unannounced, ours.trust())).unwrap();
    assert_eq!(session.missing_users, None);
    let plain = support::crude_server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        support::exhaust(stream);
    });
    let unknown = server(issued.server(), answering(ANSWER));
    for (address, says) in [(unknown, "--cacert"), (plain, "does the server speak TLS")] {
        let error = LoadSession::open(&with(address, theirs.trust())).err().unwrap().to_string();
        assert!(error.contains("no user could be set up (tls)") && error.contains(says), "{error}");
    }
}

#[test]
fn a_handshake_that_is_cut_off_is_a_failure_of_tls() {
    let address = support::crude_server(|mut stream| drop(stream.read(&mut [0; 16 * 1024])));
    assert_refused(&drive(&spec(address, TlsTrust::Any), 2), "during the handshake");
}

#[test]
fn a_handshake_that_hangs_ends_at_the_deadline() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let spec = SessionSpec { connect_timeout: Duration::from_millis(100), ..spec(address, TlsTrust::Any) };
    let sample = drive(&spec, 2);
    let late = sample.errors.for_class(ErrorClass::Tls);
    assert!(late.count > 0 && sample.ok == 0 && late.example.contains("deadline"), "{:?}", sample.errors);
}

#[test]
fn only_a_goodbye_ends_a_body_that_lasts_until_the_end() {
    let issued = Authority::new().issue("localhost", Validity::Now);
    let polite = server(issued.server(), |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(UNTIL_CLOSE);
        stream.conn.send_close_notify();
        let _ = stream.flush();
    });
    let sample = drive(&spec(polite, TlsTrust::Any), 3);
    assert_eq!((sample.ok, sample.connections_lost), (3, 0), "{:?}", sample.errors);
    let cut_off = server(issued.server(), |mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(UNTIL_CLOSE);
        let _ = stream.flush();
    });
    let sample = drive(&spec(cut_off, TlsTrust::Any), 3);
    let read = sample.errors.for_class(ErrorClass::Read);
    assert!(read.count == 3 && read.example.contains("close_notify"), "{:?}", sample.errors);
}

#[test]
fn large_bodies_go_both_ways() {
    const LENGTH: usize = 5 * 1024 * 1024;
    let issued = Authority::new().issue("localhost", Validity::Now);
    let address = server(issued.server(), |mut stream| {
        let mut rest = vec![0; LENGTH];
        while support::read_head(&mut stream).is_some() && stream.read_exact(&mut rest).is_ok() {
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n");
            let _ = stream.write_all(&rest);
        }
    });
    let body: Arc<[u8]> = (0..LENGTH).map(|index| (index % 251) as u8).collect();
    let request = RequestSpec::post("/", Arc::clone(&body)).expecting(Check::body_is(body));
    let spec = SessionSpec { requests: request.into(), ..spec(address, TlsTrust::Any) };
    let sample = drive(&spec, 3);
    assert_eq!(sample.ok, 3, "{:?}", sample.errors);
}

#[test]
fn files_that_will_not_do_are_named() {
    let Issued { folder, .. } = Authority::new().issue("localhost", Validity::Now);
    let absent = folder.path().join("absent.pem");
    let refused = |tls: TlsSpec| {
        let spec =
            SessionSpec { tls: Some(tls), ..SessionSpec::new(SocketAddr::from(([127, 0, 0, 1], 1)), vec![get()]) };
        match LoadSession::open(&spec).map(|_| ()) {
            Err(error @ (LoadError::Unavailable { .. } | LoadError::Spec { .. })) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let local = TlsSpec::new("localhost");
    let text = refused(TlsSpec { trust: trusting(&absent), ..local.clone() });
    assert!(text.contains("absent.pem"), "{text}");
    let identity = Some(Identity { certificate: absent.clone(), key: absent });
    assert!(refused(TlsSpec { trust: TlsTrust::Any, identity, ..local.clone() }).contains("private key"));
    let encrypted = folder.path().join("encrypted.pem");
    std::fs::write(&encrypted, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
        .unwrap();
    let identity = Some(Identity { certificate: encrypted.clone(), key: encrypted });
    let text = refused(TlsSpec { trust: TlsTrust::Any, identity, ..local });
    assert!(text.contains("encrypted.pem") && text.contains("openssl pkey -in"), "{text}");
    assert!(refused(TlsSpec { trust: TlsTrust::Any, ..TlsSpec::new("no name") }).contains("no name"));
}

#[test]
fn an_early_answer_is_read_over_tls_too() {
    let authority = Authority::new();
    let address = server(authority.issue("localhost", Validity::Now).server(), |mut stream: Stream| {
        // A reset discards what Nagle's algorithm holds back.
        let _ = stream.sock.set_nodelay(true);
        let _ = stream.read(&mut [0; 512]);
        let _ = stream.write_all(b"HTTP/1.1 413 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
    });
    let request = RequestSpec::post("/", vec![b'x'; 8 << 20]).expecting(Check::status(413));
    let spec = SessionSpec { requests: request.into(), ..spec(address, TlsTrust::Any) };
    let sample = drive(&spec, 10);
    assert_eq!((sample.ok, sample.failed), (10, 0), "{:?}", sample.errors);
}
