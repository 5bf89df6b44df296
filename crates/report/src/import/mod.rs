//! What other tools wrote, as figures for a history: HdrHistogram logs and the JSON of k6, oha, JMH, criterion and hyperfine.

mod benchmarks;
mod load_tools;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tare_stats::Polarity;

use crate::error::ReportError;

/// Version of the JSON form.
pub const SCHEMA: &str = "tare-import/1";

/// The results of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedResult {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The tool that wrote them: `k6`, `oha`, `jmh`, `criterion`, `hyperfine` or `hdr-histogram`.
    pub tool: String,
    /// The file.
    pub file: String,
    /// When they were measured, RFC 3339 UTC.
    pub at: String,
    /// Git revision of what was measured, where it was given.
    pub revision: Option<String>,
    /// The figures.
    pub figures: Vec<ImportedFigure>,
    /// Names of what the file has without a number: a benchmark whose score is `NaN`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One figure of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedFigure {
    /// What was measured: a benchmark, a command, a file.
    pub name: String,
    /// What of it: `mean`, `p99`, `throughput`.
    pub figure: String,
    /// Unit as the tool has it: `s`, `ms`, `ns`, `per_s`, `ops/s`.
    pub unit: String,
    /// Which direction is the good one.
    pub polarity: Polarity,
    /// The value.
    pub value: f64,
    /// Lower end of the tool's interval, where it has one.
    pub lo: Option<f64>,
    /// Upper end.
    pub hi: Option<f64>,
}

impl ImportedFigure {
    fn new(name: &str, figure: &str, unit: &str, polarity: Polarity, value: f64) -> Self {
        let [name, figure, unit] = [name, figure, unit].map(str::to_owned);
        Self { name, figure, unit, polarity, value, lo: None, hi: None }
    }

    fn with_interval(self, ends: Option<(f64, f64)>) -> Self {
        let ends = ends.filter(|(lo, hi)| lo.is_finite() && hi.is_finite());
        Self { lo: ends.map(|(lo, _)| lo), hi: ends.map(|(_, hi)| hi), ..self }
    }
}

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
        schema: SCHEMA.to_owned(),
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
