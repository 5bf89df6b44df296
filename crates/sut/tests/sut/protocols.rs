//! The verifier over HTTP/2 and TLS, against small servers on the same libraries' other side.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use tare_plan::contract::Contract;
use tare_sut::contract::{CheckOutcome, Endpoint, Security, verify_exchanges};

use crate::contract::{PUSHING, STREAMING, contract_of, push, stamp, upgrade};

const CONTRACT: &[[&str; 3]] = &[
    ["a text", r#"path = "/text""#, r#"headers = { content-type = "text/plain" }, body = "hello""#],
    [
        "what is sent comes back",
        r#"method = "POST", path = "/echo", body = { seed = 1, bytes = 300000, alphabet = "letters" }"#,
        r#"body = { same_as = "request" }"#,
    ],
];

fn outcomes(endpoint: Endpoint, timeout: Duration) -> Vec<CheckOutcome> {
    let contract = contract_of(CONTRACT);
    verify_exchanges(endpoint, contract.exchanges("x", 1), timeout)
}

fn differences(endpoint: Endpoint) -> Vec<String> {
    let all = outcomes(endpoint, Duration::from_secs(10));
    all.into_iter().map(|outcome| outcome.difference.unwrap_or_else(|| "passed".into())).collect()
}

/// A server of HTTP/2 without TLS: `/text` is a text, and everything else comes back.
fn h2c_server() -> SocketAddr {
    h2c_server_of(answer)
}

fn h2c_server_of<F: Future<Output = ()> + Send + 'static>(
    answer: fn(http::Request<h2::RecvStream>, h2::server::SendResponse<bytes::Bytes>) -> F,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let Ok(mut connection) = h2::server::handshake(socket).await else { return };
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        tokio::spawn(answer(request, respond));
                    }
                });
            }
        });
    });
    address
}

async fn answer(request: http::Request<h2::RecvStream>, mut respond: h2::server::SendResponse<bytes::Bytes>) {
    let is_text = request.uri().path() == "/text";
    let mut received = request.into_body();
    let mut body = Vec::new();
    while let Some(Ok(part)) = received.data().await {
        received.flow_control().release_capacity(part.len()).unwrap();
        body.extend_from_slice(&part);
    }
    let body = if is_text { b"hello".to_vec() } else { body };
    let head = http::Response::builder().header("content-type", "text/plain").body(()).unwrap();
    let mut sending = respond.send_response(head, false).unwrap();
    sending.send_data(body.into(), true).unwrap();
}

type TlsStream = StreamOwned<ServerConnection, TcpStream>;

/// A server of HTTP/1.1 over TLS that answers every connection's requests, and how its certificate is trusted.
fn https_server(alpn: &[&[u8]]) -> (SocketAddr, RootCertStore) {
    https_server_of(certificate(), alpn)
}

fn certificate() -> CertificateParams {
    CertificateParams::new(vec!["localhost".to_owned()]).unwrap()
}

fn https_server_of(certificate: CertificateParams, alpn: &[&[u8]]) -> (SocketAddr, RootCertStore) {
    tls_server_of(certificate, alpn, |stream| {
        while let Some(body) = read_request(stream) {
            let body = if body.is_empty() { b"hello".to_vec() } else { body };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n", body.len());
            let _client_gone = stream.write_all(&[head.into_bytes(), body].concat());
        }
    })
}

fn tls_server_of(
    certificate: CertificateParams,
    alpn: &[&[u8]],
    serve: fn(&mut TlsStream),
) -> (SocketAddr, RootCertStore) {
    let key = KeyPair::generate().unwrap();
    let certificate = certificate.self_signed(&key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            serve(&mut StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), socket));
        }
    });
    (address, roots)
}

