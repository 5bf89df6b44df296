//! Outputs: what people read, as snapshots; what programs read, as properties.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tare_analysis::summarize;
use tare_analysis::summary::{Cell, Comparison, Summary, VerdictKind};
use tare_plan::plan::SliceKind;
use tare_record::{
    EndStatus, ErrorClass, ErrorTally, EventKind, EventLevel, EventRecord, RunRecord, SliceSample, StoredSlice,
};
use tare_report::text::Style;
use tare_report::{csv, gatling, json, load, markdown, text, write, write_all, wrk};

use crate::loads;
use crate::synthetic::{self, ALL_KINDS, Truth, baseline, control, standard, standard_summary, variant};

pub const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{1b}[31m|`*\u{202E},\"=cmd";

fn view(width: usize) -> Style {
    Style { colored: false, width }
}

pub fn hostile() -> RunRecord {
    let name: &'static str = HOSTILE;
    let mut record = synthetic::run(&[baseline(), variant(name, 0.9)], 2, &[SliceKind::Saturating]);
    record.header.plan.question = HOSTILE.to_owned();
    record.events.push(EventRecord {
        at_ns: 0,
        kind: EventKind::Other,
        level: EventLevel::Error,
        voids: true,
        group: Some("http4s".to_owned()),
        variant: Some(name.to_owned()),
        scenario: Some("SimpleGet".to_owned()),
        fork: Some(1),
        title: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
        remedy: None,
        log: Some(format!("{HOSTILE}\n```\n{HOSTILE}")),
    });
    record
}

#[test]
fn the_terminal_table() {
    insta::assert_snapshot!(text::render(&standard_summary(), &view(140)));
}

#[test]
fn the_terminal_table_in_eighty_columns() {
    let text = text::render(&standard_summary(), &view(80));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

/// Three questions on two scenarios, as the quick suite asks them.
#[test]
fn a_small_suite_fits_thirty_lines_of_eighty_columns() {
    let mut summary = standard_summary();
    for (scenario, variant) in [("PostBytes", "http4s.Tapir"), ("Intercepted", "http4s.TapirInterceptor")] {
        let renamed = |name: &str| name.replace("SimpleGet", scenario).replace("http4s.Tapir", variant);
        let one = standard_summary();
        summary.cells.extend(one.cells.into_iter().map(|cell| {
            let (id, variant) = (renamed(&cell.id), renamed(&cell.variant));
            Cell { id, variant, scenario: scenario.to_owned(), ..cell }
        }));
        summary.comparisons.extend(one.comparisons.into_iter().map(|comparison| Comparison {
            cell: renamed(&comparison.cell),
            baseline_cell: renamed(&comparison.baseline_cell),
            ..comparison
        }));
        summary.sentences.extend(one.sentences);
        summary.findings.extend(one.findings);
    }
    let text = text::render(&summary, &view(80));
    assert!(text.lines().count() <= 30 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.matches("slower 4.5 %").count(), 3, "{text}");
}

#[test]
fn every_finding_is_told_on_request() {
    let mut record = synthetic::standard();
    record.slices.iter_mut().filter(|s| s.key.fork == 1).for_each(|s| s.server.others_share = Some(0.4));
    let summary = summarize(&record);
    assert_eq!(text::unshown_findings(&summary), summary.findings.len(), "notes wait to be asked for");
    let all = text::render_findings(&summary, &view(140)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains("note Starts set aside: ") && all.contains("Stop the other programs: "), "{all}");
}

#[test]
fn the_terminal_table_of_too_few_forks() {
    let record = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.9), control()], 3, &ALL_KINDS);
    insta::assert_snapshot!(text::render(&summarize(&record), &view(140)));
}

#[test]
fn the_terminal_table_of_a_sequential_run() {
    let record = synthetic::sequential(&[baseline(), variant("http4s.Tapir", 0.9)]);
    insta::assert_snapshot!(text::render(&summarize(&record), &view(140)));
}

#[test]
fn the_terminal_table_of_hostile_names() {
    insta::assert_snapshot!(text::render(&summarize(&hostile()), &view(100)));
}

