//! Compares an answer with the expected one, and describes the first difference.

use tare_plan::contract::{Expect, ExpectBody, GrpcStatus, HexBody, Request, SameAs, bytes_of_hex};
use tare_wire::grpc::Code;

use super::client::Answer;

/// Bytes of a body in a message.
const SHOWN_BYTES: usize = 60;

/// The first difference, in this order: status, that of a gRPC call, headers, body, connection.
pub(super) fn difference(request: &Request, expect: &Expect, answer: &Answer) -> Option<String> {
    status(expect, answer)
        .or_else(|| wrong_reply(expect, answer))
        .or_else(|| differing_header(expect, answer))
        .or_else(|| expect.body.as_ref().and_then(|expected| body(expected, request, &answer.body)))
        .or_else(|| connection(request, expect, answer))
}

fn status(expect: &Expect, answer: &Answer) -> Option<String> {
    let body =
        || if answer.body.is_empty() { String::new() } else { format!(" with the body {}", excerpt(&answer.body, 0)) };
    (expect.status != answer.status)
        .then(|| format!("status: expected {}, got {}{}", expect.status, answer.status, body()))
}

/// The first difference in the head: status, headers.
pub(super) fn head_difference(expect: &Expect, answer: &Answer) -> Option<String> {
    status(expect, answer).or_else(|| differing_header(expect, answer))
}

fn wrong_reply(expect: &Expect, answer: &Answer) -> Option<String> {
    let wanted = expect.grpc_status.map_or(Code::OK, |GrpcStatus(code)| code);
    answer.reply.as_ref()?.check(wanted).err().map(|error| error.to_string())
}

fn differing_header(expect: &Expect, answer: &Answer) -> Option<String> {
    expect.headers.iter().find_map(|(name, value)| compare_headers(name, Some(value), answer.header(name).as_deref()))
}

/// How a header differs from the expected one; `None` if it does not. A header that is missing has no value.
pub(super) fn compare_headers(name: &str, expected: Option<&str>, got: Option<&str>) -> Option<String> {
    (expected != got).then(|| format!("header {name}: expected {}, got {}", quoted(expected), quoted(got)))
}

pub(super) fn quoted(value: Option<&str>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("{value:?}"))
}

fn body(expected: &ExpectBody, request: &Request, got: &[u8]) -> Option<String> {
    match expected {
        ExpectBody::Exact(text) => compare_bytes(text.as_bytes(), got),
        ExpectBody::Same { same_as: SameAs::Request } => compare_bytes(&request.message_bytes(), got),
        ExpectBody::Hex(HexBody { hex }) => compare_bytes(&bytes_of_hex(hex).unwrap_or_default(), got),
        ExpectBody::Length { bytes } if *bytes == got.len() as u64 => None,
        ExpectBody::Length { bytes } => {
            Some(format!("body: expected {}, got {}", count(*bytes), count(got.len() as u64)))
        }
    }
}

/// Where a body differs from the expected one; `None` if it does not.
pub(super) fn compare_bytes(expected: &[u8], got: &[u8]) -> Option<String> {
    if expected == got {
        return None;
    }
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    // The difference must be visible, even late in a long body.
    let from = at.saturating_sub(SHOWN_BYTES / 2);
    Some(format!(
        "body: expected {} {}, got {} {} (differs at byte {at})",
        count(expected.len() as u64),
        excerpt(expected, from),
        count(got.len() as u64),
        excerpt(got, from),
    ))
}

/// If only one of two servers closes after each answer, only its clients pay for connections. The request may ask for it.
fn connection(request: &Request, expect: &Expect, answer: &Answer) -> Option<String> {
    let mut names = expect.headers.keys().chain(request.headers.keys());
    let may_close = expect.status >= 400 || names.any(|name| name.eq_ignore_ascii_case("connection"));
    (!answer.keeps_alive && !may_close).then(|| {
        let said = answer.header("connection").map_or_else(String::new, |value| format!(" (connection: {value})"));
        format!("connection closed without keep-alive{said}")
    })
}

