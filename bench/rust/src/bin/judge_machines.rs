//! What stored runs of several machines say together: the table of `tare compare` over machines, from the mean and the spread of
//! starts. `bench/findings/make --machines NAME NAME` runs it on stored evidence.
//!
//! `cargo run -p bench-programs --bin judge_machines < machines.json > figures.json`
#![allow(clippy::print_stdout, reason = "a program of a benchmark talks to its caller")]

use std::error::Error;

use serde::Deserialize;
use tare_analysis::Currency;
use tare_analysis::differences::{Measure, RunFigure, combine_machines};
use tare_plan::plan::SliceKind;
use tare_stats::{SD_FLOOR, SampleMean, VariancePrior};

#[derive(Deserialize)]
struct Machines {
    alpha: f64,
    region: f64,
    /// The figures of all runs of each machine.
    machines: Vec<Vec<Entry>>,
}

/// One currency of one comparison in one run.
#[derive(Deserialize)]
struct Entry {
    scenario: String,
    variant: String,
    baseline: String,
    name: Currency,
    label: String,
    ratio: f64,
    sd: f64,
    forks: u32,
    prior: Option<VariancePrior>,
}

impl From<Entry> for RunFigure {
    fn from(entry: Entry) -> Self {
        let Entry { scenario, variant, baseline, name, label, ratio, sd, forks, prior } = entry;
        // Stored runs have one load for each label.
        let of = Measure { scenario, variant, baseline, name, label, load: SliceKind::Saturating };
        Self { of, starts: forks, log: SampleMean::of_forks(ratio.ln(), sd.max(SD_FLOOR), forks, prior) }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Machines { alpha, region, machines } = serde_json::from_reader(std::io::stdin())?;
    let measured: Vec<Vec<RunFigure>> =
        machines.into_iter().map(|entries| entries.into_iter().map(RunFigure::from).collect()).collect();
    println!("{}", serde_json::to_string(&combine_machines(&measured, alpha, region))?);
    Ok(())
}