#[test]
fn the_terminal_table_of_nothing() {
    let mut record = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.9)], 0, &ALL_KINDS);
    record.end = None;
    insta::assert_snapshot!(text::render(&summarize(&record), &view(100)));
}

#[test]
fn colour_adds_to_the_words_and_replaces_none() {
    let summary = standard_summary();
    let plain = text::render(&summary, &view(140));
    let coloured = text::render(&summary, &Style { colored: true, ..view(140) });
    assert!(coloured.contains("\u{1b}[") && !plain.contains('\u{1b}'));
    let stripped: String = coloured
        .split('\u{1b}')
        .enumerate()
        .map(|(i, part)| if i == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) })
        .collect();
    assert_eq!(stripped, plain);
}

#[test]
fn the_markdown() {
    insta::assert_snapshot!(markdown::render(&standard_summary()));
}

#[test]
fn the_markdown_of_hostile_names() {
    let text = markdown::render(&summarize(&hostile()));
    assert!(!text.lines().any(|line| line.contains("<img") && !line.starts_with("</script>")), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_text_of_gatling() {
    let record = synthetic::run(&[baseline()], 2, &[SliceKind::Saturating]);
    insta::assert_snapshot!(gatling::render(&summarize(&record)));
}

#[test]
fn wrk_s_text_is_there_although_no_request_was_answered() {
    let mut record = loads::record().clone();
    for slice in &mut record.intervals {
        let status = ErrorTally { count: 2, example: "status 500".to_owned() };
        let errors = [(ErrorClass::Status, status)].into_iter().collect();
        let window_ns = slice.load.window_ns;
        slice.load = SliceSample { failed: 2, errors, bytes_in: 80, window_ns, ..SliceSample::default() }.pack();
    }
    let text = load::wrk(&record, &tare_analysis::load::summarize(&record));
    for says in [
        "Running 2s test",
        "Latency     0.00us    0.00us    0.00us     0.00%",
        "0 requests in 1.80s, 320.00B read",
        "Non-2xx or 3xx responses: 8",
        "Requests/sec:      0.00",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

#[test]
fn the_text_of_wrk() {
    let record = synthetic::run(&[baseline()], 2, &[SliceKind::Saturating]);
    insta::assert_snapshot!(wrk::render(&summarize(&record)));
}

#[test]
fn errors_stand_in_wrk_s_text_of_the_load_that_had_them() {
    let mut record = synthetic::run(&[baseline()], 2, &ALL_KINDS);
    let slice = record.slices.iter_mut().find(|slice| slice.key.kind == SliceKind::Poisson).unwrap();
    let tally = ErrorTally { count: 3, example: "no answer in 10 s".to_owned() };
    (slice.load.failed, slice.load.errors) = (3, [(ErrorClass::Timeout, tally)].into_iter().collect());
    let text = wrk::render(&summarize(&record));
    let blocks: Vec<&str> = text.split("Running ").filter(|block| block.contains("timeout 3")).collect();
    assert!(blocks.len() == 1 && blocks[0].contains("open Poisson"), "{text}");
}

#[test]
fn the_cells_as_csv() {
    insta::assert_snapshot!(csv::cells_as_csv(&standard_summary()).replace("\r\n", "\n"));
}

#[test]
fn every_row_of_a_csv_has_every_column() {
    for record in [standard(), hostile(), synthetic::run(&[baseline()], 0, &ALL_KINDS)] {
        for text in [csv::cells_as_csv(&summarize(&record)), csv::slices_as_csv(&record)] {
            let fields: BTreeSet<usize> = text.split_terminator("\r\n").map(fields).collect();
            assert_eq!(fields.len(), 1, "{text}");
        }
    }
}

/// Number of fields of a line of CSV.
fn fields(line: &str) -> usize {
    let mut quoted = false;
    let separators = line.chars().filter(|c| {
        quoted ^= *c == '"';
        *c == ',' && !quoted
    });
    separators.count() + 1
}

#[test]
fn a_ratio_that_is_void_is_not_in_the_csv() {
    let ratios = |summary: &Summary| {
        let text = csv::cells_as_csv(summary);
        let mut rows = ::csv::Reader::from_reader(text.as_bytes());
        let names = rows.headers().unwrap().clone();
        let told = |row: ::csv::StringRecord| {
            names.iter().zip(&row).filter(|(name, text)| name.contains("_ratio") && !text.is_empty()).count()
        };
        rows.records().map(|row| told(row.unwrap())).sum::<usize>()
    };
    let mut summary = standard_summary();
    assert!(ratios(&summary) > 0);
    summary.comparisons[0].currencies.iter_mut().for_each(|ratio| ratio.verdict = VerdictKind::Void);
    assert_eq!(ratios(&summary), 0);
}

#[test]
fn every_number_in_the_json_is_a_documented_metric() {
    let document = document("METRICS.md");
    let names: BTreeSet<String> = document.lines().flat_map(metrics_of_row).collect();
    let summary: Value = serde_json::from_str(&json::render(&standard_summary()).unwrap()).unwrap();
    let mut unknown = BTreeSet::new();
    numbers(&summary, "", &mut |key| {
        if !names.contains(key) {
            unknown.insert(key.to_owned());
        }
    });
    assert!(unknown.is_empty(), "add to docs/METRICS.md: {unknown:?}");
}

fn document(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)).unwrap()
}

/// The metrics that a row of a table in docs/METRICS.md explains: of ``| `a`, `_lo`, `_hi` |`` a, `a_lo` and `a_hi`.
fn metrics_of_row(line: &str) -> Vec<String> {
    let cell = line.strip_prefix("| `").and_then(|row| row.split(" |").next()).unwrap_or_default();
    let mut names = cell.split('`').step_by(2);
    let Some(first) = names.next().filter(|name| !name.is_empty()) else { return Vec::new() };
    let further = names.map(|suffix| format!("{first}{suffix}"));
    std::iter::once(first.to_owned()).chain(further).collect()
}

/// Calls `visit` with the key of every number.
fn numbers(value: &Value, key: &str, visit: &mut impl FnMut(&str)) {
    match value {
        Value::Number(_) => visit(key),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, key, visit)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| numbers(value, key, visit)),
        _ => {}
    }
}

