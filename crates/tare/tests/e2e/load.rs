//! `tare load` from the outside: each output read back, conditions and exit codes, bad input, Ctrl-C.

mod agents;
mod kubernetes;
mod server;
mod ssh_faults;
mod users;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::common::{Bench, Reference, TARE, json, signal, stderr, stdout, wait_for};

#[test]
fn a_count_of_requests_is_sent_and_answered() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let output = bench.run(&["load", &server.url("/path0/4"), "-n", "500", "-c", "4", "--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = json(&stdout(&output));
    assert_eq!(summary["schema"], "tare-load/1");
    assert_eq!(summary["requests"]["ok"], 500);
    assert_eq!(summary["requests"]["failed"], 0);
    assert_eq!((&summary["response"]["count"], &summary["service"]["count"]), (&500.into(), &500.into()));
    assert_eq!(summary["connections"]["opened"], 4);
    let intervals = summary["intervals"].as_array().unwrap();
    assert_eq!(intervals.iter().map(|i| i["ok"].as_u64().unwrap()).sum::<u64>(), 500);
}

#[test]
fn the_built_in_server_takes_more_connections_than_its_soft_limit_of_files() {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -Sn 40 && exec {TARE} reference --port 0")]);
    let server = Reference::start_by(limited);
    let bench = Bench::new();
    let output = bench.run(&["load", &server.url("/path0/4"), "-n", "2000", "-c", "100", "--json", "-"]);
    assert_eq!(json(&stdout(&output))["requests"]["ok"], 2_000, "{}", stderr(&output));
}

#[test]
fn every_form_is_written_and_reads_back() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let forms = ["--json", "a.json", "--csv", "a.csv", "--html", "a.html", "--hgrm", "a.hgrm", "--hlog", "a.hlog"];
    let load = ["load", &server.url("/path0/4"), "-r", "2000", "-d", "1s", "--interval", "250ms", "--db", "a.sqlite"];
    let output = bench.run(&[&load[..], &forms[..]].concat());
    assert!(
        stdout(&output).contains("open loop, constant, 2,000/s over 50 connections for 1 s"),
        "{}",
        stdout(&output)
    );
    let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    let summary = json(&read("a.json"));
    let ok = summary["requests"]["ok"].as_u64().unwrap();
    assert_eq!(summary["requests"]["offered"], 2000);

    let csv = read("a.csv");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{csv}");
    let of =
        |part: &str| rows.iter().filter(|row| row[0] == part).map(|row| row[3].parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!((of("whole"), of("interval")), (ok, ok));

    assert!(read("a.hgrm").contains(&format!("Total count    = {ok:>12}]")));
    let logged = read("a.hlog").lines().filter(|line| line.contains(",HISTFAAA")).count();
    assert_eq!(logged, summary["intervals"].as_array().unwrap().len());
    assert!(read("a.html").contains("tare-summary/1"));

    let again = bench.run(&["report", "a.sqlite", "--json"]);
    let again = json(&stdout(&again));
    assert_eq!(again["response"], summary["response"], "the record tells the same again");
    assert!(stdout(&bench.run(&["report", "a.sqlite"])).starts_with("tare load · http://127.0.0.1:"));
}

#[test]
fn wrk_s_text_is_what_scripts_look_for() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let text = stdout(&bench.run(&["load", &server.url("/path0/4"), "-c", "2", "-d", "1s", "--latency", "--wrk"]));
    for part in [
        "Running 1s test @ http://127.0.0.1:",
        "threads and 2 connections",
        "Thread Stats   Avg",
        "    50%",
        "Requests/sec:",
        "Transfer/sec:",
    ] {
        assert!(text.contains(part), "no \"{part}\" in {text}");
    }
}