/// The body of the next request; `None` at the end of the connection.
fn read_request(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

fn security(roots: RootCertStore, alpn: &[u8], server_name: &str) -> Security {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    Security { config: Arc::new(config), server_name: server_name.to_owned().try_into().unwrap() }
}

#[test]
fn answers_over_http2_are_compared_on_one_connection() {
    let endpoint = Endpoint { is_http2: true, ..h2c_server().into() };
    assert_eq!(differences(endpoint), ["passed", "passed"]);
}

#[test]
fn answers_over_tls_are_compared() {
    let (address, roots) = https_server(&[b"http/1.1"]);
    let endpoint = Endpoint { security: Some(security(roots, b"http/1.1", "localhost")), ..address.into() };
    assert_eq!(differences(endpoint), ["passed", "passed"]);
}

#[test]
fn pushes_over_tls_are_checked() {
    let contract = Contract::parse("contract.toml", PUSHING).unwrap();
    let (address, roots) = tls_server_of(certificate(), &[b"http/1.1"], |stream| {
        upgrade(stream, tare_wire::ws::accept_for);
        push(stream, &[stamp(200), stamp(100), stamp(0)]);
    });
    let endpoint = Endpoint { security: Some(security(roots, b"http/1.1", "localhost")), ..address.into() };
    let outcome = verify_exchanges(endpoint, contract.exchanges("x", 1), Duration::from_secs(5)).swap_remove(0);
    assert_eq!(outcome.difference, None);
}

#[test]
fn a_certificate_that_is_not_trusted_or_of_another_name_or_expired_is_said() {
    let (address, roots) = https_server(&[]);
    let with = |security| Endpoint { security: Some(security), ..address.into() };
    let stranger = differences(with(security(RootCertStore::empty(), b"http/1.1", "localhost")));
    let untrusted = "cannot connect: the server's certificate is not trusted: ";
    let says =
        format!("{untrusted}ca does not name its authority; name the file of its authority, or its own, tls = {{ ca");
    assert!(stranger[0].starts_with(&says), "{stranger:?}");
    let other_name = differences(with(security(roots, b"http/1.1", "example.org")));
    assert!(other_name[0].contains("not valid for name"), "{other_name:?}");
    assert!(other_name[0].ends_with("tls = { server_name = \"NAME\" }"), "{other_name:?}");
    let mut own = certificate();
    own.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let (address, _) = https_server_of(own, &[]);
    let trusts_none = Some(security(RootCertStore::empty(), b"http/1.1", "localhost"));
    let its_own = differences(Endpoint { security: trusts_none, ..address.into() });
    assert!(its_own[0].starts_with(&format!("{untrusted}it is an authority's own, such as one")), "{its_own:?}");
    let mut old = certificate();
    old.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let (address, roots) = https_server_of(old, &[]);
    let security = Some(security(roots, b"http/1.1", "localhost"));
    let expired = differences(Endpoint { security, ..address.into() });
    assert!(
        expired[0].contains("'s certificate expired ")
            && expired[0].contains(" days ago")
            && expired[0].contains("; renew it"),
        "{expired:?}"
    );
}

#[test]
fn a_server_that_does_not_speak_what_is_asked_is_said_with_the_remedy() {
    let (address, roots) = https_server(&[]);
    let tls = Endpoint { is_http2: true, security: Some(security(roots, b"h2", "localhost")), ..address.into() };
    let says = differences(tls);
    assert!(says[0].contains("does not agree to HTTP/2 (ALPN h2), and offers no protocol by ALPN; write"), "{says:?}");
    let (address, roots) = https_server(&[b"http/1.1"]);
    let tls = Endpoint { is_http2: true, security: Some(security(roots, b"h2", "localhost")), ..address.into() };
    let says = differences(tls);
    assert!(says[0].contains("does not agree to HTTP/2 (ALPN h2), and offers http/1.1; write"), "{says:?}");
    let (address, roots) = https_server(&[b"h2"]);
    let says = differences(Endpoint { security: Some(security(roots, b"http/1.1", "localhost")), ..address.into() });
    assert!(
        says[0].contains("NoApplicationProtocol; the server does not agree to HTTP/1.1; write protocol = \"h2\""),
        "{says:?}"
    );
    let says = differences(Endpoint { is_http2: true, ..address.into() });
    assert!(says[0].ends_with("asked without; write protocol = \"h2\" with tls = { ca = \"FILE\" }, or protocol = \"h2\" with https:// in its url"), "{says:?}");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let _ = socket.read(&mut [0; 1024]);
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    let says = differences(Endpoint { is_http2: true, ..address.into() });
    assert!(says[0].contains("answers in HTTP/1.1 (\"HTTP/1.1 400 Bad Request\"); does"), "{says:?}");
    let to_h2c = differences(h2c_server().into());
    let says = "the server answers in HTTP/2, and not in HTTP/1.1; write protocol = \"h2c\", or ask another port";
    assert_eq!(to_h2c[0], says);
}

#[test]
fn a_server_that_speaks_tls_or_does_not_is_told_from_one_that_is_broken() {
    let (address, roots) = https_server(&[b"http/1.1"]);
    let says = differences(address.into());
    assert!(
        says[0].starts_with("the server speaks TLS on this port, and was asked without; write tls = {"),
        "{says:?}"
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let got = socket.read(&mut [0; 1024]);
            // It speaks plain HTTP to whatever is no HTTP, and hangs up on requests.
            if got.is_ok_and(|got| got > 100) {
                let _client_gone = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            }
        }
    });
    let security = Some(security(roots, b"http/1.1", "localhost"));
    let says = differences(Endpoint { security, ..address.into() });
    assert!(says[0].ends_with("does the server speak TLS on this port? Otherwise ask it without"), "{says:?}");
    let says = differences(address.into());
    assert_eq!(says[0], "not an HTTP/1.1 answer: connection closed before an answer");
}

