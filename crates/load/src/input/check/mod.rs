//! Checks: conditions that an answer must meet to count as a success, as users write them.

mod expectation;
mod parse;
#[cfg(test)]
mod tests;
mod whole;

use std::ops::RangeInclusive;
use std::sync::Arc;

use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;
use tare_wire::grpc;

use crate::error::LoadError;

pub(crate) use self::expectation::Expectation;
pub(crate) use self::whole::Whole;

/// One condition on an answer. Of several checks of the status one must hold; of all other checks each must hold.
///
/// A wrong status, also one of gRPC, is an error of class `status`, even if another check fails too. Any other failed check is one of
/// class `validation`.
#[derive(Clone, Debug)]
pub struct Check(pub(crate) Rule);

#[derive(Clone, Debug)]
pub(crate) enum Rule {
    Status(RangeInclusive<u16>),
    Header {
        name: String,
        value: HeaderRule,
    },
    /// The body, compared as it arrives.
    Exact(Arc<[u8]>),
    Length(RangeInclusive<u64>),
    /// The answer to a call of gRPC.
    Grpc(grpc::Code),
    /// Needs the whole body.
    Whole(Whole),
}

#[derive(Clone, Debug)]
pub(crate) enum HeaderRule {
    Present,
    Is(String),
    Matches(Regex),
}

impl Check {
    /// This status.
    pub const fn status(code: u16) -> Self {
        Self::statuses(code..=code)
    }

    /// Any status of this range: `200..=299`.
    pub const fn statuses(codes: RangeInclusive<u16>) -> Self {
        Self(Rule::Status(codes))
    }

    /// A header field of this name is present, with any value.
    pub fn header(name: &str) -> Self {
        Self(Rule::Header { name: name.to_owned(), value: HeaderRule::Present })
    }

    /// The first header field of this name has exactly this value.
    pub fn header_is(name: &str, value: &str) -> Self {
        Self(Rule::Header { name: name.to_owned(), value: HeaderRule::Is(value.to_owned()) })
    }

    /// The value of the first header field of this name contains a match.
    ///
    /// # Errors
    /// When `pattern` is not a regular expression.
    pub fn header_matches(name: &str, pattern: &str) -> Result<Self, LoadError> {
        Ok(Self(Rule::Header { name: name.to_owned(), value: HeaderRule::Matches(regex(pattern)?) }))
    }

    /// The body is exactly these bytes. This costs one comparison of memory, and nothing is kept.
    pub fn body_is(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(Rule::Exact(bytes.into()))
    }

    /// The body has this number of bytes.
    pub const fn length(bytes: u64) -> Self {
        Self::lengths(bytes..=bytes)
    }

    /// The body has a number of bytes within this range.
    pub const fn lengths(bytes: RangeInclusive<u64>) -> Self {
        Self(Rule::Length(bytes))
    }

    /// The response is that of a unary gRPC call with this status. All checks of the body are then about its message.
    pub const fn grpc_status(code: grpc::Code) -> Self {
        Self(Rule::Grpc(code))
    }

    /// The body contains these bytes. For this check and the following ones the body is kept, up to 16 MiB.
    pub fn body_contains(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(Rule::Whole(Whole::Contains(bytes.into())))
    }

    /// The body contains a match.
    ///
    /// # Errors
    /// When `pattern` is not a regular expression.
    pub fn body_matches(pattern: &str) -> Result<Self, LoadError> {
        Ok(Self(Rule::Whole(Whole::Matches(regex(pattern)?))))
    }

    /// The body is JSON in which this path finds something.
    ///
    /// # Errors
    /// When `path` is not a JSON path (RFC 9535).
    pub fn json(path: &str) -> Result<Self, LoadError> {
        Ok(Self(Rule::Whole(Whole::Json { path: json_path(path)?, value: None })))
    }

    /// The body is JSON in which this path finds this value, at least once, and no other value.
    ///
    /// # Errors
    /// When `path` is not a JSON path (RFC 9535).
    pub fn json_is(path: &str, value: Value) -> Result<Self, LoadError> {
        Ok(Self(Rule::Whole(Whole::Json { path: json_path(path)?, value: Some(value) })))
    }
}

pub(super) fn regex(pattern: &str) -> Result<Regex, LoadError> {
    Regex::new(pattern).map_err(|error| {
        // The library shows the position on several lines. The last one says what is wrong.
        let text = error.to_string();
        let what = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        LoadError::input(
            &format!("regular expression `{pattern}`"),
            what,
            "escape . * + ? ( ) [ ] { } | ^ $ \\ that mean themselves",
        )
    })
}

pub(super) fn json_path(path: &str) -> Result<JsonPath, LoadError> {
    JsonPath::parse(path).map_err(|error| {
        let place = format!("JSON path `{path}`, character {}", error.position() + 1);
        LoadError::input(&place, error.message(), "write it as RFC 9535 has it, such as $.items[0].id")
    })
}
