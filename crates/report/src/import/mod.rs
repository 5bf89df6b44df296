//! What other tools wrote, as figures for a history: HdrHistogram logs and the JSON of k6, oha, JMH, criterion and hyperfine.

mod benchmarks;
mod load_tools;

use std::path::Path;

use serde_json::Value;
pub use tare_analysis::history::{IMPORT_SCHEMA, ImportedFigure, ImportedResult};

use crate::error::ReportError;

/// When and of what the results of a file are.
#[derive(Debug, Clone)]
pub struct ImportOrigin<'a> {
    /// The file, as people name it.
    pub file: &'a Path,
    /// The same from the root, because its folders may say what was measured.
    pub path: &'a Path,
    /// RFC 3339 UTC.
    pub at: String,
    /// Git revision.
    pub revision: Option<String>,
}

/// Reads what one of the tools wrote. The tool is known by the content. Of figures with one name, all but the first get a number.
///
/// # Errors
/// [`ReportError::NotImportable`] for a file that is cut off, that none of the tools wrote, or that holds no figure.
pub fn import(text: &str, origin: ImportOrigin<'_>) -> Result<ImportedResult, ReportError> {
    let file = origin.file;
    let refuse = |cause: String| ReportError::NotImportable { file: file.to_owned(), cause };
    let name = name_of(file);
    // Programs of Windows begin a text with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let (tool, figures) = if text.trim_start().starts_with(['{', '[']) {
        let json: Value =
            serde_json::from_str(text).map_err(|error| refuse(format!("it is no whole JSON: {error}")))?;
        figures_of_json(&json, &name, origin.path)
            .ok_or_else(|| refuse("no tool that tare knows wrote it".to_owned()))?
    } else {
        ("hdr-histogram", load_tools::interval_log(text, &name).map_err(refuse)?)
    };
    let (figures, without): (Vec<_>, Vec<_>) =
        numbered(figures).into_iter().partition(|figure| figure.value.is_finite());
    let left_out: Vec<String> = without.into_iter().map(|figure| figure.name).collect();
    if figures.is_empty() {
        let names =
            if left_out.is_empty() { String::new() } else { format!(": no number for {}", left_out.join(", ")) };
        return Err(refuse(format!("it is of {tool}, but holds no figure{names}")));
    }
    Ok(ImportedResult {
        schema: IMPORT_SCHEMA.to_owned(),
        tool: tool.to_owned(),
        file: file.display().to_string(),
        at: origin.at,
        revision: origin.revision,
        figures,
        left_out,
    })
}

/// Figures of one name in one file are different things, such as a command that was timed twice: `sleep 1`, `sleep 1 (2)`.
fn numbered(mut figures: Vec<ImportedFigure>) -> Vec<ImportedFigure> {
    let titles: Vec<_> = figures.iter().map(|one| (one.name.clone(), one.figure.clone(), one.unit.clone())).collect();
    for (at, figure) in figures.iter_mut().enumerate() {
        let earlier = titles[..at].iter().filter(|title| **title == titles[at]).count();
        if earlier > 0 {
            figure.name.push_str(&format!(" ({})", earlier + 1));
        }
    }
    figures
}

fn figures_of_json(json: &Value, name: &str, path: &Path) -> Option<(&'static str, Vec<ImportedFigure>)> {
    load_tools::k6(json, name)
        .map(|figures| ("k6", figures))
        .or_else(|| load_tools::oha(json, name).map(|figures| ("oha", figures)))
        .or_else(|| benchmarks::jmh(json).map(|figures| ("jmh", figures)))
        .or_else(|| benchmarks::hyperfine(json).map(|figures| ("hyperfine", figures)))
        .or_else(|| benchmarks::criterion(json, path).map(|figures| ("criterion", figures)))
}

/// The file's name without its ending: what is measured where the file does not say.
fn name_of(file: &Path) -> String {
    file.file_stem().map_or_else(|| "unnamed".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
