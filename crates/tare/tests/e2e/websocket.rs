//! `tare load ws://…` from the outside: what is pushed and what is echoed, in every form, and flags that mean nothing
//! there.

use crate::common::{Bench, Reference, json, stderr, stdout};

fn websocket(server: &Reference, path: &str) -> String {
    server.url(path).replace("http://", "ws://")
}

#[test]
fn every_user_reads_its_messages_and_all_forms_report_them() {
    let server = Reference::start(&["--push-period-ms", "20"]);
    let bench = Bench::new();
    let url = websocket(&server, "/ws/ts");
    let load = ["load", &url, "-c", "10", "--messages", "30", "--period", "20ms", "--db", "a.sqlite"];
    let forms = ["--json", "a.json", "--csv", "a.csv", "--html", "a.html", "--hgrm", "a.hgrm"];
    let output = bench.run(&[&load[..], &forms[..]].concat());
    let text = stdout(&output);
    for says in [
        "10 users; the server pushes a message to each every 20 ms",
        "300 messages to 10 users, none missing",
        "jitter",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    let summary = json(&read("a.json"));
    assert_eq!((&summary["requests"]["ok"], &summary["requests"]["failed"]), (&10.into(), &0.into()));
    let messages = &summary["messages"];
    assert_eq!((&messages["received"], &messages["missing"]), (&300.into(), &0.into()));
    assert_eq!((&messages["subscriptions"], &messages["stamp_unit_ns"]), (&10.into(), &1.into()));
    assert!(messages["clock_within_ns"].as_u64().unwrap() > 0 && messages["clock"].is_null(), "{messages}");
    assert_eq!((&summary["response"]["count"], &messages["jitter"]["count"]), (&300.into(), &290.into()));
    assert_eq!(summary["model"]["loop_kind"], "push");
    assert!(read("a.hgrm").contains("Total count    =          300]"));
    assert!(read("a.csv").lines().count() >= 2 && read("a.html").contains("tare-summary/1"));
    let again = json(&stdout(&bench.run(&["report", "a.sqlite", "--json"])));
    assert_eq!(again["messages"], *messages, "the record holds all of it");
}

#[test]
fn the_clock_of_a_remote_server_is_estimated_with_its_possible_error() {
    for (ahead, way) in [("3000000000", "ahead"), ("-3000000000", "behind")] {
        let server = Reference::start(&["--push-period-ms", "20", "--clock-ahead-ns", ahead]);
        let bench = Bench::new();
        let url = websocket(&server, "/ws/ts");
        let load = ["load", &url, "-c", "4", "--messages", "30", "--period", "20ms", "--server-clock", "estimate"];
        let output = bench.run(&[&load[..], &["--json", "a.json", "--db", "a.sqlite"]].concat());
        let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("the server's clock is ") && text.contains(&format!(" s {way}, within ")), "{text}");
        assert!(stderr(&output).contains("server's clock is estimated"), "{}", stderr(&output));
        let summary = json(&std::fs::read_to_string(bench.path().join("a.json")).unwrap());
        let messages = &summary["messages"];
        assert_eq!(messages["received"], 120, "{messages}");
        // 20 before and after; one more may arrive together with the last.
        let heard = messages["clock"]["messages"].as_u64().unwrap();
        assert!((40..=44).contains(&heard), "{messages}");
        assert!(text.contains(&format!("(estimated from {heard} messages and a round trip of ")), "{text}");
        let again = json(&stdout(&bench.run(&["report", "a.sqlite", "--json"])));
        assert_eq!(again["messages"], *messages, "the record holds all of it");
        // In both directions, the server does not count as three seconds late or ahead.
        let offset_ns = messages["clock"]["offset_ns"].as_i64().unwrap();
        assert!(offset_ns.abs_diff(ahead.parse().unwrap()) < 1_000_000_000, "{offset_ns}");
        assert!(summary["response"]["max_ns"].as_u64().unwrap() < 2_000_000_000, "{summary}");
    }
}

#[test]
fn echoed_messages_are_validated_by_checks() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let url = websocket(&server, "/ws/echo");
    for (flags, code) in [
        (&["--echo", "256", "-n", "200"][..], 0),
        (&["--data", "n {{counter}}", "--check", "body contains n ", "-r", "500", "-d", "300ms"], 0),
        (&["--data", "hello", "--check", "body contains goodbye", "-n", "20"], 3),
    ] {
        let load = ["load", &url, "-c", "4", "--json", "-"];
        let output = bench.run(&[&load[..], flags].concat());
        let summary = json(&stdout(&output));
        assert_eq!(output.status.code(), Some(code), "{flags:?}: {summary}");
        assert_eq!(summary["messages"], serde_json::Value::Null, "nothing is pushed");
        assert!(summary["requests"]["offered"].as_u64().unwrap() >= 20, "{flags:?}");
    }
}

#[test]
fn flags_that_mean_nothing_say_what_to_do_instead() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let (pushed, http) = (websocket(&server, "/ws/ts"), server.url("/path0/1"));
    for (args, says) in [
        (&[&*pushed, "-r", "100"][..], "--echo BYTES or --data TEXT"),
        (&[&*pushed, "-n", "5"], "use --messages N for each user, or -d SPAN"),
        (&[&*pushed, "--check", "body contains x"], "--check is about responses"),
        (&[&*pushed, "--http2"], "a WebSocket is opened over HTTP/1.1"),
        (&[&*pushed, "--pipeline", "4"], "use more connections"),
        (&[&*pushed, "-H", "Sec-WebSocket-Extensions: permessage-deflate"], "no WebSocket extensions"),
        (&[&*pushed, "-H", "Content-Length: 5"], "Content-Length has no meaning on a WebSocket"),
        (&[&*pushed, "--echo", "5", "--messages", "3"], "counts pushed messages"),
        (&[&*http, "--messages", "3"], "ws:// or wss://"),
    ] {
        let output = bench.run(&[&["load"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(says) && stdout(&output).is_empty(), "{args:?}: {}", stderr(&output));
    }
}
