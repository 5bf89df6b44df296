//! Servers over HTTP/2 and TLS, compared with one over HTTP/1.1.

use std::process::Command;

use rcgen::{CertificateParams, KeyPair};

use crate::check::all_of;
use crate::common::{Bench, cell, skip, stdout};

/// `node server.js PROTOCOL PORT`.
const SERVER: &str = "
const fs = require('fs'), http = require('http'), https = require('https'), http2 = require('http2');
const answer = (request, response) => { response.setHeader('content-type', 'text/plain'); response.end('hello'); };
const tls = { key: fs.readFileSync('key.pem'), cert: fs.readFileSync('ca.pem') };
const servers = {
  http1: () => http.createServer(answer),
  https: () => https.createServer(tls, answer),
  h2c: () => http2.createServer(answer),
  h2: () => http2.createSecureServer(tls, answer),
};
servers[process.argv[2]]().listen(Number(process.argv[3]), '127.0.0.1');
";

const SUITE: &str = r#"
[run]
users = 8
warmup = "200ms"
slice = "100ms"
discard = "20ms"
saturating = 2
timeout = "2s"
forks = 1

[servers.http1]
command = ["node", "server.js", "http1", "{port}"]

[servers.https]
command = ["node", "server.js", "https", "{port}"]
tls = { ca = "ca.pem", server_name = "localhost" }
baseline = "http1"

[servers.h2c]
command = ["node", "server.js", "h2c", "{port}"]
protocol = "h2c"
streams = 4
baseline = "http1"

[servers.h2]
command = ["node", "server.js", "h2", "{port}"]
protocol = "h2"
tls = { ca = "ca.pem", server_name = "localhost" }
baseline = "http1"

[scenarios.Home]
request = { path = "/" }
expect = { status = 200 }
"#;

/// A folder with the server, its certificate and the suite; `None` without Node.
fn bench() -> Option<Bench> {
    if !Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success()) {
        skip("node is not installed");
        return None;
    }
    let bench = Bench::new();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    for (file, text) in
        [("server.js", SERVER.to_owned()), ("ca.pem", certificate.pem()), ("key.pem", key.serialize_pem())]
    {
        std::fs::write(bench.path().join(file), text).unwrap();
    }
    bench.suite(SUITE);
    Some(bench)
}

#[test]
fn servers_of_different_protocols_are_verified_and_compared() {
    let Some(bench) = bench() else { return };
    let verify = bench.run(&["verify", "--suite", "suite.toml"]);
    assert!(stdout(&verify).contains("4 passed, 0 failed, 0 skipped"), "{}", all_of(&verify));
    let output = bench.run(&["run", "suite.toml"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    for variant in ["http1", "https", "h2c", "h2"] {
        let cell = cell(&summary, variant);
        assert!(cell["requests_ok"].as_u64().is_some_and(|requests| requests > 0), "{cell:#}");
        assert_eq!(cell["requests_failed"], 0, "{cell:#}");
    }
    let question = summary["run"]["question"].as_str().unwrap();
    let spoken =
        "h2 speaks HTTP/2 over TLS. h2c speaks HTTP/2, 4 streams a connection. https speaks HTTP/1.1 over TLS.";
    assert!(question.ends_with(spoken), "{question}");
    bench.assert_nothing_left();
}

#[test]
fn a_server_that_speaks_something_else_or_is_not_trusted_gets_no_load_and_says_why() {
    let Some(bench) = bench() else { return };
    for (from, to, server, says) in [
        (
            "\"https\", \"{port}\"]\ntls",
            "\"https\", \"{port}\"]\nprotocol = \"h2\"\ntls",
            "https",
            "does not agree to HTTP/2",
        ),
        ("server_name = \"localhost\" }", "server_name = \"example.org\" }", "https", "not valid for name"),
        ("tls = { ca = \"ca.pem\", server_name", "tls = { server_name", "https", "certificate"),
        ("\"http1\", \"{port}\"]", "\"http1\", \"{port}\"]\nprotocol = \"h2c\"", "http1", "HTTP/2"),
    ] {
        assert!(SUITE.contains(from), "{from}");
        bench.suite(&SUITE.replacen(from, to, 1));
        let verify = bench.run(&["verify", "--suite", "suite.toml", server]);
        let said = all_of(&verify);
        assert!(!verify.status.success() && said.contains(says), "{to}: {said}");
    }
    bench.suite(&SUITE.replace("users = 8", "users = 6"));
    let output = bench.run(&["run", "suite.toml", "--dry-run"]);
    let said = all_of(&output);
    assert!(said.contains("[servers.h2c] streams: 4 on a connection do not divide 6 users; write users = 8"), "{said}");
    bench.assert_nothing_left();
}
