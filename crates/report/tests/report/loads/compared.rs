//! Two loads side by side.

use tare_analysis::load::{LoadDifferences, LoadFigureChange, LoadSummary, compare_loads, summarize};
use tare_report::differences::{render, render_markdown};
use tare_report::text::Style;

use crate::load_answers::record;

/// The same load with other times and rates.
fn scaled(load: &LoadSummary, times: f64) -> LoadSummary {
    let mut load = load.clone();
    let longer = |ns: &mut Option<u64>| *ns = ns.map(|ns| (ns as f64 * times) as u64);
    load.throughput_per_s /= times;
    load.response.mean_ns = load.response.mean_ns.map(|ns| ns * times);
    load.response.percentiles.iter_mut().for_each(|one| one.value_ns = (one.value_ns as f64 * times) as u64);
    longer(&mut load.response.max_ns);
    load.urls.iter_mut().for_each(|url| longer(&mut url.p99_ns));
    let first = load.intervals[0].clone();
    load.intervals = (0..8)
        .map(|index| {
            let mut interval = first.clone();
            interval.p50_ns = Some(((1_000_000 + index * 10_000) as f64 * times) as u64);
            interval
        })
        .collect();
    load.model.text += if times == 1.0 { "" } else { " again" };
    load
}

fn differences(times: f64) -> LoadDifferences {
    let load = summarize(&record(&[]));
    compare_loads(&scaled(&load, 1.0), &scaled(&load, times))
}

fn figure<'a>(differences: &'a LoadDifferences, name: &str) -> &'a LoadFigureChange {
    differences.figures.iter().find(|figure| figure.name == name).unwrap()
}

#[test]
fn a_load_beside_a_slower_one_shows_what_changed_and_how_far_intervals_reach() {
    let slower = differences(8.0);
    let p50 = figure(&slower, "p50");
    assert!((p50.ratio.unwrap() - 8.0).abs() < 0.01 && p50.ranges_overlap() == Some(false), "{p50:?}");
    assert!((figure(&slower, "throughput").ratio.unwrap() - 0.125).abs() < 1e-9);
    assert_eq!(figure(&slower, "status 503").before, Some(20.0));
    assert!((figure(&slower, "p99(GET /bad)").ratio.unwrap() - 8.0).abs() < 0.01);
    let text = render(&slower, &Style { colored: false, width: 100 });
    for says in ["×8.0", "−87.5 %", "further apart than these", "status 503", "two loads", " again"] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let markdown = render_markdown(&slower);
    assert!(markdown.contains("| p99(GET /bad) |") && markdown.contains("| ×8.0 |"), "{markdown}");
    let json = serde_json::to_string(&slower).unwrap();
    assert_eq!(serde_json::from_str::<LoadDifferences>(&json).unwrap(), slower);
}

#[test]
fn a_load_beside_itself_shows_no_change() {
    let same = differences(1.0);
    assert!(same.environment.is_empty(), "{:?}", same.environment);
    assert!(same.figures.iter().all(|figure| figure.ratio.is_none_or(|ratio| (ratio - 1.0).abs() < 1e-9)));
    let text = render(&same, &Style { colored: false, width: 100 });
    assert!(text.contains("no further apart than these") && !text.contains('×'), "{text}");
}
