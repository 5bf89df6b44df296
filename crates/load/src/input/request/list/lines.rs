//! Lines with a URL each, its weight and method before it, and its headers and the file of its body below, as vegeta has
//! them.

use std::path::PathBuf;

use tare_wire::http::grammar::is_token;
use tare_wire::http::method_named;

use super::{ListedBody, ListedRequest};
use crate::error::LoadError;

/// Each line has a URL or a path, after an optional weight and method: `3 POST /path0`. `Name: value` and `@file` belong to
/// the request above. Empty lines and lines that begin with `#` are skipped.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<ListedRequest>, LoadError> {
    let mut list: Vec<ListedRequest> = Vec::new();
    for (before, line) in text.lines().enumerate() {
        let (line, place) = (line.trim(), format!("{name}, line {}", before + 1));
        let none_above = || LoadError::input(&place, "there is no request above it", "write METHOD URL first");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(file) = line.strip_prefix('@') {
            list.last_mut().ok_or_else(none_above)?.body = ListedBody::File(PathBuf::from(file));
        } else if let Some((header, value)) = header(line) {
            list.last_mut().ok_or_else(none_above)?.headers.push((header.to_owned(), value.to_owned()));
        } else {
            list.push(listed(place, line)?);
        }
    }
    Ok(list)
}

/// A header field: a name, a colon, and a value that makes it no URL (`http://…`, `localhost:8080`).
fn header(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_url = value.starts_with("//") || value.starts_with(|first: char| first.is_ascii_digit());
    (is_token(name) && !is_url).then(|| (name, value.trim()))
}

fn listed(place: String, text: &str) -> Result<ListedRequest, LoadError> {
    let wrong = |what: String| {
        let remedy = "write WEIGHT METHOD URL, such as 3 POST /path0; the first two may be left out";
        LoadError::input(&place, &what, remedy)
    };
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let url = words.pop().unwrap_or_default();
    if !url.starts_with('/') && !url.contains("://") {
        return Err(wrong(format!("`{url}` is neither a URL nor a path")));
    }
    let (weight, method) = match words[..] {
        [] => (None, None),
        [word] if word.starts_with(|first: char| first.is_ascii_digit()) => (Some(word), None),
        [word] => (None, Some(word)),
        [weight, method] => (Some(weight), Some(method)),
        _ => return Err(wrong(format!("{} words", words.len() + 1))),
    };
    let weight =
        weight.map_or(Ok(1), |weight| weight.parse().map_err(|_| wrong(format!("`{weight}` is no weight"))))?;
    let method = method.map(method_named).transpose().map_err(|error| wrong(error.to_string()))?;
    let url = url.to_owned();
    Ok(ListedRequest { weight, method, url, headers: Vec::new(), body: ListedBody::None, place })
}

#[cfg(test)]
mod tests {
    use super::super::parse_request_list;
    use super::*;

    #[test]
    fn weight_and_method_may_be_left_out() {
        let text = "\u{feff}# ours\n\n/a\n3 /b\n  POST http://x/c?d=e  \n0 DELETE /f\nGET /g\n";
        let list = parse_request_list("urls.txt", text).unwrap().requests;
        let line = |l: &ListedRequest| l.place.rsplit(' ').next().unwrap().parse::<u32>().unwrap();
        let lines: Vec<_> = list
            .iter()
            .map(|l| (line(l), l.weight, l.method.as_ref().map(|method| method.as_str()), l.url.as_str()))
            .collect();
        let expected = [
            (3, 1, None, "/a"),
            (4, 3, None, "/b"),
            (5, 1, Some("POST"), "http://x/c?d=e"),
            (6, 0, Some("DELETE"), "/f"),
            (7, 1, Some("GET"), "/g"),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn headers_and_bodies_stand_below_a_request() {
        let text = "GET http://x/a\nX-Token:t1\nReferer:http://y/\nX-Empty:\n\nPOST http://x/b\nContent-Type: application/json\n@user.json\n";
        let list = parse_request_list("targets.txt", text).unwrap().requests;
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(list[0].headers, [field("X-Token", "t1"), field("Referer", "http://y/"), field("X-Empty", "")]);
        assert_eq!(list[1].headers, [field("Content-Type", "application/json")]);
        assert_eq!((&list[0].body, &list[1].body), (&ListedBody::None, &ListedBody::File("user.json".into())));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, what) in [
            ("", "urls.txt: the list is empty"),
            ("# nothing\n", "the list is empty"),
            ("/a\nb\n", "urls.txt, line 2: `b` is neither a URL nor a path"),
            ("-1 GET /a", "line 1: `-1` is no weight"),
            ("1.5 /a", "line 1: `1.5` is no weight"),
            ("1 GET /a /b", "line 1: 4 words"),
            ("X-A: 1", "line 1: there is no request above it"),
            ("@body", "line 1: there is no request above it"),
            ("/a\nlocalhost:8080", "line 2: `localhost:8080` is neither a URL nor a path"),
            ("G=T /a", "line 1: `G=T` is not a request method"),
        ] {
            let error = parse_request_list("urls.txt", text).unwrap_err().to_string();
            assert!(error.contains(what), "{text:?}: {error}");
        }
    }
}
