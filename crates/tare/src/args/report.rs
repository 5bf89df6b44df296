//! The flags of `tare report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tare report\n      the last run that finished: print the table and write all files again\n  tare report --list\n      all runs, with their verdicts\n  tare report 2026-11-20-1 --findings\n  tare report latest --csv > cells.csv\n  tare report --ci junit > tare.xml"
)]
pub struct ReportArgs {
    /// Run to report: its id, its folder or its record file.
    #[arg(default_value = "latest")]
    pub run: String,
    /// Form to print to standard output instead of writing the files.
    #[command(flatten)]
    pub form: FormArgs,
    /// Write the files into this folder instead of the folder of the run.
    #[arg(short, long, value_name = "DIR", conflicts_with = "FormArgs")]
    pub out: Option<PathBuf>,
}

/// One form of a report on standard output.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct FormArgs {
    /// Print the summary as JSON (docs/SUMMARY.md).
    #[arg(long)]
    pub json: bool,
    /// Print one CSV row per cell.
    #[arg(long)]
    pub csv: bool,
    /// Print the report as Markdown.
    #[arg(long)]
    pub markdown: bool,
    /// Print memory by server and scenario as a Markdown table.
    #[arg(long)]
    pub memory: bool,
    /// Print the results as Gatling's table.
    #[arg(long)]
    pub gatling: bool,
    /// Print the results in wrk's format.
    #[arg(long)]
    pub wrk: bool,
    /// Print a form for continuous integration.
    #[arg(long, value_enum, value_name = "FORM")]
    pub ci: Option<CiForm>,
    /// Print the HTML page.
    #[arg(long)]
    pub html: bool,
    /// Print every finding in full, with its remedy.
    #[arg(long)]
    pub findings: bool,
    /// Pack record, logs and summaries into a file (.zip), without the secrets that the record names, for the report of a bug.
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// List all recorded runs: when, how long, which suite, and the verdicts.
    #[arg(long)]
    pub list: bool,
}

/// What a system for continuous integration reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CiForm {
    /// JUnit XML: a test case per comparison.
    Junit,
    /// Markdown for a comment on a pull request.
    Comment,
    /// Bencher Metric Format.
    Bencher,
    /// OpenMetrics text, as Prometheus reads it.
    Openmetrics,
    /// OTLP/JSON, as an OpenTelemetry collector takes it.
    Otlp,
    /// The changes with their intervals as SVG.
    Picture,
    /// JSON of github-action-benchmark, customSmallerIsBetter: CPU, allocation, latency.
    GithubSmaller,
    /// JSON of github-action-benchmark, customBiggerIsBetter: throughput, capacity.
    GithubBigger,
}
