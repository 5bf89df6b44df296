//! JSON: a summary (docs/SUMMARY.md) or another document as it is.

use serde::Serialize;

use crate::error::ReportError;

pub fn render(document: &impl Serialize) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
