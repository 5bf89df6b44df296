//! Flags of `tare history`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tare_analysis::Currency;

use super::currency;

pub const EXAMPLES: &str = "\
Examples:
  tare history
      all runs of .tare, with the changes of level in CPU per request
  tare history --currency throughput --html history.html
  tare history import k6-summary.json --revision a1b2c3d
  tare history import target/criterion --at 2026-11-20

A change of level is stated with error probability 0.001 (docs/METHOD.md, \"Runs over time\"). All runs of a server are in one line. Each run shows the version of the library that it measured.";

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[command(subcommand)]
    pub action: Option<HistoryAction>,
    /// Ratio to the baseline that is shown.
    #[arg(long, default_value = "cpu", value_parser = currency(&["cpu", "throughput", "allocated", "capacity", "p50", "p99", "p99_no_stops", "stopped"]))]
    pub currency: Currency,
    /// Runs of each line to print; changes of level are printed wherever they are.
    #[arg(long, value_name = "RUNS", default_value_t = 20)]
    pub last: usize,
    /// Print the history as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the history as a page, with a chart for each line; "-" is standard output.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum HistoryAction {
    /// Add results of other tools, and loads of tare. The error for an unknown file lists all forms.
    Import(ImportArgs),
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files that the tools wrote, or criterion's folder. Results of equally named files or benchmarks are one line.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// When it was measured: a date or a time with its offset. By default what the file says, or else when it was written.
    #[arg(long, value_name = "TIME", value_parser = time_in_utc)]
    pub at: Option<String>,
    /// Git revision that was measured.
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<String>,
}

fn time_in_utc(text: &str) -> Result<String, String> {
    tare_analysis::utc(text)
        .ok_or_else(|| "give a date or a time, such as 2026-11-20 or 2026-11-20T09:30:00+01:00".to_owned())
}
