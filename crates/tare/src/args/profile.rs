//! The flags of `tare profile`.

use std::path::PathBuf;

use clap::Args;
use tare_plan::profile::ProfileEvent;
use tare_units::Span;

use super::settings::ProfileSettings;

pub const EXAMPLES: &str = "\
Examples:
  tare profile http4s.Tapir SimpleGet --against http4s.Vanilla
      where the additional CPU time and allocation go
  tare profile http4s.Tapir SimpleGet --against http4s.Vanilla --versions 1.9.11,1.11.15
  tare profile pekko.VanillaMulti SimpleGetMultiRoute --focus 'RouteConcatenation'
  tare profile my.Server MyScenario --suite my.toml --event wall,lock
  tare profile http4s.Tapir SimpleGet --forks 5 --span 60s
      narrower intervals

Each start warms up as in `tare run`. Then it is sampled at one request rate, the same for both servers: JVMs by async-profiler (downloaded once with Maven), other programs by perf. Profiled starts are never scored. Results are in .tare/runs/ID: report.html, and in profiles/ the samplers' own files (.jfr), collapsed stacks, speedscope, pprof and SVG. `tare report ID` makes the report again from the record.";

#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Server to profile.
    pub server: String,
    /// Scenario that the server is asked.
    pub scenario: String,
    /// Baseline server: the report shows what SERVER spends beyond it.
    #[arg(long, value_name = "BASELINE")]
    pub against: Option<String>,
    /// Report the share of stack frames that match this regular expression [default: the catalog's for the library].
    #[arg(long, value_name = "REGEX")]
    pub focus: Option<String>,
    /// Events to sample, comma separated: cpu, and on a JVM alloc, wall, lock [default: cpu, and alloc on a JVM].
    #[arg(short, long, value_delimiter = ',', value_name = "EVENTS")]
    pub event: Option<Vec<ProfileEvent>>,
    /// Profiled starts (forks) of each server [default: 3].
    #[arg(long, value_name = "N")]
    pub forks: Option<u32>,
    /// Time for which each event is sampled in each start [default: 20s].
    #[arg(long, value_name = "SPAN")]
    pub span: Option<Span>,
    /// Suite file with servers, scenarios and settings in addition to the catalog's [default: tare.toml of this folder].
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Print the plan (every setting, its value and its source) and exit.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub settings: ProfileSettings,
}
