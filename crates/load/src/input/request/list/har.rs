//! HAR 1.2, which browsers and proxies record.

use serde_json::Value;
use tare_wire::http::method_named;

use super::{ListedBody, ListedRequest, is_of_connection, literal};
use crate::error::LoadError;
use crate::input::template::url_encode;

const REMEDY: &str = "save it again as HAR from the browser, with its contents";

pub(super) fn is_it(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<Value>(text).is_ok_and(|har| har.get("log").is_some())
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
    Ok(ListedRequest {
        weight: 1,
        method: Some(method),
        url: literal(url),
        headers: headers(request),
        body: body(&request["postData"]),
        place,
    })
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

/// The text, or where only the fields of a form were recorded, these as a browser sends them.
fn body(post: &Value) -> ListedBody {
    match post["text"].as_str() {
        Some(text) => ListedBody::Bytes(text.as_bytes().to_vec()),
        None if post["params"].as_array().is_some_and(|params| !params.is_empty()) => {
            let mut form = Vec::new();
            for (name, value) in fields(&post["params"]) {
                if !form.is_empty() {
                    form.push(b'&');
                }
                url_encode(name.as_bytes(), &mut form);
                form.push(b'=');
                url_encode(value.as_bytes(), &mut form);
            }
            ListedBody::Bytes(form)
        }
        None => ListedBody::None,
    }
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
                {"mimeType": "", "params": [{"name": "q", "value": "a b"}, {"name": "r", "value": "1"}]}}}]}}"#;
        let list = parse_request_list("page.har", har).unwrap();
        assert!(list.is_recording);
        let found: Vec<_> = list.requests.iter().map(|one| (&*one.place, &*one.url)).collect();
        let places = ["page.har, entry 1", "page.har, entry 3", "page.har, entry 4"];
        assert_eq!(found, [(places[0], r"http://x/a?t=\{{b}}"), (places[1], "http://x/b"), (places[2], "http://x/c")]);
        let [get, json, form] = &list.requests[..] else { panic!("three requests") };
        assert_eq!((&get.headers, &get.body), (&vec![("Accept".to_owned(), "*/*".to_owned())], &ListedBody::None));
        assert_eq!(json.headers, [("Content-Type".to_owned(), "application/json".to_owned())]);
        assert_eq!(json.body, ListedBody::Bytes(br#"{"a":1}"#.to_vec()));
        assert_eq!(form.body, ListedBody::Bytes(b"q=a%20b&r=1".to_vec()));
    }

    #[test]
    fn a_recording_that_lacks_something_says_where() {
        for (text, says) in [
            (r#"{"log": {}}"#, "page.har: log has no entries"),
            (r#"{"log": {"entries": []}}"#, "page.har: the list is empty"),
            (r#"{"log": {"entries": [{"request": {"url": "http://x/"}}]}}"#, "entry 1: the request has no method"),
            (r#"{"log": {"entries": [{"request": {"method": "GET"}}]}}"#, "entry 1: the request has no url"),
        ] {
            let error = parse_request_list("page.har", text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