fn count(bytes: u64) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

fn excerpt(bytes: &[u8], from: usize) -> String {
    let from = from.min(bytes.len());
    let to = (from + SHOWN_BYTES).min(bytes.len());
    let text = bytes[from..to].escape_ascii();
    let (before, after) = (if from > 0 { "…" } else { "" }, if to < bytes.len() { "…" } else { "" });
    format!("{before}\"{text}\"{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(expect: &Expect, answer: &Answer) -> Option<String> {
        super::difference(&request("sent"), expect, answer)
    }

    fn request(body: &str) -> Request {
        Request {
            method: "POST".into(),
            path: "/".into(),
            grpc: None,
            headers: Default::default(),
            body: Some(tare_plan::contract::BodySpec::Text(body.into())),
        }
    }

    fn answer(status: u16, body: &str) -> Answer {
        let headers = vec![("Content-Type".into(), "text/plain".into())];
        Answer { status, headers, body: body.into(), keeps_alive: true, ..Answer::default() }
    }

    fn expect(body: &str) -> Expect {
        let headers = [("content-type".to_owned(), "text/plain".to_owned())].into();
        Expect { status: 200, headers, body: Some(ExpectBody::Exact(body.to_owned())), grpc_status: None }
    }

    #[test]
    fn what_is_as_expected_has_no_difference() {
        assert_eq!(difference(&expect("16"), &answer(200, "16")), None);
        let length = Expect { body: Some(ExpectBody::Length { bytes: 2 }), ..expect("") };
        assert_eq!(difference(&length, &answer(200, "ab")), None);
        let echo = Expect { body: Some(ExpectBody::Same { same_as: SameAs::Request }), ..expect("") };
        assert_eq!(difference(&echo, &answer(200, "sent")), None);
        assert!(difference(&echo, &answer(200, "send")).unwrap().contains("differs at byte 3"));
    }

    #[test]
    fn each_difference_is_described_exactly() {
        let message = |expect: &Expect, answer: &Answer| difference(expect, answer).unwrap();
        assert_eq!(message(&expect("16"), &answer(500, "")), "status: expected 200, got 500");
        assert_eq!(
            message(&expect("16"), &answer(200, "17")),
            "body: expected 2 bytes \"16\", got 2 bytes \"17\" (differs at byte 1)"
        );
        assert_eq!(
            compare_bytes(&[0xff, 0xfe], &[8, 1]).unwrap(),
            "body: expected 2 bytes \"\\xff\\xfe\", got 2 bytes \"\\x08\\x01\" (differs at byte 0)"
        );
        let other = Expect { headers: [("x".to_owned(), "1".to_owned())].into(), ..expect("") };
        assert_eq!(message(&other, &answer(200, "")), "header x: expected \"1\", got none");
        let json = Expect { headers: [("content-type".to_owned(), "json".to_owned())].into(), ..expect("") };
        assert_eq!(message(&json, &answer(200, "")), "header content-type: expected \"json\", got \"text/plain\"");
        let length = Expect { body: Some(ExpectBody::Length { bytes: 3 }), ..expect("") };
        assert_eq!(message(&length, &answer(200, "a")), "body: expected 3 bytes, got 1 byte");
        let closing = Answer { keeps_alive: false, ..answer(200, "16") };
        assert_eq!(message(&expect("16"), &closing), "connection closed without keep-alive");
        let asking = Request { headers: [("Connection".to_owned(), "close".to_owned())].into(), ..request("sent") };
        assert_eq!(super::difference(&asking, &expect("16"), &closing), None);
    }

    #[test]
    fn a_difference_deep_in_a_long_body_is_in_view() {
        let (a, b) = ("a".repeat(5000), format!("{}b", "a".repeat(4999)));
        let message = difference(&expect(&a), &answer(200, &b)).unwrap();
        assert!(message.contains("ab\" (differs at byte 4999)") && message.len() < 300, "{message}");
    }
}
