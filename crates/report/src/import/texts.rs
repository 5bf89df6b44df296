//! Forms that are text: wrk's output, Locust's table, `go test -bench`, and HdrHistogram's interval log.

use std::collections::{BTreeMap, BTreeSet};

use tare_analysis::format::rfc3339;
use tare_analysis::history::ImportedFigure;
use tare_stats::Polarity::{HigherIsBetter, LowerIsBetter};
use tare_stats::histogram::read_interval_log;

use super::found::{Content, Found, NO_SUCCESS, direction, interval_of_mean};

/// The text of wrk, and of wrk2: `Latency` with mean and maximum, `99%` with `--latency`, `Requests/sec`. A file may have several
/// of them, one behind the other.
pub(super) fn wrk(content: &Content<'_>) -> Option<Result<Found, String>> {
    let without_success = |rate: &str| rate.trim().parse() == Ok(0.0);
    let rates = || content.text.lines().filter_map(|line| line.strip_prefix("Requests/sec:"));
    rates().next()?;
    if rates().all(without_success) {
        return Some(Err(NO_SUCCESS.to_owned()));
    }
    let mut found = Found::default();
    let mut before = 0;
    for line in content.text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Latency", mean, _, max, share] if share.ends_with('%') => {
                found.add(content.name, ("mean", "ms"), LowerIsBetter, milliseconds(mean));
                found.add(content.name, ("max", "ms"), LowerIsBetter, milliseconds(max));
            }
            [share, time] if share.ends_with('%') && milliseconds(time).is_some() => {
                let percentile: Option<f64> = share.trim_end_matches('%').parse().ok();
                // wrk2 states "99.000%".
                let figure = percentile.map_or_else(|| share.to_owned(), |percentile| format!("p{percentile}"));
                found.add(content.name, (&figure, "ms"), LowerIsBetter, milliseconds(time));
            }
            ["Requests/sec:", rate] => {
                found.add(content.name, ("throughput", "per_s"), HigherIsBetter, rate.parse().ok());
                if without_success(rate) {
                    // They are left out where figures have got their numbers, so that those of the next text keep theirs.
                    found.figures[before..].iter_mut().for_each(|figure| figure.estimate.value = f64::NAN);
                }
                before = found.figures.len();
            }
            ["Non-2xx", ..] | ["Socket", "errors:", ..] => found.left_out.push(line.trim().to_owned()),
            _ => {}
        }
    }
    Some(Ok(found))
}

/// `635.91us` in milliseconds.
fn milliseconds(text: &str) -> Option<f64> {
    let digits = text.find(|c: char| c.is_ascii_alphabetic())?;
    let factor = match &text[digits..] {
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 60e3,
        "h" => 3_600e3,
        _ => return None,
    };
    Some(text[..digits].parse::<f64>().ok()? * factor)
}

/// `locust --csv`: the table `_stats.csv`, with times in milliseconds and a row for each name.
pub(super) fn locust(content: &Content<'_>) -> Option<Result<Found, String>> {
    let mut table = csv::Reader::from_reader(content.text.as_bytes());
    let columns = table.headers().ok()?.clone();
    columns.iter().find(|column| *column == "Average Response Time")?;
    let mut found = Found::default();
    for row in table.records() {
        let Ok(row) = row else { return Some(Err("it is of locust, but its table is cut off".to_owned())) };
        let cell = |wanted: &str| columns.iter().position(|column| column == wanted).and_then(|at| row.get(at));
        let told: Vec<&str> = ["Type", "Name"].into_iter().filter_map(cell).filter(|told| !told.is_empty()).collect();
        let name = told.join(" ");
        if cell("Request Count") == Some("0") {
            found.left_out.push(format!("{name} (no requests)"));
            continue;
        }
        for (column, value) in columns.iter().zip(&row) {
            let value = || value.parse::<f64>().ok();
            match column {
                "Average Response Time" => found.add(&name, ("mean", "ms"), LowerIsBetter, value()),
                "Requests/s" => found.add(&name, ("throughput", "per_s"), HigherIsBetter, value()),
                "Failures/s" => found.add(&name, ("failures", "per_s"), LowerIsBetter, value()),
                share if share.ends_with('%') => {
                    found.add(&name, (&format!("p{}", share.trim_end_matches('%')), "ms"), LowerIsBetter, value());
                }
                _ => {}
            }
        }
    }
    Some(Ok(found))
}

/// `go test -bench`: a name, a count, and pairs of value and unit. Several runs (`-count`) become their mean with its interval.
/// Benchmarks of several packages are told apart. A line without a number for each unit is of the program's own log: it is left out.
pub(super) fn go_bench(content: &Content<'_>) -> Option<Result<Found, String>> {
    let mut values: BTreeMap<(String, &str), Vec<f64>> = BTreeMap::new();
    let packages: BTreeSet<&str> = content.text.lines().filter_map(|line| line.strip_prefix("pkg: ")).collect();
    let (mut package, mut found) = ("", Found::default());
    for line in content.text.lines() {
        if let Some(name) = line.strip_prefix("pkg: ").filter(|_| packages.len() > 1) {
            package = name;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, count, pairs @ ..] = &words[..] else { continue };
        if !name.starts_with("Benchmark") || count.parse::<u64>().is_err() {
            continue;
        }
        let name = if package.is_empty() { (*name).to_owned() } else { format!("{package}.{name}") };
        let figures: Option<Vec<f64>> = pairs.chunks(2).map(|pair| pair[0].parse().ok()).collect();
        let Some(figures) = figures else {
            found.left_out.push(line.trim().to_owned());
            continue;
        };
        for (value, pair) in figures.into_iter().zip(pairs.chunks_exact(2)) {
            values.entry((name.clone(), pair[1])).or_default().push(value);
        }
    }
    for ((name, unit), values) in values {
        let Some(polarity) = direction(unit) else {
            found.left_out.push(format!("{unit} of {name}"));
            continue;
        };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let figure = ImportedFigure::new(&name, "mean", unit, polarity, mean);
        found.figures.push(figure.with_interval(interval_of_mean(&values)));
    }
    (!found.figures.is_empty()).then_some(Ok(found))
}

/// The percentiles of all intervals of a tag together, in the unit of the log: nanoseconds where tare wrote it.
pub(super) fn interval_log(content: &Content<'_>) -> Option<Result<Found, String>> {
    // Every histogram of a log begins with these letters: the encoded first bytes of its form.
    let is_log = content.text.contains("HISTFAAA")
        || content.text.starts_with("#[")
        || content.text.starts_with("\"StartTimestamp\"");
    is_log.then_some(())?;
    Some(read_interval_log(content.text).map_err(|error| error.to_string()).map(|tags| {
        // `#[StartTime: 1796032298.648 (seconds since epoch), …]`
        let line = content.text.lines().find_map(|line| line.strip_prefix("#[StartTime: "));
        let seconds = line.and_then(|line| line.split([' ', ']']).next()?.parse::<f64>().ok());
        let at = seconds.filter(|seconds| (0.0..1e10).contains(seconds)).map(|seconds| rfc3339((seconds * 1e9) as u64));
        let mut found = Found { at, ..Found::default() };
        for (tag, histogram) in tags {
            let name = if tag.is_empty() { content.name.to_owned() } else { format!("{} ({tag})", content.name) };
            for (figure, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)] {
                let value = histogram.value_at_quantile_ns(quantile).map(|value| value as f64);
                found.add(&name, (figure, "unit of the log"), LowerIsBetter, value);
            }
        }
        found
    }))
}
