//! The flags of `tare check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tare_plan::ratio_limit::RatioLimit;

use super::settings::CheckSettings;

pub const EXAMPLES: &str = "\
Examples:
  tare check --baseline main --fail-if 'cpu > +3%'
      tare.toml: this work tree against the branch main
  tare check mine.toml --baseline v1.4 --fail-if 'cpu > +3%,p99 > +10%'
      limits on CPU per request and on p99
  tare check --baseline ../old-checkout
      against a folder; limits from [check] in the suite
  tare check --baseline './service-1.4 --port {port}'
      against another command
  tare check -s http4s.Tapir --baseline 1.11.5 --fail-if 'allocated > +1%'
      a server of the catalog against an earlier library version
  tare check -s http4s.Tapir --baseline 1.10.14 --versions 1.11.5 --fail-if 'cpu > +3%'
      one library version against another
  tare check suites/quick.toml -s http4s.Tapir --baseline main --fail-if 'cpu > +3%'
      a server of the catalog against another revision of its code
  tare check --baseline main --undecided pass
      exit code 0 where a limit is not decided
  tare check --baseline main --dry-run
      print the plan: what will be compared, and for how long

Both builds run side by side, in alternation. A limit is judged by its interval: regressed when the whole interval is beyond it, held when the interval is within it. The check ends when every limit is judged, or when the budget is spent.

Exit codes: 0 every limit holds · 1 tare failed · 2 wrong usage · 3 regressed · 4 undecided, or a build failed or answered wrongly · 130 interrupted";

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Suite file with the servers and the limits [default: tare.toml].
    #[arg(value_name = "SUITE")]
    pub suite: Option<PathBuf>,
    /// What to compare with: a git revision, a folder, a program file, a command line, or the library version of a catalog server [default: baseline in the suite's check table].
    #[arg(long, value_name = "BUILD")]
    pub baseline: Option<String>,
    /// Library versions of the catalog server that are compared with the baseline, comma separated [default: that of the catalog].
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    pub versions: Option<Vec<String>>,
    /// Limits, comma separated, on cpu, allocated, throughput, capacity, p50, p99, p99.9, 'p99(no stops)', stopped, 'met stop' or slower(5ms): 'cpu > +3%' [default: fail_if in the suite's check table].
    #[arg(long, value_name = "LIMIT", value_delimiter = ',', allow_hyphen_values = true)]
    pub fail_if: Vec<RatioLimit>,
    /// Exit code where a limit is not decided: fail is 4, pass is 0. A build that fails or answers wrongly always gives 4.
    #[arg(long, value_enum, default_value_t = WhenUndecided::Fail, value_name = "WHAT")]
    pub undecided: WhenUndecided,
    /// Profile the servers after the scored starts, as the profile table of a suite does.
    #[arg(long)]
    pub profile: bool,
    /// Print the plan (every setting, its value and its source) and exit.
    #[arg(long)]
    pub dry_run: bool,
    /// Settings of the run; its servers are those of the suite that name a baseline, or all of them.
    #[command(flatten)]
    pub settings: CheckSettings,
}

/// The result of a check with an undecided limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WhenUndecided {
    /// It passes: exit code 0.
    Pass,
    /// It fails: exit code 4.
    Fail,
}
