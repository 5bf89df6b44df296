//! Parses checks as users write them.

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::Value;

use super::{Check, HeaderRule, Rule, Whole, json_path, regex};
use crate::error::LoadError;

const FORMS: &str = "write one of: status 200, status 2xx, status 200..204; header NAME, header NAME = VALUE, \
                     header NAME ~ REGEX; body = TEXT, body contains TEXT, body ~ REGEX; length 5, length 1..10; \
                     json $.PATH, json $.PATH = VALUE; grpc-status NAME";

impl FromStr for Check {
    type Err = LoadError;

    /// `status 200`, `status 2xx`, `status 200..204` · `header NAME`, `header NAME = VALUE`, `header NAME ~ REGEX` ·
    /// `body = TEXT`, `body contains TEXT`, `body ~ REGEX` · `length 5`, `length 1..10` · `json $.PATH`,
    /// `json $.PATH = VALUE`, where a value that is not JSON is text · `grpc-status NOT_FOUND`.
    fn from_str(text: &str) -> Result<Self, LoadError> {
        let wrong = || LoadError::input(&format!("check `{text}`"), "unknown kind of check", FORMS);
        if text.contains("{{") {
            let remedy = "check what does not vary, such as json $.id or header X";
            return Err(LoadError::input(&format!("check `{text}`"), "variables cannot be used in checks", remedy));
        }
        let (subject, rest) = text.trim().split_once(char::is_whitespace).ok_or_else(wrong)?;
        let rest = rest.trim_start();
        match subject {
            "status" => statuses(rest).map(|codes| Self(Rule::Status(codes))).ok_or_else(wrong),
            "grpc-status" => rest.parse().map(Self::grpc_status).map_err(|what: String| {
                LoadError::input(&format!("check `{text}`"), &what, "write a name or a number")
            }),
            "length" => range(rest).map(|bytes| Self(Rule::Length(bytes))).ok_or_else(wrong),
            "header" => {
                let (name, value) = match relation(rest) {
                    Some((name, '=', value)) => (name, HeaderRule::Is(value.to_owned())),
                    Some((name, _, pattern)) => (name, HeaderRule::Matches(regex(pattern)?)),
                    None => (rest, HeaderRule::Present),
                };
                Ok(Self(Rule::Header { name: name.to_owned(), value }))
            }
            "body" => match rest.split_once(char::is_whitespace) {
                Some(("=", text)) => Ok(Self::body_is(text.as_bytes())),
                Some(("contains", text)) => Ok(Self(Rule::Whole(Whole::Contains(text.as_bytes().into())))),
                Some(("~", pattern)) => Ok(Self(Rule::Whole(Whole::Matches(regex(pattern)?)))),
                _ => Err(wrong()),
            },
            // A filter within the path may also compare, but with ==.
            "json" => {
                let (path, written) =
                    rest.rsplit_once(" = ").map_or((rest, None), |(path, value)| (path, Some(value.trim())));
                let value = written.map(json);
                let is_long = written.is_some_and(|written| written.len() > 18 && !written.contains(['.', 'e', 'E']));
                // Of such a number only the first 17 digits would be compared.
                if is_long && value.as_ref().is_some_and(Value::is_f64) {
                    let remedy = "compare text: body contains DIGITS, or body ~ REGEX";
                    return Err(LoadError::input(&format!("check `{text}`"), "a number beyond 64 bits", remedy));
                }
                Ok(Self(Rule::Whole(Whole::Json { path: json_path(path.trim())?, value })))
            }
            _ => Err(wrong()),
        }
    }
}

/// A name, `=` or `~`, and the rest.
fn relation(text: &str) -> Option<(&str, char, &str)> {
    let at = text.find(['=', '~'])?;
    let sign = if text[at..].starts_with('=') { '=' } else { '~' };
    Some((text[..at].trim(), sign, text[at + 1..].trim()))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn statuses(text: &str) -> Option<RangeInclusive<u16>> {
    match text.strip_suffix("xx") {
        Some(class) => {
            class.parse().ok().filter(|class| (1..=9).contains(class)).map(|class: u16| class * 100..=class * 100 + 99)
        }
        None => range(text),
    }
}

fn range<T: FromStr + PartialOrd + Copy>(text: &str) -> Option<RangeInclusive<T>> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to): (T, T) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from <= to).then_some(from..=to)
}
