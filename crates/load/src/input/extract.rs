//! Values that a set-up takes from answers: `json $.token`, `header X-CSRF`, `body ~ id=(\\d+)`.

use std::collections::BTreeMap;
use std::str::FromStr;

use regex::bytes::Regex;
use serde_json::Value;
use serde_json::value::RawValue;
use serde_json_path::{JsonPath, NormalizedPath, PathElement};

use super::check::{json_path, regex};
use super::feed::json_text;
use crate::error::LoadError;
use crate::problem::escape;

const FORMS: &str = "write one of: json $.PATH, header NAME, body ~ REGEX (its first group, or all that matches)";

/// Where in an answer the value of a variable stands.
#[derive(Clone, Debug)]
pub enum Extract {
    Json(JsonPath),
    Header(String),
    Body(Regex),
}

impl FromStr for Extract {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<Self, LoadError> {
        let wrong = || LoadError::input(&format!("`{text}`"), "it does not say where a value stands", FORMS);
        let (subject, rest) = text.trim().split_once(char::is_whitespace).ok_or_else(wrong)?;
        let rest = rest.trim();
        match (subject, rest.strip_prefix('~')) {
            ("json", _) => json_path(rest).map(Self::Json),
            ("header", None) if !rest.contains(char::is_whitespace) => Ok(Self::Header(rest.to_owned())),
            ("body", Some(pattern)) => regex(pattern.trim()).map(Self::Body),
            _ => Err(wrong()),
        }
    }
}

impl Extract {
    /// The value in an answer. The error says what was looked for, and what the answer has instead.
    pub(crate) fn value(&self, headers: &[(String, Vec<u8>)], body: &[u8]) -> Result<String, String> {
        let found = match self {
            Self::Header(wanted) => {
                let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
                found.map(|(_, value)| value.clone()).ok_or_else(|| format!("header {wanted} is absent"))?
            }
            Self::Body(regex) => {
                let absent = || format!("body does not match {regex}: \"{}\"", escape(body));
                let groups = regex.captures(body).ok_or_else(absent)?;
                groups.get(1).or_else(|| groups.get(0)).map(|found| found.as_bytes().to_vec()).unwrap_or_default()
            }
            Self::Json(path) => {
                let json: Value = serde_json::from_slice(body)
                    .map_err(|error| format!("body is not JSON, {error}: \"{}\"", escape(body)))?;
                let absent = || format!("body has nothing at {path}: \"{}\"", escape(body));
                let found = path.query_located(&json);
                let place = found.first().ok_or_else(absent)?.location();
                json_text(written_at(body, place).ok_or_else(absent)?).into_bytes()
            }
        };
        // In a header it would end the line.
        match String::from_utf8(found) {
            Ok(text) if !text.chars().any(char::is_control) => Ok(text),
            Ok(text) => Err(format!("the value has a control character: \"{}\"", escape(text.as_bytes()))),
            Err(error) => Err(format!("the value is not text: \"{}\"", escape(error.as_bytes()))),
        }
    }
}

/// The value at this place as it is written: a number may have more digits than any type of Rust.
fn written_at<'a>(body: &'a [u8], place: &NormalizedPath<'_>) -> Option<&'a RawValue> {
    let mut value: &RawValue = serde_json::from_slice(body).ok()?;
    for element in place.iter() {
        value = match element {
            PathElement::Name(name) => {
                serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get()).ok()?.remove(*name)?
            }
            PathElement::Index(index) => *serde_json::from_str::<Vec<&RawValue>>(value.get()).ok()?.get(*index)?,
        };
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(extract: &str) -> Result<String, String> {
        let headers = [("X-Csrf".to_owned(), b"a b".to_vec()), ("X-Bad".to_owned(), b"\xff".to_vec())];
        let body = br#"{"token": "t\"1", "id": 12345678901234567890, "list": [{"a": true}], "line": "a\nb",
            "long": 123456789012345678901234567890, "deep": [1, {"a \"b": 0.1234567890123456789012}], "rate": 1.10}
            "#;
        extract.parse::<Extract>().unwrap().value(&headers, body)
    }

    #[test]
    fn values_are_taken_as_they_are_written() {
        for (extract, expected) in [
            ("json $.token", "t\"1"),
            ("json $.id", "12345678901234567890"),
            ("json $.list[0]", "{\"a\":true}"),
            ("json $.long", "123456789012345678901234567890"),
            ("json $.deep[1]['a \"b']", "0.1234567890123456789012"),
            ("json $.deep", "[1,{\"a \\\"b\":0.1234567890123456789012}]"),
            ("json $.rate", "1.10"),
            ("header x-csrf", "a b"),
            ("body ~ \"id\": ([0-9]{3})", "123"),
            ("body ~ [0-9]{4}", "1234"),
        ] {
            assert_eq!(value(extract).as_deref(), Ok(expected), "{extract}");
        }
    }

    #[test]
    fn what_is_absent_or_cannot_be_sent_is_said_with_what_was_looked_for() {
        for (extract, says) in [
            ("json $.user", "body has nothing at $.user: \"{\\\"token"),
            ("json $.line", "a control character"),
            ("header Y", "header Y is absent"),
            ("header X-Bad", "is not text"),
            ("body ~ x=(.)", "body does not match x=(.)"),
        ] {
            let text = value(extract).unwrap_err();
            assert!(text.contains(says), "{extract}: {text}");
        }
        let no_json = "json $.a".parse::<Extract>().unwrap().value(&[], b"<html>").unwrap_err();
        assert!(no_json.starts_with("body is not JSON"), "{no_json}");
    }

    #[test]
    fn what_says_no_place_is_refused_with_what_would_be_right() {
        for text in ["", "$.token", "cookie a", "header", "header a b", "body id=", "body ~ (", "json token"] {
            let error = text.parse::<Extract>().unwrap_err().to_string();
            assert!(error.contains("$.") || error.contains("regular expression"), "{text}: {error}");
        }
    }
}
