//! JMH: `java -jar benchmarks.jar -rf json`.

use serde_json::Value;
use tare_analysis::history::ImportedFigure;
use tare_stats::Polarity::{HigherIsBetter, LowerIsBetter};

use super::benchmark_lists::all;
use super::found::{Content, Found, direction, number, parameters, with_parameters};

pub(super) fn read(content: &Content<'_>) -> Option<Result<Found, String>> {
    let benchmarks = content.value()?.as_array()?;
    let is_jmh = |one: &Value| one.get("benchmark").is_some() && one.get("primaryMetric").is_some();
    benchmarks.first().filter(|one| is_jmh(one))?;
    Some(all("jmh", benchmarks, add_benchmark))
}

fn add_benchmark(found: &mut Found, one: &Value) -> Option<()> {
    let metric = one.get("primaryMetric")?;
    let (mode, unit) = (one.get("mode")?.as_str()?, metric.get("scoreUnit")?.as_str()?);
    let threads = one.get("threads").and_then(Value::as_u64).filter(|threads| *threads != 1);
    let mut told = parameters(one.get("params"));
    told.extend(threads.map(|threads| format!("threads={threads}")));
    let name = with_parameters(one.get("benchmark")?.as_str()?, &told);
    // A harness may state operations per second in a mode that usually has times. The unit is what the number means.
    let polarity = direction(unit).unwrap_or(if mode == "thrpt" { HigherIsBetter } else { LowerIsBetter });
    let figure = |figure: &str, unit: &str, metric: &Value| {
        let ends = metric.get("scoreConfidence").and_then(|ends| Some((number(ends.get(0)?)?, number(ends.get(1)?)?)));
        Some(ImportedFigure::new(&name, figure, unit, polarity, number(metric.get("score")?)?).with_interval(ends))
    };
    found.figures.push(figure(mode, unit, metric)?);
    // In the other modes these are percentiles of iterations, and no times of operations.
    let percentiles = metric.get("scorePercentiles").and_then(Value::as_object).filter(|_| mode == "sample");
    for (key, value) in percentiles.into_iter().flatten() {
        let figure = match key.as_str() {
            "0.0" => "min".to_owned(),
            "100.0" => "max".to_owned(),
            other => format!("p{}", other.trim_end_matches(".0")),
        };
        found.add(&name, (&figure, unit), polarity, number(value));
    }
    let secondary = one.get("secondaryMetrics").and_then(Value::as_object);
    for (key, metric) in secondary.into_iter().flatten() {
        let key = key.trim_start_matches('·');
        // A cost of each operation is comparable. Totals and rates of a profiler depend on how long and how fast a benchmark ran.
        match metric.get("scoreUnit").and_then(Value::as_str).filter(|unit| unit.ends_with("/op")) {
            Some(unit) => found.figures.push(ImportedFigure { polarity: LowerIsBetter, ..figure(key, unit, metric)? }),
            None => found.left_out.push(format!("{key} of {name}")),
        }
    }
    Some(())
}
