//! Flags of `tare compare`.

use clap::Args;

pub const EXAMPLES: &str = "\
Examples:
  tare compare 2026-11-20-1 latest
      what changed between two runs of the same servers
  tare compare old/.tare/runs/2026-10-02-1 latest --markdown
  tare compare before.json after.json
      two loads: their records (--db), or what --json wrote
  tare compare http4s.Tapir netty.Tapir --of latest
      two servers of one run

Runs of one machine are compared by ratios to the baselines and by levels. Runs of different machines are compared by ratios to their own baselines only.";

/// Flags of `tare compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// First run: its id, its folder or its record file; or the JSON of a load. With --of: a server.
    pub before: String,
    /// Second run, or load. With --of: another server.
    pub after: String,
    /// Compare two servers of this run.
    #[arg(long, value_name = "RUN")]
    pub of: Option<String>,
    /// Print the comparison as JSON.
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print the comparison as Markdown.
    #[arg(long)]
    pub markdown: bool,
}
