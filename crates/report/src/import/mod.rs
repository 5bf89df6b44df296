//! What other tools wrote, as figures for a history. Each form of a file is a row of `FORMS`, and its reader has a file here.

mod benchmark_lists;
mod criterion;
mod found;
mod jmh;
mod k6;
mod refused;
mod summaries;
mod texts;

use std::path::Path;

use found::{Content, Found, numbered};
use serde_json::Value;
pub use tare_analysis::history::{IMPORT_SCHEMA, ImportedFigure, ImportedResult};

use crate::error::ReportError;

#[derive(Debug, Clone)]
pub struct ImportOrigin<'a> {
    pub file: &'a Path,
    /// The same from the root, because its folders may say what was measured.
    pub path: &'a Path,
    /// RFC 3339 UTC, as the user stated it.
    pub stated_at: Option<String>,
    /// The same of the file, which counts where neither user nor content says it.
    pub written_at: String,
    pub revision: Option<String>,
}

struct Form {
    tool: &'static str,
    /// How the file is made; empty for a form that is only recognised, so that the error can say what to give instead.
    made_by: &'static str,
    /// The figures; `None` for a file of another form.
    read: fn(&Content<'_>) -> Option<Result<Found, String>>,
}

/// The first form that knows a file reads it: forms that are told by more of the content come before those told by less.
const FORMS: [Form; 17] = [
    Form { tool: "", made_by: "", read: refused::read },
    Form { tool: "tare", made_by: "--json of a load", read: |file| summaries::read(file, &summaries::TARE_LOAD) },
    Form { tool: "k6", made_by: "--summary-export, handleSummary", read: k6::read },
    Form { tool: "oha", made_by: "--output-format json", read: |file| summaries::read(file, &summaries::OHA) },
    Form { tool: "vegeta", made_by: "report -type=json", read: |file| summaries::read(file, &summaries::VEGETA) },
    Form { tool: "fortio", made_by: "-json", read: |file| summaries::read(file, &summaries::FORTIO) },
    Form { tool: "autocannon", made_by: "--json", read: |file| summaries::read(file, &summaries::AUTOCANNON) },
    Form { tool: "bombardier", made_by: "-o json", read: |file| summaries::read(file, &summaries::BOMBARDIER) },
    Form { tool: "wrk", made_by: "its text", read: texts::wrk },
    Form { tool: "locust", made_by: "--csv: _stats.csv", read: texts::locust },
    Form { tool: "hdr-histogram", made_by: ".hlog", read: texts::interval_log },
    Form { tool: "jmh", made_by: "-rf json", read: jmh::read },
    Form { tool: "criterion", made_by: "the folder target/criterion, or estimates.json", read: criterion::read },
    Form { tool: "hyperfine", made_by: "--export-json", read: benchmark_lists::hyperfine },
    Form { tool: "benchmark-dotnet", made_by: "-e json", read: benchmark_lists::benchmark_dotnet },
    Form { tool: "github-action-benchmark", made_by: "its custom JSON", read: benchmark_lists::github_action },
    Form { tool: "go", made_by: "go test -bench", read: texts::go_bench },
];

/// Reads what one of the tools wrote. The tool is known by the content. Of figures with one name, all but the first get a number.
///
/// # Errors
/// [`ReportError::NotImportable`] for a file that is cut off, that none of the tools wrote, or that holds no figure.
pub fn import(text: &str, origin: ImportOrigin<'_>) -> Result<ImportedResult, ReportError> {
    let refuse =
        |cause: String| ReportError::NotImportable { file: origin.file.to_owned(), cause, known: known_forms() };
    // Programs of Windows begin a text with a byte order mark.
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let content = Content { text, json: serde_json::from_str(text), name: &name_of(origin.file), path: origin.path };
    let read = |form: &Form| Some((form.tool, (form.read)(&content)?));
    let Some((tool, found)) = FORMS.iter().find_map(read) else { return Err(refuse(unknown(&content))) };
    let mut found = found.map_err(refuse)?;
    let (figures, without): (Vec<_>, Vec<_>) =
        numbered(found.figures).into_iter().partition(|figure| figure.estimate.value.is_finite());
    found.left_out.extend(without.into_iter().map(|figure| figure.name));
    if figures.is_empty() {
        let names = found.left_out.join(", ");
        let names = if names.is_empty() { names } else { format!(": no number for {names}") };
        return Err(refuse(format!("it is of {tool}, but holds no figure{names}")));
    }
    Ok(ImportedResult {
        schema: IMPORT_SCHEMA.to_owned(),
        tool: tool.to_owned(),
        file: origin.file.display().to_string(),
        at: origin.stated_at.or(found.at).unwrap_or(origin.written_at),
        revision: origin.revision,
        figures,
        left_out: found.left_out,
    })
}

/// What an error offers: `k6 (--summary-export, handleSummary), oha (--output-format json), …`.
fn known_forms() -> String {
    let made = FORMS.iter().filter(|form| !form.made_by.is_empty());
    made.map(|form| format!("{} ({})", form.tool, form.made_by)).collect::<Vec<_>>().join(", ")
}

/// What can be said of a file that no form knows.
fn unknown(content: &Content<'_>) -> String {
    match &content.json {
        Ok(Value::Object(keys)) => {
            format!("no tool that tare knows wrote it: it is JSON with the keys {}", first_keys(keys))
        }
        Ok(_) => {
            "no tool that tare knows wrote it: it is JSON, but its entries are of no form that tare knows".to_owned()
        }
        Err(_) if content.text.is_empty() => "it is empty".to_owned(),
        Err(error) if content.text.starts_with(['{', '[']) => {
            let first = content.text.lines().next().unwrap_or_default();
            match serde_json::from_str(first) {
                Ok(Value::Object(keys)) => format!(
                    "no tool that tare knows wrote it: it has a JSON object in each line, the first with the keys {}",
                    first_keys(&keys)
                ),
                _ => format!("it is no whole JSON: {error}"),
            }
        }
        Err(_) => {
            let first: String = content.text.lines().next().unwrap_or_default().chars().take(60).collect();
            format!("no tool that tare knows wrote it: it is text that begins with {first:?}")
        }
    }
}

fn first_keys(keys: &serde_json::Map<String, Value>) -> String {
    keys.keys().take(5).map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The file's name without its ending: what is measured where the file does not say.
fn name_of(file: &Path) -> String {
    file.file_stem().map_or_else(|| "unnamed".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