const CALLS: &[[&str; 3]] = &[
    ["echo", r#"grpc = "test.Service/Echo", body = { hex = "0a0474617265" }"#, r#"body = { same_as = "request" }"#],
    ["denied", r#"grpc = "test.Service/Denied""#, r#"grpc_status = "PERMISSION_DENIED""#],
    ["denied, and not expected to be", r#"grpc = "test.Service/Denied""#, ""],
    ["compressed", r#"grpc = "test.Service/Compressed""#, ""],
    ["no gRPC", r#"grpc = "test.Service/Page""#, ""],
];

/// Answers by the last part of the path.
async fn answer_call(request: http::Request<h2::RecvStream>, mut respond: h2::server::SendResponse<bytes::Bytes>) {
    let path = request.uri().path().to_owned();
    let mut received = request.into_body();
    let mut body = Vec::new();
    while let Some(Ok(part)) = received.data().await {
        body.extend_from_slice(&part);
    }
    let head = http::Response::builder().header("content-type", "application/grpc");
    if path.ends_with("Denied") {
        let head = head.header("grpc-status", "7").header("grpc-message", "not%20you").body(()).unwrap();
        respond.send_response(head, true).unwrap();
        return;
    }
    if path.ends_with("Page") {
        let head = http::Response::builder().header("content-type", "text/html").body(()).unwrap();
        respond.send_response(head, false).unwrap().send_data("<html>".into(), true).unwrap();
        return;
    }
    if path.ends_with("Compressed") {
        body = vec![1, 0, 0, 0, 1, 0];
    }
    let mut sending = respond.send_response(head.body(()).unwrap(), false).unwrap();
    sending.send_data(body.into(), false).unwrap();
    sending.send_trailers([("grpc-status".parse().unwrap(), "0".parse().unwrap())].into_iter().collect()).unwrap();
}

#[test]
fn calls_of_grpc_are_judged_by_message_and_status() {
    let contract = contract_of(CALLS);
    let endpoint = Endpoint { is_http2: true, ..h2c_server_of(answer_call).into() };
    let all = verify_exchanges(endpoint, contract.exchanges("x", 1), Duration::from_secs(10));
    let says: Vec<String> = all.into_iter().map(|one| one.difference.unwrap_or_else(|| "passed".into())).collect();
    for (says, expected) in says.iter().zip([
        "passed",
        "passed",
        "grpc-status 7 PERMISSION_DENIED instead of 0 OK: \"not you\"",
        "the message is compressed, although",
        "content-type \"text/html\" instead of application/grpc",
    ]) {
        assert!(says.starts_with(expected), "{says}, not {expected}");
    }
}

/// Sends two events and keeps the stream open.
async fn answer_events(_: http::Request<h2::RecvStream>, mut respond: h2::server::SendResponse<bytes::Bytes>) {
    let head = http::Response::builder().header("content-type", "text/event-stream").body(()).unwrap();
    let mut sending = respond.send_response(head, false).unwrap();
    sending.send_data("data: 1\n\ndata: 2\n\n".into(), false).unwrap();
    std::future::pending::<()>().await;
}

#[test]
fn the_begin_of_a_stream_of_events_over_http2_is_read() {
    for (messages, expected) in [(2, None), (50, Some("within 0.5s came 2 of 3 events"))] {
        let text = STREAMING.replace("messages = 5", &format!("messages = {messages}"));
        let contract = Contract::parse("contract.toml", &text).unwrap();
        let endpoint = Endpoint { is_http2: true, ..h2c_server_of(answer_events).into() };
        let outcome = verify_exchanges(endpoint, contract.exchanges("x", 1), Duration::from_millis(500)).swap_remove(0);
        assert_eq!(outcome.difference.as_deref(), expected);
    }
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for_forever() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = Endpoint { is_http2: true, ..listener.local_addr().unwrap().into() };
    let says = outcomes(silent, Duration::from_millis(200)).swap_remove(0).difference.unwrap();
    assert_eq!(says, "no whole answer within 0.2s");
}
