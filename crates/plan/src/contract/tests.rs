//! The contract as written, and what it asks of each server.

use super::*;

/// Of the tests of plans too.
pub const TEXT: &str = r#"
schema = 1
[scenarios.SimpleGet]
request = { path = "/path0/4" }
expect = { body = "4", headers = { content-type = "text/plain" } }
[scenarios.SimpleGetMultiRoute]
routes = 128
request = { path = "/path127/4" }
expect = { body = "131" }
[[checks]]
name = "a malformed id is refused"
request = { path = "/path0/x" }
expect = { status = 404 }
[scenarios.Push]
request = { path = "/ws/ts" }
expect = { status = 101 }
push = { period = "100ms", messages = 600 }
[[differences]]
servers = ["*.Tapir"]
check = "a malformed id is refused"
because = "Tapir decodes the path after it has matched"
expect = { status = 400 }
[[lacks]]
servers = ["*.Tapir@1.8.*", "http4s.Tapir@1.10.*", "old.*"]
scenarios = ["Push*"]
because = "no WebSockets"
"#;

#[test]
fn a_server_gets_only_requests_that_its_routes_allow() {
    let contract = Contract::parse("c.toml", TEXT).unwrap();
    let names = |routes| contract.exchanges("a", routes).map(|e| e.name).collect::<Vec<_>>();
    assert_eq!(names(1), ["a malformed id is refused", "Push", "SimpleGet"]);
    assert_eq!(names(128), ["a malformed id is refused", "Push", "SimpleGet", "SimpleGetMultiRoute"]);
}

#[test]
fn a_legitimate_difference_replaces_what_is_expected_and_says_why() {
    let contract = Contract::parse("c.toml", TEXT).unwrap();
    let status = |server| contract.exchange(server, "a malformed id is refused").unwrap().expect.status;
    assert_eq!((status("x.Vanilla"), status("x.Tapir")), (404, 400));
    assert_eq!(status("x.Tapir@1.8.1"), 400);
    let of_a_version = TEXT.replace("*.Tapir", "*.Tapir@1.8.*");
    let contract = Contract::parse("c.toml", &of_a_version).unwrap();
    let status = |server| contract.exchange(server, "a malformed id is refused").unwrap().expect.status;
    assert_eq!((status("x.Tapir@1.8.1"), status("x.Tapir@1.11.15"), status("x.Tapir")), (400, 404, 404));
    assert_eq!(status("x.Tapir@1.8.1 HTTP/2"), 400, "in any protocol");
    let over_http2 = TEXT.replace("*.Tapir", "*.Tapir* HTTP/2");
    let contract = Contract::parse("c.toml", &over_http2).unwrap();
    let status = |server| contract.exchange(server, "a malformed id is refused").unwrap().expect.status;
    assert_eq!((status("x.Tapir@1.8.1 HTTP/2"), status("x.Tapir HTTP/2"), status("x.Tapir@1.8.1")), (400, 400, 404));
}

#[test]
fn a_server_gets_no_requests_that_its_library_lacks() {
    let contract = Contract::parse("c.toml", TEXT).unwrap();
    for (server, because) in [
        ("x.Tapir@1.8.1", Some("no WebSockets")),
        ("x.Tapir@1.11.15", None),
        ("old.Vanilla", Some("no WebSockets")),
        ("old.Vanilla@2", Some("no WebSockets")),
    ] {
        assert_eq!(contract.why_not_served(server, "Push"), because, "{server}");
        assert_eq!(contract.exchange(server, "Push").is_none(), because.is_some(), "{server}");
        assert_eq!(contract.why_not_served(server, "SimpleGet"), None);
    }
    for (written, wrong, says) in [
        ("\"100ms\"", "\"0ms\"", "[scenarios.Push] push: period must be above 0"),
        ("600", "1", "[scenarios.Push] push: messages must be at least 2"),
        ("600", "4000000000", "[scenarios.Push] push: messages must be at most 1000000"),
    ] {
        let error = Contract::parse("c.toml", &TEXT.replace(written, wrong)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn pushes_over_http_are_a_stream_of_events_which_has_no_body_to_compare() {
    let contract = |expect: &str| Contract::parse("c.toml", &TEXT.replace("expect = { status = 101 }", expect));
    assert!(!contract("expect = { status = 101 }").unwrap().scenarios["Push"].is_event_stream());
    assert!(contract("expect = {}").unwrap().scenarios["Push"].is_event_stream());
    let error = contract("expect = { body = \"data\" }").unwrap_err().to_string();
    assert!(error.starts_with("c.toml: [scenarios.Push] expect: push asks for a stream of events"), "{error}");
}

#[test]
fn what_could_not_come_back_is_refused_wherever_it_is_expected() {
    for (written, wrong, says) in [
        (
            "{ status = 404 }",
            "{ body = { hex = \"0\" } }",
            "[[checks]] \"a malformed id is refused\": expect: \"0\" is not",
        ),
        (
            "{ status = 400 }",
            "{ body = { hex = \"0g\" } }",
            "[[differences]] of \"a malformed id is refused\": expect: \"0g\"",
        ),
        ("body = \"4\"", "body = { hex = \"4\" }", "[scenarios.SimpleGet] expect: \"4\" is not in hex"),
    ] {
        let error = Contract::parse("c.toml", &TEXT.replace(written, wrong)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("c.toml: {says}")), "{error}");
    }
}

#[test]
fn a_body_that_is_described_twice_is_refused() {
    let text = TEXT.replace("body = \"4\"", "body = { bytes = 1, hex = \"34\" }");
    let error = Contract::parse("c.toml", &text).unwrap_err().to_string();
    assert!(error.contains("an expected body is a string, { bytes = LENGTH }"), "{error}");
}

#[test]
fn a_contract_of_another_schema_or_with_a_bad_path_is_refused() {
    let other = Contract::parse("c.toml", "schema = 9").unwrap_err().to_string();
    assert_eq!(other, "c.toml: schema = 9 is unknown to this tare; write schema = 1");
    let path = TEXT.replace("\"/path0/4\"", "\"path0/4\"");
    assert!(Contract::parse("c.toml", &path).unwrap_err().to_string().contains("begin it with /"));
    let split = TEXT.replace("/path0/x", "/path0/x\\r\\nHost: evil");
    assert!(Contract::parse("c.toml", &split).is_err());
}

#[test]
fn a_header_that_states_another_length_than_the_body_has_is_refused() {
    for (headers, says) in [
        ("Content-Length = \"5\"", "`Content-Length: 5` is not the length of the body, which is 3; leave it out"),
        ("Content-Length = \"three\"", "is not the length of the body"),
        ("Content-Length = \"3\", content-length = \"3\"", "stated twice"),
        ("Content-Length = \"3\", Transfer-Encoding = \"chunked\"", "stated twice"),
        ("Transfer-Encoding = \"gzip\"", "does not say where the body ends"),
    ] {
        let text = |headers: &str| {
            format!(
                "schema = 1\n[scenarios.Post]\nrequest = {{ method = \"POST\", path = \"/\", body = \"abc\", headers = \
                 {{ {headers} }} }}\nexpect = {{}}\n"
            )
        };
        let error = Contract::parse("c.toml", &text(headers)).unwrap_err().to_string();
        assert!(error.starts_with("c.toml: [scenarios.Post] request: ") && error.contains(says), "{headers}: {error}");
        for right in ["content-length = \"3\"", "Transfer-Encoding = \"Chunked\""] {
            Contract::parse("c.toml", &text(right)).unwrap();
        }
    }
}
