//! Checks that need the whole body.

use std::sync::Arc;

use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::problem::escape;

/// A condition on the whole body.
#[derive(Clone, Debug)]
pub(crate) enum Whole {
    Contains(Arc<[u8]>),
    /// It contains a match.
    Matches(Regex),
    /// Without a value, the path must find anything; with one, this value at least once, and no other.
    Json {
        path: JsonPath,
        value: Option<Value>,
    },
}

impl Whole {
    /// What is wrong with a body, as text.
    pub(crate) fn judge(&self, body: &[u8]) -> Option<String> {
        match self {
            Self::Contains(bytes) => memchr::memmem::find(body, bytes)
                .is_none()
                .then(|| format!("body does not contain \"{}\": \"{}\"", escape(bytes), escape(body))),
            Self::Matches(regex) => {
                (!regex.is_match(body)).then(|| format!("body does not match {regex}: \"{}\"", escape(body)))
            }
            Self::Json { path, value } => match serde_json::from_slice(body) {
                Ok(json) => judge_json(path, value.as_ref(), &json, body),
                Err(error) => Some(format!("body is not JSON, {error}: \"{}\"", escape(body))),
            },
        }
    }
}

fn judge_json(path: &JsonPath, wanted: Option<&Value>, json: &Value, body: &[u8]) -> Option<String> {
    let found = path.query(json);
    if found.is_empty() {
        return Some(format!("body has nothing at {path}: \"{}\"", escape(body)));
    }
    let wanted = wanted?;
    let other = found.iter().find(|value| !is_same(value, wanted))?;
    let other = escape(other.to_string().as_bytes());
    Some(format!("body has \"{other}\" at {path} instead of \"{}\"", escape(wanted.to_string().as_bytes())))
}

/// Numbers by their value: `1e2` is 100.
fn is_same(value: &Value, wanted: &Value) -> bool {
    let are_floats = value.is_f64() || wanted.is_f64();
    value == wanted || are_floats && value.is_number() && value.as_f64() == wanted.as_f64()
}