#[test]
fn memory_is_a_row_per_variant_and_says_what_is_not_known() {
    let mut summary = standard_summary();
    summary.cells[1].rss_peak_bytes = None;
    let text = markdown::memory::render(&summary);
    assert!(text.contains("| http4s.Vanilla | 260 MB (heap 120 MB, 20.0 MB left) |"), "{text}");
    assert!(text.contains("| http4s.Tapir | not available |") && !text.contains("(again)"), "{text}");
}

#[test]
fn the_legend_names_both_intervals_where_no_difference_is_stated() {
    let summary = summarize(&synthetic::run(&[baseline(), control()], 16, &[SliceKind::Saturating]));
    let legend = "[from, to]: the 99 % confidence interval · no difference: the 98 % interval lies within ±2 %";
    let text = text::render(&summary, &Style { colored: false, width: 120 });
    assert!(text.contains(legend), "{text}");
}

#[test]
fn a_prior_is_told_with_the_interval_without_it() {
    let scattered = |truth: Truth| Truth { fork_sd: 0.02, ..truth };
    let truths = [scattered(baseline()), scattered(variant("http4s.Tapir", 0.9))];
    let of = |sd: f64| {
        let record = synthetic::with_prior(synthetic::run(&truths, 4, &[SliceKind::Saturating]), sd);
        let text = text::render(&summarize(&record), &Style { colored: false, width: 400 });
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(of(0.02).contains("on this machine (2 %)") && of(0.02).contains("by this run alone −"), "{}", of(0.02));
    assert!(of(0.000_5).contains("its own starts differ by"), "{}", of(0.000_5));
}

#[test]
fn a_doubt_about_one_measure_is_in_the_text_and_in_the_markdown() {
    let mut record = standard();
    let open = |s: &&mut StoredSlice| s.key.variant == "http4s.Tapir" && s.key.kind != SliceKind::Saturating;
    record.slices.iter_mut().filter(open).for_each(|s| s.load.generator_cpu_ns = s.load.window_ns * 9 / 10);
    let summary = summarize(&record);
    let text = text::render(&summary, &Style { colored: false, width: 400 });
    assert!(text.contains("http4s.Tapir: suspect in latency, the generator used 90 % of its cores"), "{text}");
    assert!(markdown::render(&summary).contains("| suspect in latency: the generator used 90 % of its cores"));
}

/// The tables of docs/METRICS.md explain the columns of both files, in their order.
#[test]
fn every_column_of_a_file_has_its_row_in_the_documents() {
    let document = document("METRICS.md");
    let record = standard();
    let files = [("cells.csv", csv::cells_as_csv(&summarize(&record))), ("slices.csv", csv::slices_as_csv(&record))];
    for (file, text) in files {
        let (_, table) = document.split_once(&format!("## `{file}`")).unwrap();
        let rows = table.split("\n## ").next().unwrap().lines();
        let explained: Vec<String> = rows.flat_map(metrics_of_row).collect();
        assert_eq!(text.lines().next().unwrap().split(',').collect::<Vec<_>>(), explained, "{file}");
        assert_eq!(explained.iter().collect::<BTreeSet<_>>().len(), explained.len(), "{file} has a column twice");
    }
}

#[test]
fn every_key_of_the_json_is_described() {
    let document = document("SUMMARY.md");
    let summary: Value = serde_json::to_value(standard_summary()).unwrap();
    let mut missing = BTreeSet::new();
    keys(&summary, &mut |key| {
        if !document.contains(&format!("`{key}`")) {
            missing.insert(key.to_owned());
        }
    });
    assert!(missing.is_empty(), "describe in docs/SUMMARY.md: {missing:?}");
}

fn keys(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys(item, visit)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            visit(key);
            keys(value, visit);
        }),
        _ => {}
    }
}

