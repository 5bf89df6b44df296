//! Servers over HTTP/2 and TLS, compared with one over HTTP/1.1.

use std::process::Command;

use rcgen::{CertificateParams, KeyPair};

use crate::check::{all_of, project_with_catalog};
use crate::common::{Bench, cell, project, skip, stdout};

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

fn has_node() -> bool {
    let is_there = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        skip("node is not installed");
    }
    is_there
}

/// A folder with the server, its certificate and the suite; `None` without Node.
fn bench() -> Option<Bench> {
    if !has_node() {
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

/// A server of a catalog: `node server.js PORT`.
const CATALOG_SERVER: &str = "
const http = require('http'), http2 = require('http2');
const { TARE_PROTOCOL: protocol, TARE_CERTIFICATE: pem } = process.env;
const answer = (request, response) => {
  response.setHeader('content-type', 'text/plain; charset=UTF-8');
  response.end('4');
};
const create = {
  h2c: () => http2.createServer(answer),
  h2: () => http2.createSecureServer({ key: pem, cert: pem }, answer),
}[protocol] ?? (() => http.createServer(answer));
const server = create().listen(Number(process.argv[2]), '127.0.0.1', () =>
  console.log(`tare: ready on 127.0.0.1:${server.address().port}`),
);
";

#[test]
fn a_server_of_the_catalog_is_told_what_to_speak_and_gets_the_certificate_of_the_catalog() {
    if !has_node() {
        return;
    }
    let repository = project_with_catalog();
    let read = |file: &str| std::fs::read_to_string(repository.bench.path().join(file)).unwrap();
    let catalog = read("servers/catalog.toml");
    let speaking = "default_version = \"1\"\nprotocols = [\"h2c\", \"h2\"]\n";
    repository.write("servers/catalog.toml", &catalog.replacen("default_version = \"1\"\n", speaking, 1));
    let push = "[scenarios.Push]\nrequest = { path = \"/ws\" }\nexpect = { status = 101 }\n\
        push = { period = \"100ms\", messages = 9 }\n";
    repository.write("servers/contract.toml", &(read("servers/contract.toml") + push));
    repository.write("servers/serve.sh", "exec node $(dirname $0)/server.js $2\n");
    repository.write("servers/server.js", CATALOG_SERVER);
    let certificate = std::fs::read_to_string(project().join("servers/certificate.pem")).unwrap();
    repository.write("servers/certificate.pem", &certificate);
    let suite = "[servers.plain]\nlike = \"own.Layer\"\nprotocol = \"h2c\"\n\
        [servers.secure]\nlike = \"own.Layer\"\nprotocol = \"h2\"\n";
    repository.write("two.toml", suite);
    let verify = |more: &[&str]| repository.bench.run(&[&["verify", "--suite", "two.toml"], more].concat());
    let both = verify(&["plain", "secure", "--verbose"]);
    assert!(stdout(&both).contains("2 passed, 0 failed, 0 skipped"), "{}", all_of(&both));
    assert!(!stdout(&both).contains("Push"), "a WebSocket is not opened over HTTP/2: {}", all_of(&both));
    repository.write("two.toml", &suite.replacen("protocol = \"h2c\"", "env = { TARE_PROTOCOL = \"h2c\" }", 1));
    let deaf = verify(&["plain"]);
    assert!(!deaf.status.success(), "it was asked in HTTP/1.1, as the suite says: {}", all_of(&deaf));
    std::fs::remove_file(repository.bench.path().join("servers/certificate.pem")).unwrap();
    let missing = verify(&["secure"]);
    assert!(all_of(&missing).contains("servers/certificate.pem"), "{}", all_of(&missing));
    repository.bench.assert_nothing_left();
}
