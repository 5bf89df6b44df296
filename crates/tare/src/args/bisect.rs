//! The flags of `tare bisect`.

use clap::Args;
use tare_plan::Currency;

use super::currency;
use super::settings::CheckSettings;

pub const EXAMPLES: &str = "\
Examples:
  tare bisect -s http4s.Tapir --good 1.9.10 --bad 1.11.5 -m PostBytes
      which release brought the change in CPU per request?
  tare bisect -s http4s.Tapir --good 1.9.10 --bad 1.11.5 -m SimpleGet --currency p99 --budget 15m
      the same for p99, with up to 15 minutes for each comparison
  tare bisect -s http4s.Tapir --good 1.11.5 --bad 1.11.9 --versions 1.11.5,1.11.6,1.11.7,1.11.8,1.11.9 -m SimpleGet
      among these versions, in order

First it compares the two versions. If the bad one does not cost more, it may compare them again, to see whether it costs less. Then each step compares a version between them with the cheaper one, until the whole interval is above or below half of the change. At the end it measures the server beneath the layer with the libraries of both releases, to say how much of the change is the layer's. Each comparison is a run of its own.

Exit codes: 0 found · 1 tare failed · 2 wrong usage · 4 no change, or not decided · 130 interrupted";

#[derive(Debug, Args)]
pub struct BisectArgs {
    /// The version before the change.
    #[arg(long, value_name = "VERSION")]
    pub good: String,
    /// The version with the change; it may be the cheaper one.
    #[arg(long, value_name = "VERSION")]
    pub bad: String,
    /// Versions to search, comma separated, in order, with the good and the bad one [default: those of the catalog].
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    pub versions: Option<Vec<String>>,
    /// What has changed.
    #[arg(long, default_value = "cpu", value_name = "CURRENCY", value_parser = currency(&["cpu", "allocated", "throughput", "p50", "p99", "p99_no_stops", "stopped"]))]
    pub currency: Currency,
    /// The least change that counts, in percent.
    #[arg(long, default_value_t = 2.0, value_name = "PERCENT")]
    pub at_least_change: f64,
    /// Starts of the last run, which says whose the change is; 0 leaves it out.
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = attribution_forks)]
    pub attribution_forks: u32,
    /// Print the versions and the plan of the first comparison, and exit.
    #[arg(long)]
    pub dry_run: bool,
    /// Settings of each comparison; --budget is the time of one.
    #[command(flatten)]
    pub settings: CheckSettings,
}

fn attribution_forks(text: &str) -> Result<u32, String> {
    let forks = text.parse().ok().filter(|forks| (2..=10_000).contains(forks) || *forks == 0);
    forks.ok_or_else(|| "one start has no interval: write 2 to 10000 starts, or 0 for none".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::args::Cli;

    #[test]
    fn starts_that_no_run_can_have_or_that_say_nothing_are_refused_before_the_search() {
        let of = |forks: &str| {
            Cli::try_parse_from(["tare", "bisect", "--good", "1", "--bad", "2", "--attribution-forks", forks])
        };
        for (forks, is_possible) in [("0", true), ("1", false), ("2", true), ("10000", true), ("10001", false)] {
            assert_eq!(of(forks).is_ok(), is_possible, "{forks}");
        }
    }
}
