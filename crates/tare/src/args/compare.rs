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
  tare compare epyc/2026-11-20-1 xeon/2026-11-20-1 arm/2026-11-21-1
      folders of runs from three machines: the mean cost over machines

Two runs of one machine: what changed, by ratios to the baselines and by levels. Runs of several machines (another processor, number of cores or memory): a table over machines, by ratios to their own baselines. With three machines and more it has the mean, and an interval for a machine that you have not measured. With two it has both ratios and how they differ.";

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// First run: its id, its folder or its record file; or the JSON of a load. With --of: a server.
    pub before: String,
    /// Second run, or load. With --of: another server.
    pub after: String,
    /// Further runs, of several machines.
    #[arg(conflicts_with = "of")]
    pub more: Vec<String>,
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
