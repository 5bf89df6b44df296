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
        let params = one.get("params").and_then(Value::as_object).into_iter().flatten();
        let params = params.map(|(key, value)| format!("{key}={}", plain(value)));
        let threads = one.get("threads").and_then(Value::as_u64).filter(|threads| *threads != 1);
        let told: Vec<String> = params.chain(threads.map(|threads| format!("threads={threads}"))).collect();
        let name = if told.is_empty() { name.to_owned() } else { format!("{name} ({})", told.join(", ")) };
        let ends = metric.get("scoreConfidence").and_then(|ends| Some((number(ends.get(0)?)?, number(ends.get(1)?)?)));
        let score = number(metric.get("score")?)?;
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
pub(super) fn criterion(json: &Value, path: &Path) -> Option<Vec<ImportedFigure>> {
    let figure = |key: &str, figure: &str| {
        let estimate = json.get(key)?;
        let interval = estimate.get("confidence_interval")?;
        let ends = interval.get("lower_bound")?.as_f64().zip(interval.get("upper_bound")?.as_f64());
        let value = estimate.get("point_estimate")?.as_f64()?;
        let new = ImportedFigure::new(&benchmark_of_folder(path), figure, "ns", Polarity::LowerIsBetter, value);
        Some(new.with_interval(ends))
    };
    Some(vec![figure("mean", "mean")?, figure("median", "median")?])
}

/// The folders between `criterion` and that of the measurement, or else the last one that is none of a measurement.
fn benchmark_of_folder(path: &Path) -> String {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let folders: Vec<String> = folders.map(|one| one.as_os_str().to_string_lossy().into_owned()).collect();
    let name = match folders.iter().rposition(|folder| folder == "criterion") {
        Some(at) => folders[at + 1..].split_last().map_or(String::new(), |(_, above)| above.join("/")),
        None => folders.into_iter().rfind(|folder| !["new", "base"].contains(&&**folder)).unwrap_or_default(),
    };
    if name.is_empty() { super::name_of(path) } else { name }
}

/// A number; JMH writes those that are not finite as texts: `"NaN"`.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
