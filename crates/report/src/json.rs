//! JSON: the summary as it is (docs/SUMMARY.md).

use crate::error::ReportError;
use crate::summary::Summary;

/// The summary, indented, with a newline at its end.
///
/// # Errors
/// A number that JSON does not have, which no summary holds.
pub fn render(summary: &Summary) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(summary)? + "\n")
}
