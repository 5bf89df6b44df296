//! The flags of `tare run`.

use std::path::PathBuf;

use clap::Args;
use tare_plan::settings::Section;

use super::AgentOptions;
use super::settings::RunSettings;

/// The run that `--resume` means where it names none.
pub const LATEST: &str = "latest";

pub const EXAMPLES: &str = "\
Examples:
  tare run
      suites/quick.toml: three questions, at most 10 min
  tare run suites/tapir.toml
      all servers and scenarios, three starts each
  tare run suites/tapir.toml -s 'http4s.*' --budget 60m
      one family of the suite, for at most 60 minutes
  tare run --dry-run
      print every setting with its value and source
  tare run -s 'http4s.Tapir*' -m SimpleGet
      each server against its baseline, until decided
  tare run -s 'http4s.*' -m SimpleGet -d 25 -u 1
      sequential run: one start each, no intervals
  tare run --forks 10 --region 1
      ten starts each; less than ±1 % does not matter
  tare run --budget 20m --precision 1
      until decided or within ±1 %, at most 20 minutes
  tare run -s http4s.Tapir --versions 1.10.14,1.11.15
      two versions, each with its own baseline
  tare run --external http://127.0.0.1:8080 -m SimpleGet -d 10
      a server that you started; see --contract
  tare run -s http4s.Vanilla -m SimpleGet -d 25 --engine wrk,gatling
      the same cell with wrk and Gatling, as cross-check
  tare run -s http4s.Tapir -m SimpleGet --slo 'p90<2ms,p99<4ms,p99.9<8ms' --forks 5
      the highest rate that keeps these limits
  tare run my.toml --seed 42
      repeat a run with the same random order
  tare run --resume
      go on with the run that was interrupted last

A run ends when every comparison is decided, when the budget is spent, or on Ctrl-C. Ctrl-C once reports what was measured; twice exits at once. `tare run --resume` goes on with an interrupted run: every start that was finished counts. Results are in .tare/runs/ID: the record, report.html, summary.json, cells.csv, hgrm/ and more. `tare report ID` makes the report again from the record.";

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Suite file [default: tare.toml of this folder, or else suites/quick.toml, unless servers or scenarios are named].
    #[arg(value_name = "SUITE")]
    pub suite: Option<PathBuf>,
    /// Profile the servers after the scored starts, as the profile table of a suite does.
    #[arg(long)]
    pub profile: bool,
    /// Print the plan (every setting, its value and its source) and exit.
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run: print the plan as JSON.
    #[arg(long, requires = "dry_run")]
    pub json: bool,
    /// Go on with an interrupted run where it stopped, in the same record [default: the one interrupted last].
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = LATEST,
          conflicts_with_all = ["suite", "profile", "dry_run", "external", "contract"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub settings: RunSettings,
    /// Measure a server that already runs, here or on another machine: http://HOST:PORT or https://HOST:PORT, or NAME=URL; several after commas, or repeated.
    #[arg(long, value_name = "URL", value_delimiter = ',', help_heading = Section::What.heading())]
    pub external: Vec<String>,
    /// Contract file: the request of each scenario and its correct response [default: servers/contract.toml].
    #[arg(long, value_name = "FILE", help_heading = Section::What.heading())]
    pub contract: Option<PathBuf>,
    #[command(flatten)]
    pub agents: AgentOptions,
}
