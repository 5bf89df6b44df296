//! criterion's `estimates.json`. Its benchmark is named by the folders: `target/criterion/NAME/new/estimates.json`.

use std::path::Path;

use serde_json::Value;
use tare_analysis::history::ImportedFigure;
use tare_stats::Polarity::LowerIsBetter;

use super::found::{Content, Found};
use super::name_of;

pub(super) fn read(content: &Content<'_>) -> Option<Result<Found, String>> {
    let json = content.value()?;
    // Versions before 0.3 began the names with capitals.
    let estimate =
        |lower: &str, upper: &str| json.get(lower).or_else(|| json.get(upper)).filter(|value| value.is_object());
    let mean = estimate("mean", "Mean").filter(|mean| mean.get("point_estimate").is_some())?;
    let folders = folders_of(content.path);
    // Every measurement has a standard deviation, and no change has one.
    if estimate("std_dev", "StdDev").is_none() || folders.last().is_some_and(|folder| folder == "change") {
        return Some(Err("it is criterion's change between two measurements, a share and no time. \
                         Give the folder target/criterion, or new/estimates.json"
            .to_owned()));
    }
    let name = benchmark_of(&folders, content.path);
    let mut found = Found::default();
    for (figure, estimate) in
        [("mean", Some(mean)), ("median", estimate("median", "Median")), ("slope", estimate("slope", "Slope"))]
    {
        // Benchmarks of many iterations a sample have a slope, others have none.
        let Some(estimate) = estimate else { continue };
        let Some(figure) = figure_of(&name, figure, estimate) else {
            return Some(Err(format!("it is of criterion, but its {figure} is not whole")));
        };
        found.figures.push(figure);
    }
    Some(Ok(found))
}

fn figure_of(name: &str, figure: &str, estimate: &Value) -> Option<ImportedFigure> {
    let interval = estimate.get("confidence_interval")?;
    let ends = interval.get("lower_bound")?.as_f64().zip(interval.get("upper_bound")?.as_f64());
    let value = estimate.get("point_estimate")?.as_f64()?;
    Some(ImportedFigure::new(name, figure, "ns", LowerIsBetter, value).with_interval(ends))
}

/// The folders above the file, below one that is called `criterion` if there is one.
fn folders_of(path: &Path) -> Vec<String> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let folders: Vec<String> = folders.map(|one| one.as_os_str().to_string_lossy().into_owned()).collect();
    let start = folders.iter().rposition(|folder| folder == "criterion").map_or(0, |at| at + 1);
    if start == 0 { folders } else { folders[start..].to_vec() }
}

/// The benchmark, and the measurement of it if that is not the newest: `parse/uri`, `parse/uri (base)`.
fn benchmark_of(folders: &[String], path: &Path) -> String {
    let is_below_criterion = path.components().any(|one| one.as_os_str() == "criterion");
    let (measurement, above) = match folders.split_last() {
        Some((last, above)) if is_below_criterion || ["new", "base"].contains(&&**last) => (&**last, above),
        _ => ("new", folders),
    };
    let name = if is_below_criterion { above.join("/") } else { above.last().cloned().unwrap_or_default() };
    let name = if name.is_empty() { name_of(path) } else { name };
    if measurement == "new" { name } else { format!("{name} ({measurement})") }
}
