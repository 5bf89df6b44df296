//! Checks: conditions that an answer must meet to count as a success, as users write them.

mod expectation;
mod parse;
#[cfg(test)]
mod tests;
mod whole;

use std::ops::RangeInclusive;
use std::sync::Arc;

use regex::bytes::Regex;
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
    /// The first header field of this name.
    Header {
        name: String,
        value: HeaderRule,
    },
    /// The body, compared as it arrives.
    Exact(Arc<[u8]>),
    Length(RangeInclusive<u64>),
    /// The answer to a call of gRPC.
    Grpc(grpc::Code),
    /// Needs the whole body, which is kept, up to 16 MiB.
    Whole(Whole),
}

#[derive(Clone, Debug)]
pub(crate) enum HeaderRule {
    Present,
    Is(String),
    /// It contains a match.
    Matches(Regex),
}

impl Check {
    /// This status.
    pub const fn status(code: u16) -> Self {
        Self(Rule::Status(code..=code))
    }

    /// The first header field of this name has exactly this value.
    pub fn header_is(name: &str, value: &str) -> Self {
        Self(Rule::Header { name: name.to_owned(), value: HeaderRule::Is(value.to_owned()) })
    }

    /// The body is exactly these bytes. This costs one comparison of memory, and nothing is kept.
    pub fn body_is(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(Rule::Exact(bytes.into()))
    }

    /// The body has this number of bytes.
    pub const fn length(bytes: u64) -> Self {
        Self(Rule::Length(bytes..=bytes))
    }

    /// The response is that of a unary gRPC call with this status. All checks of the body are then about its message.
    pub const fn grpc_status(code: grpc::Code) -> Self {
        Self(Rule::Grpc(code))
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
