//! Checks as users write them, against answers in pieces of several sizes.

use tare_wire::http::{Field, Head, ResponseParser};

use super::*;
use crate::protocol::connection::{AnswerSink, Exchange};
use tare_sample::ErrorClass::{self, Status, Validation};

/// The result for a complete answer, received in pieces of `size` bytes.
fn verdict(checks: &[Check], raw: &[u8], size: usize) -> Option<(ErrorClass, String)> {
    let expectation = Expectation::of(checks);
    let (mut parser, mut exchange) = (ResponseParser::new(), Exchange::default());
    for piece in raw.chunks(size) {
        parser.feed(piece, &mut AnswerSink { exchange: &mut exchange, expectation: &expectation }).unwrap();
    }
    exchange.answer.verdict(&expectation).map(|problem| (problem.class, problem.text))
}

/// The result of written checks for an answer. The class does not depend on the pieces. The text of a difference shows
/// only the piece in which it was found.
fn judge(checks: &[&str], status: u16, header: &str, body: &str) -> Option<(ErrorClass, String)> {
    let checks: Vec<Check> = checks.iter().map(|check| check.parse().unwrap()).collect();
    let raw = format!("HTTP/1.1 {status} A\r\n{header}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let whole = verdict(&checks, raw.as_bytes(), raw.len());
    for size in [1, 7] {
        let cut = verdict(&checks, raw.as_bytes(), size);
        let class = |verdict: &Option<(ErrorClass, String)>| verdict.as_ref().map(|(class, _)| *class);
        assert_eq!(class(&cut), class(&whole), "{raw:?} in pieces of {size}");
    }
    whole
}

#[test]
fn a_redirect_says_where_it_leads_and_what_to_do() {
    let (class, text) = judge(&[], 302, "Location: /new", "").unwrap();
    assert_eq!(class, Status);
    for says in ["status 302 instead of 200 to 299", "\"/new\"", "--check 'status 302'"] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert_eq!(judge(&["status 302"], 302, "Location: /new", ""), None);
    // Of these statuses nothing follows, whatever the flags.
    for status in [300, 304] {
        let text = judge(&[], status, "Location: /new", "").unwrap().1;
        assert_eq!(text, format!("status {status} instead of 200 to 299"));
    }
    assert!(!judge(&[], 304, "X: y", "").unwrap().1.contains("leads"));
}

#[test]
fn a_redirect_of_a_set_up_says_what_a_set_up_can_do() {
    let mut of_setup = Expectation::of(&[]);
    of_setup.keeps_answer = true;
    let location = [Field { name: "Location", value: b"/home" }];
    let text = of_setup.judge_head(&Head::new(303, &location)).unwrap().text;
    assert!(text.contains("\"/home\"") && text.contains("expect = { status = 303 }"), "{text}");
    assert!(!text.contains("--"), "no flag is about a set-up: {text}");
}

#[test]
fn fields_are_read_for_checks_of_headers_for_set_ups_and_of_answers_that_are_wrong() {
    let of =
        |checks: &[&str]| Expectation::of(&checks.iter().map(|check| check.parse().unwrap()).collect::<Vec<Check>>());
    let mut of_setup = of(&[]);
    of_setup.keeps_answer = true;
    let found = [of(&[]), of(&["status 303"]), of(&["header x"]), of(&["length 2"]), of_setup]
        .map(|expectation| [200, 303].map(|status| expectation.reads_fields_of(status)));
    assert_eq!(found, [[false, true], [true, false], [true, true], [false, true], [true, true]]);
}

#[test]
fn what_fits_is_right() {
    for checks in [
        &[][..],
        &["status 200"],
        &["status 404", "status 2xx"],
        &["status 100..299", "header x", "header X = y z", "header X ~ ^y .$"],
        &["body = {\"a\": [1, \"b\"]}"],
        &["body contains [1,", "body ~ ^\\{.*\\}$", "length 15", "length 0..15"],
        &["json $.a", "json $.a[0] = 1", "json $.a[1] = b", "json $.a[1] = \"b\"", "json $.a = [1, \"b\"]"],
        &["json $.a[?@ == 'b']", "json $.a[?@ == 1] = 1"],
    ] {
        assert_eq!(judge(checks, 200, "X: y z", "{\"a\": [1, \"b\"]}"), None, "{checks:?}");
    }
}

#[test]
fn what_does_not_fit_is_told_with_what_was_seen() {
    let json = "{\"a\": [1, \"b\"]}";
    for (checks, class, text) in [
        (&[][..], Status, "status 500 instead of 200 to 299"),
        (&["status 200", "status 3xx", "body = x"], Status, "status 500 instead of 200 or 300 to 399"),
        (&["status 5xx", "header Y"], Validation, "header Y is absent"),
        (&["status 5xx", "header X = z"], Validation, "header X is \"y z\" instead of \"z\""),
        (&["status 5xx", "header X ~ ^z"], Validation, "header X is \"y z\" and does not match ^z"),
        (
            &["status 5xx", "body = {\"b\": 1}"],
            Validation,
            "body differs at byte 2: \"a\\\": [1, \\\"b\\\"]}\" instead of \"b\\\": 1}\"",
        ),
        (&["status 5xx", "length 16..20"], Validation, "body of 15 bytes instead of 16 to 20"),
        (&["status 5xx", "length 3", "body contains z"], Validation, "body of 15 bytes instead of 3"),
        (
            &["status 5xx", "body contains \u{1}"],
            Validation,
            "body does not contain \"\\x01\": \"{\\\"a\\\": [1, \\\"b\\\"]}\"",
        ),
        (&["status 5xx", "body ~ ^b"], Validation, "body does not match ^b: \"{\\\"a\\\": [1, \\\"b\\\"]}\""),
        (&["status 5xx", "json $.b"], Validation, "body has nothing at $.b: \"{\\\"a\\\": [1, \\\"b\\\"]}\""),
        (&["status 5xx", "json $.a[*] = 1"], Validation, "body has \"\\\"b\\\"\" at $.a[*] instead of \"1\""),
    ] {
        let seen = judge(checks, 500, "X: y z", json);
        assert_eq!(seen, Some((class, text.to_owned())), "{checks:?}");
    }
    let numbers = |check: &str| judge(&[check], 200, "X: y", "{\"b\": 1, \"a\": 1e2, \"c\": 12345678901234567890123}");
    assert_eq!((numbers("json $.a = 100"), numbers("json $.a = 100.0"), numbers("json $.b = 1.0")), (None, None, None));
    let (_, text) = numbers("json $.d").unwrap();
    assert!(text.ends_with("\\\"c\\\": 12345678901234567890123}\""), "as it came: {text}");
    let (_, text) = judge(&["json $.a"], 200, "X: y", "<html>").unwrap();
    assert!(text.starts_with("body is not JSON, expected value at line 1 column 1: \"<html>\""), "{text}");
}

#[test]
fn a_body_that_must_be_exact_is_judged_alike_however_it_comes() {
    for (body, expected) in
        [("okay", None), ("oka", Some("body of 3 bytes instead of 4")), ("okay!", Some("body of 5 bytes instead of 4"))]
    {
        assert_eq!(judge(&["body = okay"], 200, "X: y", body), expected.map(|text| (Validation, text.to_owned())));
    }
    assert_eq!(judge(&["body = okay", "body = okay"], 200, "X: y", "okay"), None);
    let (_, other) = judge(&["body = oxay", "body = okay"], 200, "X: y", "okay").unwrap();
    assert_eq!(other, "body does not contain \"oxay\": \"okay\"", "each check must hold");
}

#[test]
fn wrong_checks_say_what_would_be_right() {
    for (check, what) in [
        ("", "write one of: status 200"),
        ("status", "write one of"),
        ("status ok", "write one of"),
        ("status 0xx", "write one of"),
        ("status 300..200", "write one of"),
        ("length -1", "write one of"),
        ("json $.a = {{id}}", "variables cannot be used in checks"),
        ("cookie a", "check `cookie a`: unknown kind of check"),
        ("body is x", "write one of"),
        ("body ~ (", "regular expression `(`: unclosed group"),
        ("header X ~ [", "regular expression `[`: unclosed character class"),
        ("json $.id = 12345678901234567890123", "`: a number beyond 64 bits; compare text: body contains"),
        ("json .a", "JSON path `.a`, character 1"),
        ("json $.a[", "JSON path `$.a[`, character"),
    ] {
        let error = check.parse::<Check>().unwrap_err().to_string();
        assert!(error.contains(what), "{check:?}: {error}");
    }
}

#[test]
fn a_flood_is_known_by_what_would_be_right() {
    let floods = |checks: &[Check], bytes| Expectation::of(checks).is_exceeded_by(bytes, false);
    assert!(!floods(&[Check::length(10)], 10 + 64 * 1024));
    assert!(floods(&[Check::length(10)], 11 + 64 * 1024));
    assert!(!floods(&[], 1 << 30) && floods(&[], (1 << 30) + 1));
    assert!(!floods(&[Check(Rule::Length(1 << 40..=u64::MAX))], 1 << 40));
}

/// Patterns that take others longer than the age of the universe: here the time is linear in the body.
#[test]
fn no_pattern_of_a_user_hangs_and_one_too_large_is_refused() {
    let body = "a".repeat(50_000) + "!";
    for pattern in ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*){9}b", "^(.*?,){11}P"] {
        let check = format!("body ~ {pattern}");
        let found = verdict(&[check.parse().unwrap()], answer_with(&body).as_bytes(), 1 << 20);
        assert_eq!(found.map(|(class, _)| class), Some(Validation), "{pattern}");
    }
    let error = "body ~ ((a{1000}){1000}){1000}".parse::<Check>().unwrap_err().to_string();
    assert!(error.contains("size limit") || error.contains("too big"), "{error}");
}

fn answer_with(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
