//! HAR 1.2, which browsers and proxies record.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;
use tare_wire::http::method_named;

use super::{ListedBody, ListedRequest, is_of_connection, literal};
use crate::error::LoadError;
use crate::input::template::url_encode;

const REMEDY: &str = "save it again as HAR from the browser, with its contents";

/// Also where the rest is cut off or wrong, which is told then, if the log comes first.
pub(super) fn is_it(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('{') else { return false };
    let has_log = || serde_json::from_str::<Value>(text).is_ok_and(|har| har["log"]["entries"].is_array());
    rest.trim_start().starts_with("\"log\"") || has_log()
}

/// The requests of a recording over HTTP, in their order.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<ListedRequest>, LoadError> {
    let har: Value = serde_json::from_str(text).map_err(|error| LoadError::input(name, &error.to_string(), REMEDY))?;
    let entries = har["log"]["entries"].as_array();
    let entries = entries.ok_or_else(|| LoadError::input(name, "log has no entries", REMEDY))?;
    let numbered = entries.iter().enumerate().map(|(index, entry)| (index + 1, &entry["request"]));
    // A WebSocket or an image in the page itself is no request.
    let is_http = |request: &Value| request["url"].as_str().is_none_or(|url| url.starts_with("http"));
    numbered.filter(|(_, request)| is_http(request)).map(|(number, request)| listed(name, number, request)).collect()
}

fn listed(name: &str, number: usize, request: &Value) -> Result<ListedRequest, LoadError> {
    let place = format!("{name}, entry {number}");
    let missing = |key: &str| LoadError::input(&place, &format!("the request has no {key}"), REMEDY);
    let url = request["url"].as_str().ok_or_else(|| missing("url"))?;
    let method = request["method"].as_str().ok_or_else(|| missing("method"))?;
    let method = method_named(method).map_err(|error| LoadError::input(&place, &error.to_string(), REMEDY))?;
    let body = body(&request["postData"]).map_err(|what| LoadError::input(&place, what, REMEDY))?;
    let headers = headers(request);
    Ok(ListedRequest { weight: 1, method: Some(method), url: literal(url), headers, body, place })
}

fn fields(list: &Value) -> impl Iterator<Item = (&str, &str)> {
    let fields = list.as_array().into_iter().flatten();
    fields.filter_map(|field| Some((field["name"].as_str()?, field["value"].as_str().unwrap_or_default())))
}

fn headers(request: &Value) -> Vec<(String, String)> {
    let own = fields(&request["headers"]).filter(|(name, _)| !is_of_connection(name));
    let mut headers: Vec<(String, String)> = own.map(|(name, value)| (name.to_owned(), literal(value))).collect();
    let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let mime_type = request["postData"]["mimeType"].as_str().filter(|mime_type| !has_type && !mime_type.is_empty());
    headers.extend(mime_type.map(|mime_type| ("Content-Type".to_owned(), literal(mime_type))));
    headers
}

