//! The flags of `tare run`, and how they become options that win over a suite's.

use std::path::PathBuf;

use clap::Args;
use tare_plan::duration::Span;
use tare_plan::engine::Engine;
use tare_plan::options::{ForkCovers, Options, Percent, RateOption, WarmupOption};
use tare_plan::server_clock::ServerClock;
use tare_plan::slo::{Curve, LoadBy};

pub const EXAMPLES: &str = "\
Examples:
  tare run                                        suites/quick.toml: decided, or 5 minutes
  tare run suites/tapir.toml                      the whole matrix, three starts of everything
  tare run suites/tapir.toml -s 'http4s.*' --budget 60m
                                                  one family of it, until it is decided
  tare run --dry-run                              the plan with every default, and where each value came from
  tare run -s 'http4s.Tapir*' -m SimpleGet        against the baseline each server names, until decided
  tare run -s 'http4s.*' -m SimpleGet -d 25 -u 1  plain sequential run: one start, no interval
  tare run --forks 10 --region 1                  ten starts fixed beforehand (Student's t), ±1 % is no difference
  tare run --budget 20m --precision 1             until every interval is ±1 %, at most 20 minutes
  tare run -s http4s.Tapir --versions 1.10.14,1.11.15
  tare run --external http://127.0.0.1:8080 -m SimpleGet -d 10
                                                  a server started by hand; --contract says what it must answer
  tare run -s http4s.Vanilla -m SimpleGet -d 25 --engine wrk,gatling
                                                  the same cell by the articles' own tools, beside tare's figures
  tare run -s http4s.Tapir -m SimpleGet --slo 'p90<2ms,p99<4ms,p99.9<8ms' --forks 5
                                                  the highest rate that keeps the curve, and what the layer takes of it
  tare run my.toml --seed 42                      the same order of slices again

What ends a run: every comparison decided, the budget spent, or Ctrl-C (once: report what is there; twice: out at once).
What stays: .tare/runs/ID with the record, report.html, summary.json, cells.csv, hgrm/ …; again: tare report ID";

/// Flags of `tare run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Suite file; suites/quick.toml when neither a suite nor servers are given.
    #[arg(value_name = "SUITE")]
    pub suite: Option<PathBuf>,
    /// Show the plan with every default and stop.
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run: the plan as JSON.
    #[arg(long, requires = "dry_run")]
    pub json: bool,
    #[command(flatten)]
    pub what: WhatArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub stop: StopArgs,
    #[command(flatten)]
    pub warmup: WarmupArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "What")]
