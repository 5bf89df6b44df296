//! What the readers of all forms share: the content of a file, what was found in it, and the direction of a unit.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use tare_analysis::history::ImportedFigure;
use tare_stats::Interval;
use tare_stats::Polarity::{self, HigherIsBetter, LowerIsBetter};

/// The error probability of the interval of a mean, where a file has the single values and no interval.
const ALPHA: f64 = 0.05;

/// Why a load without a success has no figures: a failure may take no time.
pub(super) const NO_SUCCESS: &str = "it has figures, but no request of it succeeded";

/// A file: its text, and the same as JSON if it is that.
pub(super) struct Content<'a> {
    pub text: &'a str,
    pub json: serde_json::Result<Value>,
    /// What is measured where the file does not say.
    pub name: &'a str,
    pub path: &'a Path,
}

impl Content<'_> {
    pub(super) fn value(&self) -> Option<&Value> {
        self.json.as_ref().ok()
    }
}

#[derive(Default)]
pub(super) struct Found {
    pub figures: Vec<ImportedFigure>,
    /// What the file has too, and no figure is made of.
    pub left_out: Vec<String>,
    /// When it was measured, RFC 3339 UTC, where the file says so.
    pub at: Option<String>,
}

impl Found {
    /// Adds a figure, or names it among what is left out if the file has no number for it.
    pub(super) fn add(&mut self, name: &str, (figure, unit): (&str, &str), polarity: Polarity, value: Option<f64>) {
        match value {
            Some(value) => self.figures.push(ImportedFigure::new(name, figure, unit, polarity, value)),
            None => self.left_out.push(figure.to_owned()),
        }
    }
}

/// Which direction of a unit is the good one; `None` where the unit does not say.
pub(super) fn direction(unit: &str) -> Option<Polarity> {
    let unit = unit.trim().to_lowercase();
    let is_rate = unit.starts_with("ops/") || ["/s", "/sec", "/second", "per_s"].iter().any(|end| unit.ends_with(end));
    let is_cost = unit.ends_with("/op") || unit.ends_with("/iter") || unit.ends_with("/request");
    let is_time = ["ns", "us", "µs", "μs", "ms", "s", "sec", "seconds", "min"].contains(&&*unit);
    let is_size = ["b", "bytes", "kb", "kib", "mb", "mib", "gb", "gib"].contains(&&*unit);
    match (is_rate, is_cost || is_time || is_size) {
        (true, _) => Some(HigherIsBetter),
        (false, true) => Some(LowerIsBetter),
        (false, false) => None,
    }
}

/// The interval of the mean of values that a file states one by one.
pub(super) fn interval_of_mean(values: &[f64]) -> Option<(f64, f64)> {
    Interval::of_mean(values, ALPHA).ok().map(|interval| (interval.lo, interval.hi))
}

/// A number; JMH writes those that are not finite as texts: `"NaN"`.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// A name with what tells it from others of the same name: `parse (size=16, threads=8)`.
pub(super) fn with_parameters(name: &str, parameters: &[String]) -> String {
    if parameters.is_empty() { name.to_owned() } else { format!("{name} ({})", parameters.join(", ")) }
}

/// `key=value` of each entry of an object; nothing for another value.
pub(super) fn parameters(object: Option<&Value>) -> Vec<String> {
    let entries = object.and_then(Value::as_object).into_iter().flatten();
    entries
        .map(|(key, value)| format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect()
}

/// Figures of one name in one file are different things, such as a command that was timed twice: `sleep 1`, `sleep 1 (2)`.
pub(super) fn numbered(mut figures: Vec<ImportedFigure>) -> Vec<ImportedFigure> {
    let mut numbers: HashMap<[String; 3], u32> = HashMap::new();
    for figure in &mut figures {
        let number = numbers.entry([&figure.name, &figure.figure, &figure.unit].map(String::clone)).or_default();
        *number += 1;
        if *number > 1 {
            figure.name.push_str(&format!(" ({number})"));
        }
    }
    figures
}
