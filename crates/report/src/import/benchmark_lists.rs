//! Harnesses that write a list of benchmarks as JSON: hyperfine, BenchmarkDotNet, and what github-action-benchmark reads.

use serde_json::Value;
use tare_analysis::history::ImportedFigure;
use tare_stats::Polarity::LowerIsBetter;

use super::found::{Content, Found, direction, interval_of_mean, parameters, with_parameters};

/// Reads every entry, or says which of them is not whole.
pub(super) fn all(
    tool: &str,
    entries: &[Value],
    mut add: impl FnMut(&mut Found, &Value) -> Option<()>,
) -> Result<Found, String> {
    let mut found = Found::default();
    for (at, one) in entries.iter().enumerate() {
        add(&mut found, one).ok_or_else(|| format!("it is of {tool}, but entry {} of it is not whole", at + 1))?;
    }
    Ok(found)
}

pub(super) fn hyperfine(content: &Content<'_>) -> Option<Result<Found, String>> {
    let results = content.value()?.get("results")?.as_array()?;
    Some(all("hyperfine", results, |found, one| {
        let (command, mean) = (one.get("command")?.as_str()?, one.get("mean")?.as_f64()?);
        // A command usually contains its parameters. One that was named by the user may not.
        let told = parameters(one.get("parameters"));
        let is_told = told.iter().all(|told| told.split('=').next_back().is_some_and(|value| command.contains(value)));
        let name = with_parameters(command, if is_told { &[] } else { &told });
        let times = one.get("times").and_then(Value::as_array);
        let times: Vec<f64> = times.into_iter().flatten().filter_map(Value::as_f64).collect();
        let figure = ImportedFigure::new(&name, "mean", "s", LowerIsBetter, mean);
        found.figures.push(figure.with_interval(interval_of_mean(&times)));
        Some(())
    }))
}

/// BenchmarkDotNet's exporter `json`, with times in nanoseconds.
pub(super) fn benchmark_dotnet(content: &Content<'_>) -> Option<Result<Found, String>> {
    let json = content.value()?;
    json.get("HostEnvironmentInfo")?;
    let benchmarks = json.get("Benchmarks")?.as_array()?;
    Some(all("benchmark-dotnet", benchmarks, |found, one| {
        let (full_name, statistics) = (one.get("FullName")?.as_str()?, &one["Statistics"]);
        // `Foo.Bar: Job-ABC(Runtime=.NET 8.0)`: one benchmark under several jobs.
        let job = one["DisplayInfo"].as_str().and_then(|text| Some(text.split_once(": ")?.1));
        let has_others = benchmarks.iter().filter(|other| other["FullName"] == one["FullName"]).count() > 1;
        let name = match job.filter(|_| has_others) {
            Some(job) => &format!("{full_name} ({job})"),
            None => full_name,
        };
        // A benchmark that failed has no statistics.
        let Some(mean) = statistics["Mean"].as_f64() else {
            found.left_out.push(name.to_owned());
            return Some(());
        };
        let interval = &statistics["ConfidenceInterval"];
        let ends = interval["Lower"].as_f64().zip(interval["Upper"].as_f64());
        found.figures.push(ImportedFigure::new(name, "mean", "ns", LowerIsBetter, mean).with_interval(ends));
        let median = statistics["Median"].as_f64();
        found.figures.extend(median.map(|median| ImportedFigure::new(name, "median", "ns", LowerIsBetter, median)));
        let allocated = one["Memory"]["BytesAllocatedPerOperation"].as_f64();
        found
            .figures
            .extend(allocated.map(|bytes| ImportedFigure::new(name, "allocated", "B/op", LowerIsBetter, bytes)));
        Some(())
    }))
}

/// What github-action-benchmark calls customSmallerIsBetter and customBiggerIsBetter. The file does not say which of both it is.
pub(super) fn github_action(content: &Content<'_>) -> Option<Result<Found, String>> {
    let entries = content.value()?.as_array()?;
    entries.first().filter(|one| one.get("unit").is_some() && one.get("value").is_some())?;
    Some(all("github-action-benchmark", entries, |found, one| {
        let (name, unit, value) = (one.get("name")?.as_str()?, one.get("unit")?.as_str()?, one.get("value")?.as_f64()?);
        match direction(unit) {
            Some(polarity) => found.figures.push(ImportedFigure::new(name, "value", unit, polarity, value)),
            None => {
                found.left_out.push(format!("{name} (whether more of the unit {unit:?} is better is not in the file)"))
            }
        }
        Some(())
    }))
}
