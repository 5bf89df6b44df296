//! `tare report --list`: the recorded runs, with date, length, suite and verdicts.

use tare_analysis::format::duration;
use tare_analysis::rfc3339;
use tare_record::EndStatus;
use tare_record::store::{RunBrief, RunEntry, list_runs};
use tare_report::palette::Tone;
use tare_report::text::{Grid, verdicts_in_words};

use crate::args::Global;
use crate::console;
use crate::failure::Outcome;

pub fn list(global: &Global) -> anyhow::Result<Outcome> {
    let runs = list_runs(&global.dir)?;
    if runs.is_empty() {
        console::print_text("no runs yet: tare run makes the first\n");
        return Ok(Outcome::Done);
    }
    let mut grid = Grid::default();
    grid.push_in(Tone::Plain, ["run", "started (UTC)", "length", "suite", "verdicts"]);
    runs.iter().for_each(|run| grid.push_in(Tone::Plain, row(run)));
    console::print_text(&grid.render(false));
    Ok(Outcome::Done)
}

fn row(run: &RunEntry) -> [String; 5] {
    match &run.brief {
        Ok(brief) => {
            // `2026-11-20 09:41`.
            let started = rfc3339(brief.started_unix_ns).chars().take(16).collect::<String>().replace('T', " ");
            let length = brief.length_ns.map_or_else(|| "–".to_owned(), |ns| duration(ns as f64 / 1e9));
            [run.id.clone(), started, length, brief.suite.clone(), verdicts(run, brief)]
        }
        Err(error) => [run.id.clone(), String::new(), String::new(), String::new(), error.to_string()],
    }
}

/// The verdicts, after a word on how the run ended if it did not complete.
fn verdicts(run: &RunEntry, brief: &RunBrief) -> String {
    let ended = match brief.end {
        Some(EndStatus::Complete) => None,
        Some(EndStatus::BudgetSpent) => Some("budget spent"),
        Some(EndStatus::Interrupted) => Some("interrupted"),
        Some(EndStatus::Failed) => Some("failed"),
        None => Some("unfinished"),
    };
    let summary = std::fs::read_to_string(run.dir.join("summary.json")).ok();
    let verdicts = summary.and_then(|text| verdicts_in_words(&serde_json::from_str(&text).ok()?));
    let verdicts = verdicts.or(ended.is_none().then(|| "no verdict".to_owned()));
    ended.map(str::to_owned).into_iter().chain(verdicts).collect::<Vec<_>>().join(": ")
}
