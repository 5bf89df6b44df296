//! The reference server over HTTP/2, as a client of another library sees it.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use http::Request;
use tare_reference::{Options, Running};

/// Lets `ask` use a connection to the server.
fn asked<T, F: Future<Output = T>>(server: &Running, ask: impl FnOnce(SendRequest<Bytes>) -> F) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(server.address()).await.unwrap();
        let (sender, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        ask(sender.ready().await.unwrap()).await
    })
}

/// Sends a request; nothing is waited for.
fn send(sender: &mut SendRequest<Bytes>, method: &str, path: &str, body: Vec<u8>) -> ResponseFuture {
    let request = Request::builder().method(method).uri(format!("http://localhost{path}"));
    let is_call = path.starts_with("/test.");
    let request = if is_call { request.header("content-type", "application/grpc") } else { request };
    let (response, mut sending) = sender.send_request(request.body(()).unwrap(), body.is_empty()).unwrap();
    if !body.is_empty() {
        sending.send_data(body.into(), true).unwrap();
    }
    response
}

/// Status, body, and the status of a call.
async fn answer(response: ResponseFuture) -> (u16, Vec<u8>, Option<String>) {
    let (head, mut received) = response.await.unwrap().into_parts();
    let mut body = Vec::new();
    while let Some(part) = received.data().await {
        let part = part.unwrap();
        received.flow_control().release_capacity(part.len()).unwrap();
        body.extend_from_slice(&part);
    }
    let status = received.trailers().await.unwrap().and_then(|trailers| trailers.get("grpc-status").cloned());
    (head.status.as_u16(), body, status.map(|status| status.to_str().unwrap().to_owned()))
}

#[test]
fn the_contract_is_kept_on_streams() {
    let server = Running::start(Options::default(), || ()).unwrap();
    let long = vec![b'x'; 5 << 20];
    let answers = asked(&server, |mut sender| async move {
        let mut all = Vec::new();
        for (method, path, body) in [
            ("GET", "/path127/4", Vec::new()),
            ("POST", "/path3", b"hello".to_vec()),
            ("POST", "/pathBytes1", long),
            ("GET", "/path128/4", Vec::new()),
        ] {
            let (status, body, _) = answer(send(&mut sender, method, path, body)).await;
            all.push(format!("{status} {}", String::from_utf8(body).unwrap()));
        }
        all
    });
    let expected = ["200 131", "200 Ok [3], string length = 5", "200 Ok [1], bytes length = 5242880", "404 Not Found"];
    assert_eq!(answers, expected);
}

#[test]
fn an_answer_longer_than_the_window_arrives_whole() {
    let server = Running::start(Options { answer_bytes: 300_000, ..Options::default() }, || ()).unwrap();
    let (status, body, _) =
        asked(&server, |mut sender| async move { answer(send(&mut sender, "GET", "/path0/1", Vec::new())).await });
    assert_eq!((status, body.len()), (200, 300_000));
}

#[test]
fn a_call_is_answered_by_an_empty_message() {
    let server = Running::start(Options::default(), || ()).unwrap();
    let call =
        asked(&server, |mut sender| async move { answer(send(&mut sender, "POST", "/test.A/B", vec![0; 5])).await });
    assert_eq!(call, (200, vec![0; 5], Some("0".to_owned())));
}

#[test]
fn each_stream_waits_for_its_own_delay_and_the_ledger_has_it() {
    // Every second request is slow.
    let options = Options { slow_share: 0.5, slow_us: 50_000, keeps_ledger: true, ..Options::default() };
    let server = Running::start(options, || ()).unwrap();
    asked(&server, |mut sender| async move {
        let sent: Vec<ResponseFuture> =
            (0..3).map(|id| send(&mut sender, "GET", &format!("/path0/{id}"), Vec::new())).collect();
        for (id, response) in sent.into_iter().enumerate() {
            assert_eq!(answer(response).await.1, id.to_string().into_bytes());
        }
    });
    let served = server.finish().unwrap();
    assert_eq!(served.iter().map(|one| one.nth).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(served[1].answered.0 - served[1].received.0 >= Duration::from_millis(50).as_nanos() as u64);
    assert!(served[2].answered < served[1].answered, "it overtakes the slow one");
}
