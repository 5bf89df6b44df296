//! Lists of URLs with weights, one per line.

use tare_wire::http::Method;

use crate::error::LoadError;

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUrl {
    /// The line, from 1.
    pub line: usize,
    /// The request's weight; 1 by default.
    pub weight: u32,
    /// The method, if the line names one.
    pub method: Option<Method>,
    /// A URL or a path, as written.
    pub url: String,
}

/// Reads a list. Each line has a URL or a path, after an optional weight and method: `3 POST /path0`. Empty lines and
/// lines that begin with `#` are skipped. `name` names the list in errors.
///
/// # Errors
/// When a line has another form, with its number; when the list is empty.
pub fn parse_url_list(name: &str, text: &str) -> Result<Vec<ListedUrl>, LoadError> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().map(|(before, line)| (before + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let list: Vec<ListedUrl> = lines.map(|(line, text)| listed(name, line, text)).collect::<Result<_, _>>()?;
    if list.is_empty() {
        return Err(LoadError::input(name, "the list is empty", "write a URL or a path on each line"));
    }
    Ok(list)
}

fn listed(name: &str, line: usize, text: &str) -> Result<ListedUrl, LoadError> {
    let wrong = |what: String| {
        LoadError::input(
            &format!("{name}, line {line}"),
            &what,
            "write WEIGHT METHOD URL, such as 3 POST /path0; the first two may be left out",
        )
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
    let method = method.map(Method::from_name).transpose().map_err(|error| wrong(error.to_string()))?;
    Ok(ListedUrl { line, weight, method, url: url.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_and_method_may_be_left_out() {
        let text = "\u{feff}# ours\n\n/a\n3 /b\n  POST http://x/c?d=e  \n0 DELETE /f\nGET /g\n";
        let list = parse_url_list("urls.txt", text).unwrap();
        let lines: Vec<_> =
            list.iter().map(|l| (l.line, l.weight, l.method.as_ref().map(Method::as_str), l.url.as_str())).collect();
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
    fn wrong_lines_are_named() {
        for (text, what) in [
            ("", "urls.txt: the list is empty"),
            ("# nothing\n", "the list is empty"),
            ("/a\nb\n", "urls.txt, line 2: `b` is neither a URL nor a path"),
            ("-1 GET /a", "line 1: `-1` is no weight"),
            ("1.5 /a", "line 1: `1.5` is no weight"),
            ("1 GET /a /b", "line 1: 4 words"),
            ("G=T /a", "line 1: `G=T` is not a request method"),
        ] {
            let error = parse_url_list("urls.txt", text).unwrap_err().to_string();
            assert!(error.contains(what), "{text:?}: {error}");
        }
    }
}
