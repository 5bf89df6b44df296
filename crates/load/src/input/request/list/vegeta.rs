//! Targets of vegeta as JSON: an object per line, with the body in base64.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use tare_wire::http::method_named;

use super::{ListedBody, ListedRequest, is_of_connection, literal};
use crate::error::LoadError;

const REMEDY: &str = "write an object with method, url, header and body (in base64) on each line, as vegeta has it";

pub(super) fn is_it(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

pub(super) fn read(name: &str, text: &str) -> Result<Vec<ListedRequest>, LoadError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(before, line)| listed(format!("{name}, line {}", before + 1), line)).collect()
}

fn listed(place: String, line: &str) -> Result<ListedRequest, LoadError> {
    let wrong = |what: &str| LoadError::input(&place, what, REMEDY);
    let target: Value = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
    let url = target["url"].as_str().ok_or_else(|| wrong("there is no url"))?;
    let method = target["method"].as_str().map(method_named).transpose();
    let body = match &target["body"] {
        Value::Null => ListedBody::None,
        body => {
            let bytes = body.as_str().and_then(|text| BASE64_STANDARD.decode(text).ok());
            ListedBody::Bytes(bytes.ok_or_else(|| wrong("the body is not base64"))?)
        }
    };
    let mut headers = Vec::new();
    for (name, values) in target["header"].as_object().into_iter().flatten() {
        let values = values.as_array().ok_or_else(|| wrong(&format!("the values of header {name} are no list")))?;
        // A host is the server's name to its clients, and stands in no recording of another connection here.
        let is_sent = name.eq_ignore_ascii_case("host") || !is_of_connection(name);
        let values = values.iter().filter_map(Value::as_str).filter(|_| is_sent);
        headers.extend(values.map(|value| (name.clone(), literal(value))));
    }
    let method = method.map_err(|error| wrong(&error.to_string()))?;
    Ok(ListedRequest { weight: 1, method, url: literal(url), headers, body, place })
}

#[cfg(test)]
mod tests {
    use super::super::parse_request_list;
    use super::*;

    #[test]
    fn targets_have_headers_and_bodies() {
        let text = "{\"method\":\"POST\",\"url\":\"http://x/0\",\"body\":\"UHVuY2gh\",\"header\":{\"A\":[\"1\",\"2\"],\"Host\":[\"shop.example\"],\"Te\":[\"x\"]}}\n\n\
                    {\"method\":\"GET\",\"url\":\"http://x/1\"}\n";
        let list = parse_request_list("t.jsonl", text).unwrap();
        let [post, get] = &list.requests[..] else { panic!("two requests") };
        assert_eq!(post.body, ListedBody::Bytes(b"Punch!".to_vec()));
        let sent = [("A", "1"), ("A", "2"), ("Host", "shop.example")];
        assert_eq!(post.headers, sent.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(
            (get.place.as_str(), get.url.as_str(), &get.body),
            ("t.jsonl, line 3", "http://x/1", &ListedBody::None)
        );
        assert!(!list.is_recording);
    }

    #[test]
    fn a_wrong_target_is_named() {
        for (text, says) in [
            ("{\"url\":\"http://x/\"}\n{\"method\":\"GET\"}", "t.jsonl, line 2: there is no url"),
            ("{\"url\":\"http://x/\",\"body\":\"*\"}", "line 1: the body is not base64"),
            ("{\"url\":\"http://x/\",\"header\":{\"A\":\"1\"}}", "header A are no list"),
            ("{\"url\":", "line 1: EOF"),
        ] {
            let error = parse_request_list("t.jsonl", text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
