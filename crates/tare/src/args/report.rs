//! The flags of `tare report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use url::Url;

/// The path at which collectors take metrics.
const METRICS_PATH: &str = "/v1/metrics";

/// Flags of `tare report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tare report\n      the last run that finished: print the table and write all files again\n  tare report --list\n      all runs, with their verdicts\n  tare report 2026-11-20-1 --findings\n  tare report latest --csv > cells.csv\n  tare report --ci junit > tare.xml\n  tare report --otlp http://127.0.0.1:4318"
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
    /// Send the figures to an OpenTelemetry collector by OTLP/HTTP, such as http://127.0.0.1:4318. Headers come from the variable OTEL_EXPORTER_OTLP_HEADERS.
    #[arg(long, value_name = "URL", value_parser = metrics_url)]
    pub otlp: Option<Url>,
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
    /// OTLP/JSON, as an OpenTelemetry collector takes it (--otlp sends it).
    Otlp,
    /// The changes with their intervals as SVG.
    Picture,
    /// JSON of github-action-benchmark, customSmallerIsBetter: CPU, allocation, latency.
    GithubSmaller,
    /// JSON of github-action-benchmark, customBiggerIsBetter: throughput, capacity.
    GithubBigger,
}

/// Where a collector takes metrics: an address without a path gets the usual one.
fn metrics_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| format!("{error}; write a URL such as http://127.0.0.1:4318"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{}: is not http or https; OTLP over gRPC is not spoken here", url.scheme()));
    }
    if url.path() == "/" {
        url.set_path(METRICS_PATH);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_the_usual_one() {
        for (given, wanted) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("https://example.org/otlp/v1/metrics", "https://example.org/otlp/v1/metrics"),
        ] {
            assert_eq!(metrics_url(given).unwrap().as_str(), wanted);
        }
        assert!(metrics_url("grpc://127.0.0.1:4317").unwrap_err().contains("gRPC"));
        assert!(metrics_url("127.0.0.1:4318").is_err());
    }
}