#[test]
fn conditions_decide_the_exit_code() {
    let server = Reference::start(&["--delay-us", "3000"]);
    let bench = Bench::new();
    let url = server.url("/path0/4");
    for (conditions, code) in [
        (&["p50>1s", "errors>0.1%", "rps<1"][..], 0),
        (&["p50>2ms"], 3),
        (&["rps<1000000"], 3),
        (&["p99.9999<100s"], 3),
        (&["errors>=0"], 3),
    ] {
        let flags: Vec<&str> = conditions.iter().flat_map(|condition| ["--fail-if", condition]).collect();
        let output = bench.run(&[&["load", &url, "-n", "100", "-c", "4"], &flags[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{conditions:?}: {}", stdout(&output));
        let words = if conditions == ["p99.9999<100s"] { "· too few answers to tell: it" } else { "· measured " };
        assert!(stdout(&output).contains(words), "{conditions:?}: {}", stdout(&output));
    }
}

#[test]
fn a_server_that_answers_wrongly_makes_the_numbers_void() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let output = bench.run(&["load", &server.url("/nothing-here"), "-n", "20", "-c", "2"]);
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    assert!(text.contains("VOID") && text.contains("20 status: status 404"), "{text}");
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let bench = Bench::new();
    let server = Reference::start(&[]);
    let url = server.url("/");
    for (args, code, words) in [
        (&["http://127.0.0.1:1/"][..], 1, "nothing listens on 127.0.0.1:1"),
        (&["http://no-such-host.invalid/"], 1, "does not resolve"),
        (&["gopher://127.0.0.1/"], 2, "does not speak \"gopher\""),
        (&["http://["], 2, "is not a URL"),
        (&[&url, "-c", "0"], 2, "at least 1"),
        (&[&url, "--seed", "-1"], 2, "invalid value '-1'"),
        (&[&url, "-n", "0"], 2, "at least 1"),
        (&[&url, "-H", "nonsense"], 2, "is not a header"),
        (&[&url, "-X", "GE T"], 2, "is not an HTTP method"),
        (&[&url, "-D", "missing.bin"], 1, "missing.bin"),
        (&[&url, "--data", "@missing.txt"], 1, "cannot read the body from missing.txt"),
        (&[&url, "--feed", "missing.csv"], 1, "missing.csv"),
        (&[&url, "--data", "@-", "--feed", "-"], 1, "feed -: standard input was read for another flag already"),
        (&[&url, "--urls", "missing.txt"], 1, "cannot read the list of URLs from missing.txt"),
        (&["http://127.0.0.1:1/{{nobody}}", "--urls", "missing.txt"], 1, "missing.txt"),
        (&[&server.url("/{{nobody}}")], 2, "nobody"),
        (&[&url, "--check", "nonsense"], 2, "status 2xx"),
        (&[&url, "--think", "slowly"], 2, "not a duration"),
        (&[&url, "--think", "9ms..1ms"], 2, "the shorter pause"),
        (&[&url, "--think", "1ms", "-r", "10"], 2, "cannot be used with"),
        (&[&url, "--cacert", "missing.pem", "--tick", "1ms"], 2, "--rate"),
        (&[&url, "--data-json", "{"], 2, "not valid JSON"),
        (&[&url, "--form", "name"], 2, "write NAME=VALUE"),
        (&[&url, "--unix-socket", "missing.sock"], 1, "nothing listens on missing.sock"),
        (&[&url, "--congestion", "no-such-algorithm"], 1, "tcp_allowed_congestion_control"),
        (&[&url, "--congestion", "reno", "--unix-socket", "a.sock"], 2, "--congestion is for TCP"),
        (&[&url, "--load-cpus", "1023"], 2, "--load-cpus: core 1023 is not there"),
        (&[&url, "-d", "@body.json"], 2, "a body is given with --data"),
        (&[&url, "-t", "5s"], 2, "--timeout"),
        (&[&url, "-r", "fast"], 2, "a number above 0"),
        (&[&url, "--json", "{\"a\":1}"], 2, "--data-json"),
        (&[&url, "--fail-if", "p99"], 2, "write for example p99>5ms"),
        (&[&url, "--poisson"], 2, "--rate"),
        (&[&url, "--stages", "fast"], 2, "such as 5000:30s"),
        (&[&url, "--stages", "100:0s"], 2, "the stages take no time"),
        (&[&url, "--timeout", "0"], 2, "'--timeout <SPAN>': the time must be above 0"),
        (&[&url, "--http2", "--pipeline", "2"], 2, "cannot be used with"),
        (&[&url, "--http2", "--no-keepalive"], 2, "cannot be used with"),
        (&[&url, "--http2", "-H", "connection: keep-alive, Close"], 2, "no meaning over HTTP/2"),
        (&[&server.url("/a.B/C").replace("http:", "grpc:"), "-H", "Connection: close"], 2, "no meaning over HTTP/2"),
        (&[&url, "--no-keepalive", "-H", "Connection: keep-alive"], 2, "remove Connection from -H"),
        (&[&url, "--fail-if", "p99(/other)>5ms"], 2, "no request has this URL; there is GET /"),
        (&[&url, "-a", "{{user}}:{{password}}"], 2, "the value of -a has a variable"),
        (&[&url, "--http2", "-H", "content-type: application/grpc"], 2, "grpc:// in the URL"),
        (&["--curl", "curl --digest http://127.0.0.1:1/"], 2, "--digest has no counterpart"),
        (&[&url, "--sni", "shop.example"], 2, "--sni is for https://, grpcs:// and wss://"),
        (&[&url, "-n", "10", "--stages", "10:1s"], 2, "cannot be used with"),
        (&[&url, "-d", "2s", "--stages", "10:1s"], 2, "cannot be used with"),
        (&[&url, "--pipeline", "many"], 2, "a whole number from 1 to 4096"),
        (&[&url, &server.url("/b"), "--urls", "missing.txt"], 2, "only one URL may stand beside --urls"),
        (
            &[&url, "--data", "abc", "-H", "Content-Length: 5"],
            2,
            "`Content-Length: 5` is not the length of the body, which is 3; leave it out, and it is added",
        ),
        (&[&url, "--data", "{{counter}}", "-H", "content-length: 1"], 2, "and the body has variables"),
        (&[&url, "--data", "abc", "-H", "Transfer-Encoding: gzip"], 2, "end it with chunked"),
        (&[&url, "--data", "a", "-T", "text/plain", "-H", "content-type: a/b"], 2, "remove Content-Type from -H"),
        (&[&url, "--host", "a", "-H", "Host: b"], 2, "remove Host from -H"),
        (&[&url, "--cacert", "ca.pem"], 2, "--cacert is for https://, grpcs:// and wss://"),
        (&[&url, "-a", "ada"], 2, "write -a USER:PASSWORD"),
        (&[&url, "--warmup", "99999999h"], 2, "longer than a hundred years"),
        (&[&url, "--seed", "x"], 2, "a whole number, such as 42"),
        (&[], 2, "Usage: tare load [OPTIONS] <URL>..."),
    ] {
        let output = bench.run(&[&["load"], args].concat());
        let error = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
        assert!(error.contains(words), "{args:?}: {error}");
        assert!(code == 2 || error.lines().count() == 1, "{args:?}: {error}");
    }
}

#[test]
fn a_list_of_urls_uses_the_url_before_its_paths_or_refuses_it() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let write = |name: &str, text: &str| std::fs::write(bench.path().join(name), text).unwrap();
    write("paths.txt", "\u{feff}/path0/1\r\n/path0/2\r\n");
    write("urls.txt", &server.url("/path0/1"));
    for (args, code, words) in [
        (&[&server.url, "--urls", "paths.txt", "-n", "10"][..], 0, ""),
        (
            &[&server.url, "--urls", "urls.txt"],
            2,
            "urls.txt has whole URLs and no path that this URL could complete; leave it out",
        ),
        (&[&server.url("/?a=b"), "--urls", "paths.txt"], 2, "cannot follow a query"),
        (&["--urls", "paths.txt"], 2, "paths.txt, line 1: /path0/1 is a path; add the URL of its server"),
    ] {
        let output = bench.run(&[&["load"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_list_and_a_feed_may_come_from_standard_input() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    for (args, input, sent) in [
        (&["--urls", "-"][..], format!("GET {0}\nX-Token: t\n\nPOST {0}\n", server.url("/path0/1")), "POST /path0/1"),
        (&[&server.url("/path0/{{id}}"), "--feed", "-"], "id\n1\n2\n".to_owned(), "/path0/{{id}}"),
    ] {
        let load = [&["load", "-n", "4", "-c", "1", "--check", "status 200..499", "--json", "-"], args].concat();
        let mut tare = bench.tare(&load).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        tare.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let summary = json(&stdout(&tare.wait_with_output().unwrap()));
        assert_eq!(summary["requests"]["ok"], 4, "{summary:#}");
        assert!(summary.to_string().contains(sent), "{summary:#}");
    }
}

#[test]
fn the_warm_up_uses_up_no_request_of_a_number() {
    let server = Reference::start(&[]);
    let load = ["load", &server.url("/path0/4"), "-n", "100", "-c", "2", "--warmup", "200ms", "--json", "-"];
    let output = Bench::new().run(&load);
    let summary = json(&stdout(&output));
    assert_eq!((output.status.code(), &summary["requests"]["offered"]), (Some(0), &100.into()), "{summary:#}");
}

#[test]
fn a_port_without_tls_gets_no_advice_on_authorities() {
    let server = Reference::start(&[]);
    let url = server.url("/").replace("http://", "https://");
    // As wide as one line.
    let output = Bench::new().tare(&["load", &url, "-n", "2", "-c", "1"]).env("COLUMNS", "400").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = stdout(&output);
    assert!(text.contains("speak TLS on this port at all? Correct the address, "), "{text}");
}

#[test]
fn a_body_and_its_type_arrive() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        loop {
            let (mut stream, mut request) = (listener.accept().unwrap().0, Vec::new());
            let mut read = [0; 1024];
            // A connection without a request only shows that somebody listens.
            while let Ok(bytes @ 1..) = stream.read(&mut read) {
                request.extend_from_slice(&read[..bytes]);
                if request.ends_with(b"hello") {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
                    return String::from_utf8(request).unwrap();
                }
            }
        }
    });
    let load = ["load", &url, "-n", "1", "-c", "1", "--data", "hello", "-T", "text/plain"];
    let output = Bench::new().run(&load);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let request = server.join().unwrap();
    assert!(request.starts_with("POST / HTTP/1.1\r\n") && request.ends_with("\r\n\r\nhello"), "{request}");
    assert!(request.contains("\r\nContent-Type: text/plain\r\n"), "{request}");
}

#[test]
fn an_interrupted_load_reports_what_it_measured() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let mut command = bench.tare(&[
        "load",
        &server.url("/path0/4"),
        "-d",
        "60s",
        "-c",
        "2",
        "--db",
        "run.sqlite",
        "--interval",
        "100ms",
    ]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(wait_for(|| bench.has_answers("run.sqlite")));
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stdout(&output).contains("· interrupted") && stdout(&output).contains("p50"), "{}", stdout(&output));
}

#[test]
fn the_requested_load_is_described_in_words() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let url = server.url("/path0/4");
    for (flags, model) in [
        (&["-c", "2", "-n", "10"][..], "closed loop, 2 users until 10 requests"),
        (&["-c", "1", "-n", "1"], "closed loop, 1 user until 1 request"),
        (&["-c", "2", "-z", "100ms"], "closed loop, 2 users for 100 ms"),
        (
            &["-c", "2", "-n", "10", "--pipeline", "4"],
            "closed loop, 8 users on 2 connections, 4 requests deep until 10 requests",
        ),
        (
            &["-c", "2", "-q", "1k", "-d", "100ms", "--poisson"],
            "open loop, Poisson, 1,000/s over 2 connections for 100 ms",
        ),
        (
            &["-c", "2", "-R", "500", "-d", "200ms", "--ramp", "100ms"],
            "open loop, evenly spaced, 0/s to 500/s in 100 ms over 2 connections for 200 ms",
        ),
        (
            &["-c", "2", "--user-stages", "2:100ms,0:50ms"],
            "closed loop, 0 users to 2 in 100 ms, to 0 in 50 ms over 2 connections for 150 ms",
        ),
        (
            &["-c", "2", "--stages", "500:100ms,0:50ms", "--tick", "1ms"],
            "open loop, evenly spaced, 0/s to 500/s in 100 ms, to 0/s in 50 ms over 2 connections, sent in ticks of 1 ms for 150 ms",
        ),
    ] {
        let output = bench.run(&[&["load", &url, "--json", "-"], flags].concat());
        let summary = json(&stdout(&output));
        assert_eq!(summary["model"]["text"], model, "{}", stderr(&output));
        assert_eq!(summary["requests"]["failed"], 0, "{summary:#}");
    }
}