#[test]
fn all_reports_are_written_whole_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let record = standard();
    let summary = summarize(&record);
    let files = write_all(&summary, &record, dir.path()).unwrap();
    assert_eq!(write_all(&summary, &record, dir.path()).unwrap(), files, "writing again replaces");
    assert!(files[0].ends_with("report.html"));
    assert!(files.iter().all(|f| fs::metadata(f).unwrap().len() > 0));
    let histograms: Vec<_> = files.iter().filter(|f| f.extension().is_some_and(|e| e == "hgrm")).collect();
    assert_eq!(histograms.len(), 9, "3 variants under 3 loads");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".partial")), "{left:?}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let record = synthetic::run(&[baseline()], 1, &[SliceKind::Saturating]);
    let error = write_all(&summarize(&record), &record, &file).unwrap_err().to_string();
    assert!(error.contains("file/hgrm") && error.contains("--dir"), "{error}");
}

#[test]
fn histogram_files_have_safe_and_different_names() {
    let record = synthetic::run(&[baseline(), variant("a b", 1.0), variant("a/b", 1.0)], 1, &[SliceKind::Saturating]);
    let names: Vec<String> = write::hgrm_files(&record).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "http4s-SimpleGet-http4s.Vanilla-saturating.hgrm",
            "http4s-SimpleGet-a-b-saturating.hgrm",
            "http4s-SimpleGet-a-b-saturating-2.hgrm"
        ]
    );
}

#[test]
fn a_load_that_ends_within_its_warm_up_says_so_with_a_remedy() {
    let mut record = loads::record().clone();
    record.intervals.clear();
    record.header.plan.warmup = tare_units::Span::from_secs(5);
    let reasons = tare_analysis::load::summarize(&record).verdict.reasons;
    let [nothing, why] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(nothing.text, "nothing was measured");
    assert_eq!(why.text, "the load had ended before its warm-up of 5s was over");
    assert!(why.remedy.as_ref().is_some_and(|remedy| remedy.contains("--warmup")), "{why:?}");
    record.end = Some((EndStatus::Interrupted, 0));
    assert_eq!(tare_analysis::load::summarize(&record).verdict.reasons.len(), 1, "whoever stopped it knows why");
}
