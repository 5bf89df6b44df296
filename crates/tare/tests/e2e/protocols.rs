//! Servers over HTTP/2 and TLS, compared with one over HTTP/1.1.

use std::net::TcpStream;
use std::process::Command;

use rcgen::{CertificateParams, KeyPair};

use crate::check::project_with_catalog;
use crate::common::{Bench, HeldPort, all_of, cell, json, project, skip, stdout, wait_for};

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
const server = servers[process.argv[2]]();
// Of connections that are idle while others have their turn, none is closed.
server.keepAliveTimeout = 0;
server.listen(Number(process.argv[3]), '127.0.0.1');
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

/// The test's own view: each connection over TLS writes a line, `full` or `resumed`, into the file of its server.
const NOTING: &str = "
const fs = require('fs'), https = require('https');
const tls = { key: fs.readFileSync('key.pem'), cert: fs.readFileSync('ca.pem') };
https.createServer(tls, (request, response) => response.end('hello'))
  .on('secureConnection', socket => fs.appendFileSync(process.argv[2], socket.isSessionReused() ? 'resumed\\n' : 'full\\n'))
  .listen(Number(process.argv[3]), '127.0.0.1');
";

#[test]
fn sessions_of_tls_are_resumed_unless_the_suite_or_a_flag_says_otherwise() {
    let Some(bench) = bench() else { return };
    std::fs::write(bench.path().join("noting.js"), NOTING).unwrap();
    // What the server saw: full handshakes, and those that resumed a session.
    let seen = |file: &str| {
        let text = std::fs::read_to_string(bench.path().join(file)).unwrap();
        (text.lines().filter(|line| *line == "full").count(), text.lines().filter(|line| *line == "resumed").count())
    };
    let (head, scenario) = SUITE.split_at(SUITE.find("[servers.http1]").unwrap());
    let scenario = &scenario[scenario.find("[scenarios.Home]").unwrap()..];
    let scenario = scenario.replace("path = \"/\"", "path = \"/\", headers = { Connection = \"close\" }");
    let server = |name: &str| {
        format!(
            "[servers.{name}]\ncommand = [\"node\", \"noting.js\", \"{name}.log\", \"{{port}}\"]\n\
             tls = {{ ca = \"ca.pem\", server_name = \"localhost\" }}\n"
        )
    };
    let servers = server("usual") + &server("full") + "resumption = false\nbaseline = \"usual\"\n";
    bench.suite(&format!("{head}{servers}{scenario}"));
    let output = bench.run(&["run", "suite.toml"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let (full, resumed) = seen("usual.log");
    assert!(resumed > full, "{full} full handshakes, {resumed} resumed");
    let (full, resumed) = seen("full.log");
    assert!(full > 0 && resumed == 0, "{full} full handshakes, {resumed} resumed");
    let question = bench.summary()["run"]["question"].as_str().unwrap().to_owned();
    assert!(question.contains("full speaks HTTP/1.1 over TLS without resumption."), "{question}");

    let held = HeldPort::new();
    let port = held.number;
    let mut node = Command::new("node");
    let command = node.args(["noting.js", "load.log", &port.to_string()]).current_dir(bench.path());
    let mut server = command.spawn().unwrap();
    let listens = wait_for(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
    let url = format!("https://localhost:{port}/");
    let load = |more: &[&str]| {
        let common =
            ["load", &url, "--cacert", "ca.pem", "--no-keepalive", "-c", "1", "-t", "1", "-n", "10", "--json", "-"];
        let output = bench.run(&[&common[..], more].concat());
        let connections = json(&stdout(&output))["connections"].clone();
        (
            connections["tls_handshakes"].as_u64().unwrap() as usize,
            connections["tls_resumed"].as_u64().unwrap() as usize,
        )
    };
    let (usual, usual_seen) = (load(&[]), seen("load.log"));
    let (full, full_seen) = (load(&["--no-resumption"]), seen("load.log"));
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(listens);
    let (handshakes, resumed) = usual;
    // A session whose ticket comes behind the answer is lost with its connection.
    assert!(handshakes == 10 && resumed > 0, "{usual:?}");
    assert_eq!(usual_seen, (10 - resumed, resumed), "the server sees what tare counts");
    assert_eq!((full, full_seen), ((10, 0), (20 - resumed, resumed)));
}

/// `node both.js FILE PORT`: HTTP/1.1 and HTTP/2 over TLS on one port. A path says which it was asked in.
const BOTH: &str = "
const fs = require('fs'), http2 = require('http2');
const tls = { key: fs.readFileSync('key.pem'), cert: fs.readFileSync('ca.pem'), allowHTTP1: true };
http2.createSecureServer(tls, (request, response) => {
  response.setHeader('content-type', 'text/plain');
  response.statusCode = request.url === `/${request.httpVersion}` ? 200 : 404;
  response.end('hello');
}).listen(Number(process.argv[2]), '127.0.0.1');
";

#[test]
fn a_scenario_says_in_which_protocol_all_servers_are_asked() {
    let Some(bench) = bench() else { return };
    std::fs::write(bench.path().join("both.js"), BOTH).unwrap();
    let head = &SUITE[..SUITE.find("[servers.http1]").unwrap()];
    let server =
        |name: &str, more: &str| format!("[servers.{name}]\ncommand = [\"node\", \"both.js\", \"{{port}}\"]\n{more}\n");
    let scenario = |name: &str, path: &str, more: &str| {
        format!(
            "[scenarios.{name}]\nrequest = {{ path = \"{path}\" }}\nexpect = {{ status = 200, body = \"hello\" }}\n\
             tls = {{ ca = \"ca.pem\", server_name = \"localhost\" }}\n{more}\n"
        )
    };
    let servers = server("app", "") + &server("layer", "baseline = \"app\"");
    let scenarios = scenario("One", "/1.1", "") + &scenario("Two", "/2.0", "protocol = \"h2\"\nstreams = 4");
    bench.suite(&format!("{head}{servers}{scenarios}"));
    let verify = bench.run(&["verify", "--suite", "suite.toml"]);
    assert!(stdout(&verify).contains("4 passed, 0 failed, 0 skipped"), "{}", all_of(&verify));
    let output = bench.run(&["run", "suite.toml"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    for (variant, scenario) in [("app", "One"), ("layer", "One"), ("app over h2", "Two"), ("layer over h2", "Two")] {
        let cell = cell(&summary, variant);
        assert_eq!((&cell["scenario"], &cell["requests_failed"]), (&scenario.into(), &0.into()), "{cell:#}");
    }
    let plan = bench.run(&["run", "suite.toml", "--dry-run"]);
    let words = stdout(&plan).split_whitespace().collect::<Vec<_>>().join(" ");
    let place = "streams 4 suite of app over h2, layer over h2, by suite.toml: [scenarios.Two] streams";
    assert!(words.contains(place), "{}", all_of(&plan));
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