#[test]
fn feeds_fill_variables_and_checks_hold_the_answers_to_them() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let write = |name: &str, text: &str| std::fs::write(bench.path().join(name), text).unwrap();
    write("rows.csv", "id\n1\n2\n3\n");
    write("urls.txt", "# two paths\n3 /path0/7\n1 GET /path1/{{id}}\n");
    let url = server.url("/path0/{{id}}");
    for (flags, ok) in [
        (&[&url, "--feed", "rows.csv", "--check", "body ~ ^[123]$"][..], 20),
        (&[&url, "--feed", "rows.csv", "--feed-order", "once"], 3),
        (&[&url, "--feed", "rows.csv", "--check", "status 404"], 0),
        (&[&server.url, "--urls", "urls.txt", "--feed", "rows.csv"], 20),
        (&[&server.url("/path0/4"), "--think", "1ms..2ms", "--check", "body = 4", "--check", "length 1"], 20),
    ] {
        let output = bench.run(&[&["load", "-n", "20", "-c", "1", "--json", "-"], flags].concat());
        let summary = json(&stdout(&output));
        assert_eq!(summary["requests"]["ok"], ok, "{flags:?}: {summary:#} {}", stderr(&output));
        if flags.contains(&"--urls") {
            let urls = summary["urls"].as_array().unwrap().iter().map(|url| (url["url"].clone(), url["ok"].clone()));
            let expected = [("GET /path0/7", 15), ("GET /path1/{{id}}", 5)].map(|(url, ok)| (url.into(), ok.into()));
            assert_eq!(urls.collect::<Vec<_>>(), expected, "{summary:#}");
        }
    }
}
