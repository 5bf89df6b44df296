//! The flags of `tare profile`.

use std::path::PathBuf;

use clap::Args;
use tare_plan::duration::Span;
use tare_plan::options::{Options, RateOption};
use tare_plan::profile::{ProfileEvent, ProfileOptions};

use super::run::{MachineArgs, WarmupArgs, how};

pub const EXAMPLES: &str = "\
Examples:
  tare profile http4s.Tapir SimpleGet --against http4s.Vanilla
                                                  where the difference goes: sentences, tables, flame graphs
  tare profile http4s.Tapir SimpleGet --against http4s.Vanilla --versions 1.9.11,1.11.15
  tare profile pekko.VanillaMulti SimpleGetMultiRoute --focus 'RouteConcatenation'
  tare profile my.Server MyScenario --suite my.toml --event wall,lock
  tare profile http4s.Tapir SimpleGet --forks 5 --span 60s   narrower intervals

Each start is warmed up as in `tare run`, then sampled under one rate for both sides: a JVM by async-profiler (fetched once with
Maven), anything else by perf. Nothing of it is scored. What stays: .tare/runs/ID with report.html, and in profiles/ the samplers'
own files (.jfr), collapsed stacks, speedscope, pprof and SVG; again: tare report ID";

/// Flags of `tare profile`.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// The server.
    pub server: String,
    /// What it is asked.
    pub scenario: String,
    /// The server beneath it: what does the first have that this has not?
    #[arg(long, value_name = "BASELINE")]
    pub against: Option<String>,
    /// Tell the share of frames that match [default: the library's, as the catalog has it].
    #[arg(long, value_name = "REGEX")]
    pub focus: Option<String>,
    /// What is sampled, comma separated: cpu, alloc, wall, lock [default: cpu,alloc].
    #[arg(short, long, value_delimiter = ',', value_name = "EVENTS")]
    pub event: Option<Vec<ProfileEvent>>,
    /// Library versions, each with the baseline built with it.
    #[arg(long, value_delimiter = ',', value_name = "VERSIONS")]
    pub versions: Option<Vec<String>>,
    /// Profiled starts of each server [default: 3].
    #[arg(long, value_name = "N")]
    pub forks: Option<u32>,
    /// How long each event is sampled in each start [default: 20s].
    #[arg(long, value_name = "SPAN")]
    pub span: Option<Span>,
    /// Servers, scenarios and settings of this suite beside the catalog's.
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Show the plan with every default and stop.
    #[arg(long)]
    pub dry_run: bool,
    /// Connections [default: 128].
    #[arg(short, long, help_heading = "Load")]
    pub users: Option<u32>,
    /// Requests per second, or a share of the slower side's capacity [default: 50%].
    #[arg(short, long, help_heading = "Load")]
    pub rate: Option<RateOption>,
    #[command(flatten)]
    pub warmup: WarmupArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
}

impl ProfileArgs {
    /// The flags as options that win over the suite's.
    pub fn options(&self) -> Options {
        Options {
            servers: Some(vec![self.server.clone()]),
            scenarios: Some(vec![self.scenario.clone()]),
            // Alone it is its own baseline.
            baseline: Some(self.against.clone().unwrap_or_else(|| self.server.clone())),
            versions: self.versions.clone(),
            users: self.users,
            rate: self.rate,
            control: Some(false),
            ..how(&self.warmup, &self.machine)
        }
    }

    /// The flags that say what is sampled.
    pub fn profile(&self) -> ProfileOptions {
        ProfileOptions { events: self.event.clone(), forks: self.forks, span: self.span, focus: self.focus.clone() }
    }
}