pub struct WhatArgs {
    /// Servers, comma separated; globs such as 'http4s.*'.
    #[arg(short, long, value_delimiter = ',', value_name = "SERVERS")]
    pub servers: Option<Vec<String>>,
    /// Scenarios, comma separated; globs.
    #[arg(short = 'm', long, value_delimiter = ',', value_name = "SCENARIOS")]
    pub scenarios: Option<Vec<String>>,
    /// A server that runs already, also on another machine: http://HOST:PORT, or NAME=http://HOST:PORT for several.
    #[arg(long, value_name = "URL")]
    pub external: Vec<String>,
    /// The contract that says what is sent and must come back [default: servers/contract.toml].
    #[arg(long, value_name = "FILE")]
    pub contract: Option<PathBuf>,
    /// Weigh all against this server instead of the one that each names.
    #[arg(long, value_name = "SERVER")]
    pub baseline: Option<String>,
    /// Weigh a server against itself: what this machine's noise looks like.
    #[arg(long, value_name = "SERVER", conflicts_with_all = ["servers", "baseline"])]
    pub aa: Option<String>,
    /// Library versions, each weighed against the baseline built with it.
    #[arg(long, value_delimiter = ',', value_name = "VERSIONS")]
    pub versions: Option<Vec<String>>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Closed-loop users, a connection each [default: 128].
    #[arg(short, long)]
    pub users: Option<u32>,
    /// Plain sequential run: one cell after another for so long each, such as 25s.
    #[arg(short, long, value_name = "SECONDS")]
    pub duration: Option<Span>,
    /// Rate of the open slices: 4000 per second, or 50% of the slowest variant's capacity [default: 50%].
    #[arg(short, long)]
    pub rate: Option<RateOption>,
    /// A request unanswered for so long has failed [default: 10s].
    #[arg(long, value_name = "SPAN")]
    pub timeout: Option<Span>,
    /// TCP congestion control of the generator's sockets [default: the kernel's].
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
    /// Let the generator sleep between the sends of open slices, also on cores of its own: it sends and stamps later.
    #[arg(long)]
    pub no_spin: bool,
    /// Whose clock stamps what a server pushes: this machine's (same), or another, whose offset is estimated (estimate)
    /// [default: auto, which is same for a server on this machine].
    #[arg(long, value_name = "CLOCK")]
    pub server_clock: Option<ServerClock>,
    /// With -d: other load tools that drive each cell after tare has, wrk or gatling, for cross-checking.
    #[arg(long, value_delimiter = ',', value_name = "TOOLS")]
    pub engine: Option<Vec<Engine>>,
    /// Length of one slice [default: 500ms].
    #[arg(long, value_name = "SPAN")]
    pub slice: Option<Span>,
    /// Head of each slice that is dropped [default: 100ms].
    #[arg(long, value_name = "SPAN")]
    pub discard: Option<Span>,
    /// Rounds of closed-loop slices per fork [default: 8].
    #[arg(long, value_name = "ROUNDS")]
    pub saturating: Option<u32>,
    /// Rounds at one constant rate for all, per fork [default: 0].
    #[arg(long, value_name = "ROUNDS")]
    pub fixed: Option<u32>,
    /// Rounds of open Poisson load per fork [default: 4].
    #[arg(long, value_name = "ROUNDS")]
    pub poisson: Option<u32>,
    /// Rounds of pushed messages per fork, in scenarios in which the server sends [default: 1].
    #[arg(long, value_name = "ROUNDS")]
    pub push: Option<u32>,
    /// Search for the largest load that keeps a curve, such as 'p90<2ms,p99<4ms,p99.9<8ms', instead of weighing slices.
    #[arg(long, value_name = "CURVE", conflicts_with = "duration")]
    pub slo: Option<Curve>,
    /// With --slo: what the load is counted in, users or rate [default: rate; where the server sends, users].
    #[arg(long, value_name = "WHAT", requires = "slo")]
    pub slo_by: Option<LoadBy>,
    /// With --slo: no more users, or no higher rate, is tried [default: 4096 users, 1000000 per second].
    #[arg(long, value_name = "N", requires = "slo")]
    pub slo_most: Option<u32>,
    /// With --slo: length of one try [default: 2s].
    #[arg(long, value_name = "SPAN", requires = "slo")]
    pub slo_each: Option<Span>,
    /// Messages that each user reads in such a scenario [default: the scenario's].
    #[arg(long, value_name = "N")]
    pub messages: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "When to stop")]
