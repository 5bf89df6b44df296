//! Benchmark harnesses: JMH, hyperfine and criterion, each with its own interval.

use std::path::Path;

use serde_json::Value;
use tare_stats::{Interval, Polarity};

use super::ImportedFigure;

/// hyperfine gives the times of all runs and no interval: this is the error probability of theirs.
const ALPHA: f64 = 0.05;

/// `java -jar benchmarks.jar -rf json`: an array of benchmarks.
pub(super) fn jmh(json: &Value) -> Option<Vec<ImportedFigure>> {
    let benchmarks = json.as_array()?;
    let figure = |one: &Value| {
        let metric = one.get("primaryMetric")?;
        let (mode, unit) = (one.get("mode")?.as_str()?, metric.get("scoreUnit")?.as_str()?);
        let polarity = if mode == "thrpt" { Polarity::HigherIsBetter } else { Polarity::LowerIsBetter };
        let name = one.get("benchmark")?.as_str()?;
        let params = one.get("params").and_then(Value::as_object);
        let params: Vec<String> =
            params.into_iter().flatten().map(|(key, value)| format!("{key}={}", plain(value))).collect();
        let name = if params.is_empty() { name.to_owned() } else { format!("{name} ({})", params.join(", ")) };
        // With one fork JMH writes "NaN" as a text.
        let ends =
            metric.get("scoreConfidence").and_then(|ends| Some((ends.get(0)?.as_f64()?, ends.get(1)?.as_f64()?)));
        let score = metric.get("score")?.as_f64()?;
        Some(ImportedFigure::new(&name, mode, unit, polarity, score).with_interval(ends))
    };
    benchmarks.iter().map(figure).collect()
}

/// `hyperfine --export-json`.
pub(super) fn hyperfine(json: &Value) -> Option<Vec<ImportedFigure>> {
    let figure = |one: &Value| {
        let (command, mean) = (one.get("command")?.as_str()?, one.get("mean")?.as_f64()?);
        let times = one.get("times").and_then(Value::as_array);
        let times: Vec<f64> = times.into_iter().flatten().filter_map(Value::as_f64).collect();
        let ends = Interval::of_mean(&times, ALPHA).ok().map(|interval| (interval.lo, interval.hi));
        Some(ImportedFigure::new(command, "mean", "s", Polarity::LowerIsBetter, mean).with_interval(ends))
    };
    json.get("results")?.as_array()?.iter().map(figure).collect()
}

/// criterion's `estimates.json`. Its benchmark is named by the folders: `target/criterion/NAME/new/estimates.json`.
pub(super) fn criterion(json: &Value, file: &Path) -> Option<Vec<ImportedFigure>> {
    let figure = |key: &str, figure: &str| {
        let estimate = json.get(key)?;
        let interval = estimate.get("confidence_interval")?;
        let ends = interval.get("lower_bound")?.as_f64().zip(interval.get("upper_bound")?.as_f64());
        let value = estimate.get("point_estimate")?.as_f64()?;
        let new = ImportedFigure::new(&benchmark_of_folder(file), figure, "ns", Polarity::LowerIsBetter, value);
        Some(new.with_interval(ends))
    };
    Some(vec![figure("mean", "mean")?, figure("median", "median")?])
}

/// The folders between `criterion` and that of the measurement (`new`, `base`).
fn benchmark_of_folder(file: &Path) -> String {
    let folders: Vec<String> = file
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .map(|one| one.as_os_str().to_string_lossy().into_owned())
        .collect();
    let named = folders.split_last().map_or(&[][..], |(_, above)| above);
    let first =
        named.iter().rposition(|folder| folder == "criterion").map_or(named.len().saturating_sub(1), |at| at + 1);
    let name = named[first..].join("/");
    if name.is_empty() { super::name_of(file) } else { name }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