/// The text, which some programs write in base64; or where only the fields of a form were recorded, these as a browser
/// sends them.
fn body(post: &Value) -> Result<ListedBody, &'static str> {
    let has_fields = post["params"].as_array().is_some_and(|params| !params.is_empty());
    Ok(match post["text"].as_str().filter(|text| !(text.is_empty() && has_fields)) {
        Some(text) if post["encoding"] == "base64" => {
            ListedBody::Bytes(BASE64_STANDARD.decode(text).map_err(|_| "the body is not base64, as its encoding says")?)
        }
        Some(text) => ListedBody::Bytes(text.as_bytes().to_vec()),
        None if has_fields => {
            if post["mimeType"].as_str().is_some_and(|mime_type| mime_type.starts_with("multipart/")) {
                return Err("the body has parts, and only the fields were recorded");
            }
            let encoded =
                |(name, value): (&str, &str)| [name, value].map(|text| url_encode(text.as_bytes())).join(&b'=');
            ListedBody::Bytes(fields(&post["params"]).map(encoded).collect::<Vec<_>>().join(&b'&'))
        }
        None => ListedBody::None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse_request_list;
    use super::*;

    #[test]
    fn a_recording_gives_its_requests_with_headers_and_bodies() {
        let har = r#"{"log": {"version": "1.2", "entries": [
            {"request": {"method": "GET", "url": "http://x/a?t={{b}}", "headers":
                [{"name": ":path", "value": "/a"}, {"name": "Host", "value": "x"}, {"name": "Accept", "value": "*/*"}]}},
            {"request": {"method": "GET", "url": "wss://x/live"}},
            {"request": {"method": "POST", "url": "http://x/b", "postData":
                {"mimeType": "application/json", "text": "{\"a\":1}"}}},
            {"request": {"method": "POST", "url": "http://x/c", "postData":
                {"mimeType": "", "text": "", "params": [{"name": "q", "value": "a b"}, {"name": "r", "value": "1"}]}}},
            {"request": {"method": "POST", "url": "http://x/d", "postData":
                {"mimeType": "", "encoding": "base64", "text": "AAH/"}}}]}}"#;
        let list = parse_request_list("page.har", har).unwrap();
        assert!(list.is_recording);
        let named = har.replacen('{', r#"{"creator": {}, "#, 1);
        assert_eq!(parse_request_list("page.har", &named).unwrap(), list, "whatever comes before the log");
        let found: Vec<_> = list.requests.iter().map(|one| (&*one.place, &*one.url)).collect();
        let places = ["page.har, entry 1", "page.har, entry 3", "page.har, entry 4", "page.har, entry 5"];
        let urls = [r"http://x/a?t=\{{b}}", "http://x/b", "http://x/c", "http://x/d"];
        assert_eq!(found, std::iter::zip(places, urls).collect::<Vec<_>>());
        let [get, json, form, binary] = &list.requests[..] else { panic!("four requests") };
        assert_eq!((&get.headers, &get.body), (&vec![("Accept".to_owned(), "*/*".to_owned())], &ListedBody::None));
        assert_eq!(json.headers, [("Content-Type".to_owned(), "application/json".to_owned())]);
        assert_eq!(json.body, ListedBody::Bytes(br#"{"a":1}"#.to_vec()));
        assert_eq!(form.body, ListedBody::Bytes(b"q=a%20b&r=1".to_vec()));
        assert_eq!(binary.body, ListedBody::Bytes(vec![0, 1, 0xff]));
    }

    #[test]
    fn a_recording_that_lacks_something_says_where() {
        let posts = |post: &str| {
            let request = format!(r#"{{"method": "POST", "url": "http://x/", "postData": {post}}}"#);
            format!(r#"{{"log": {{"entries": [{{"request": {request}}}]}}}}"#)
        };
        let no_base64 = posts(r#"{"encoding": "base64", "text": "*"}"#);
        let parts =
            posts(r#"{"mimeType": "multipart/form-data; boundary=x", "params": [{"name": "a", "value": "1"}]}"#);
        for (text, says) in [
            (&*no_base64, "entry 1: the body is not base64"),
            (&*parts, "entry 1: the body has parts, and only the fields were recorded"),
            (r#"{"log": {}}"#, "page.har: log has no entries"),
            ("{\n  \"log\": {\n    \"entries\": [", "page.har: EOF while parsing a list at line 3"),
            (
                r#"{"log": {"entries": [{"request": {"url": "wss://x/"}}]}}"#,
                "empty; record at least one request over HTTP",
            ),
            (r#"{"log": {"entries": [{"request": {"url": "http://x/"}}]}}"#, "entry 1: the request has no method"),
            (r#"{"log": {"entries": [{"request": {"method": "GET"}}]}}"#, "entry 1: the request has no url"),
        ] {
            let error = parse_request_list("page.har", text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