pub struct StopArgs {
    /// Stop when decided, or after so long, builds not counted [default: 4m].
    #[arg(long, value_name = "SPAN", conflicts_with = "forks")]
    pub budget: Option<Span>,
    /// A fixed number of starts of each variant instead.
    #[arg(long, value_name = "N")]
    pub forks: Option<u32>,
    /// No decision before so many starts [default: 5].
    #[arg(long, value_name = "N", conflicts_with = "forks")]
    pub at_least: Option<u32>,
    /// Also stop once every interval is ± so many percent.
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<Percent>,
    /// Differences of less than so many percent are not material [default: 2].
    #[arg(long, value_name = "PERCENT")]
    pub region: Option<Percent>,
    /// Error probability of each comparison [default: 0.01].
    #[arg(long)]
    pub alpha: Option<f64>,
    /// Leave out the second start of each baseline (the A/A control), and with it the noise floor.
    #[arg(long)]
    pub no_control: bool,
    /// What one start serves: all scenarios of its group, or one [default: group].
    #[arg(long, value_name = "WHAT")]
    pub fork_covers: Option<ForkCovers>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Warm-up")]
pub struct WarmupArgs {
    /// "steady" detects its end; or a fixed time such as 5s [default: steady; 5s with -d].
    #[arg(long)]
    pub warmup: Option<WarmupOption>,
    /// Longest warm-up of a scenario in one fork [default: 30s].
    #[arg(long, value_name = "SPAN")]
    pub warmup_cap: Option<Span>,
    /// The same of a fork's first scenario, which warms what all of them share [default: as --warmup-cap].
    #[arg(long, value_name = "SPAN")]
    pub warmup_first_cap: Option<Span>,
    /// Users of a fixed warm-up [default: 3].
    #[arg(long, value_name = "N")]
    pub warmup_users: Option<u32>,
    /// Keep servers on their own cores while they warm up.
    #[arg(long)]
    pub warmup_pinned: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Machine")]
pub struct MachineArgs {
    /// Cores of the servers, such as 0 or 0,2-3.
    #[arg(long, value_name = "CPUS")]
    pub server_cpus: Option<String>,
    /// Cores of the generator, a worker each.
    #[arg(long, value_name = "CPUS")]
    pub load_cpus: Option<String>,
    /// -XX:ActiveProcessorCount of every JVM server.
    #[arg(long, value_name = "N")]
    pub jvm_cpus: Option<u32>,
    /// Options of every JVM server, replacing the catalog's; blanks separate.
    #[arg(long, value_name = "OPTIONS", value_delimiter = ' ', allow_hyphen_values = true)]
    pub jvm_options: Option<Vec<String>>,
    /// JDK home of the servers [default: the newest that is found].
    #[arg(long, value_name = "HOME")]
    pub java: Option<String>,
    /// A server that is not ready by then has failed [default: 30s].
    #[arg(long, value_name = "SPAN")]
    pub startup_timeout: Option<Span>,
    /// After SIGTERM, how long until SIGKILL [default: 3s].
    #[arg(long, value_name = "SPAN")]
    pub stop_grace: Option<Span>,
    /// Seed of every random order [default: from the clock, recorded].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Also measure hiccups: how late a thread is woken on the servers' cores, and inside each JVM.
    #[arg(long)]
    pub hiccups: bool,
}

impl RunArgs {
    /// The flags as options that win over the suite's.
    pub fn options(&self) -> Options {
        let Self { what, load, stop, .. } = self;
        Options {
            servers: what.servers.clone(),
            scenarios: what.scenarios.clone(),
            baseline: what.baseline.clone(),
            versions: what.versions.clone(),
            aa: what.aa.clone(),
            users: load.users,
            rate: load.rate,
            duration: load.duration,
            budget: stop.budget,
            forks: stop.forks,
            at_least: stop.at_least,
            precision: stop.precision,
            region: stop.region,
            alpha: stop.alpha,
            slice: load.slice,
            discard: load.discard,
            saturating: load.saturating,
            fixed: load.fixed,
            poisson: load.poisson,
            push: load.push,
            messages: load.messages,
            slo: load.slo.clone(),
            slo_by: load.slo_by,
            slo_most: load.slo_most,
            slo_each: load.slo_each,
            control: stop.no_control.then_some(false),
            fork_covers: stop.fork_covers,
            timeout: load.timeout,
            congestion: load.congestion.clone(),
            spin: load.no_spin.then_some(false),
            server_clock: load.server_clock,
            engine: load.engine.clone(),
            ..how(&self.warmup, &self.machine)
        }
    }
}

/// How servers warm up and on what they run, whatever is done with them then.
pub fn how(warmup: &WarmupArgs, machine: &MachineArgs) -> Options {
    Options {
        warmup: warmup.warmup,
        warmup_cap: warmup.warmup_cap,
        warmup_first_cap: warmup.warmup_first_cap,
        warmup_users: warmup.warmup_users,
        warmup_all_cpus: warmup.warmup_pinned.then_some(false),
        server_cpus: machine.server_cpus.clone(),
        load_cpus: machine.load_cpus.clone(),
        jvm_options: machine.jvm_options.clone(),
        jvm_cpus: machine.jvm_cpus,
        java: machine.java.clone(),
        startup_timeout: machine.startup_timeout,
        stop_grace: machine.stop_grace,
        seed: machine.seed,
        hiccups: machine.hiccups.then_some(true),
        ..Options::default()
    }
}
