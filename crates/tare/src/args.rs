//! The command line: flags, their help and their examples. What they do stands in a file per sub-command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod load;
mod profile;
mod reference;
mod run;
mod settings;

pub use load::{ConnectionArgs, GeneratorArgs, LoadArgs, ModelArgs, OutputArgs, RequestArgs, Spin, Stage};
pub use profile::ProfileArgs;
pub use reference::ReferenceArgs;
pub use run::RunArgs;

/// What does a library, framework or version cost on top of the server beneath it?
#[derive(Debug, Parser)]
#[command(name = "tare", version, max_term_width = 110, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Flags that every sub-command knows.
    #[command(flatten)]
    pub global: Global,
}

const EXAMPLES: &str = "\
Examples:
  tare run                                      what Tapir costs on vanilla http4s, in 5 minutes at most
  tare run my.toml                              your own two servers: see README, \"Your own server\"
  tare run -s 'http4s.*' -m SimpleGet,PostBytes -d 25 -u 128
                                                one cell after another for 25 s each, no intervals
  tare run --aa http4s.Tapir -m SimpleGet       a server against itself: this machine's noise
  tare load http://127.0.0.1:8080/ -c 64 -d 10s load on one URL, as wrk, hey or oha would make it
  tare report latest --json > run.json          everything again, from what was recorded

Exit codes: 0 done · 1 tare could not do it · 2 wrong usage · 3 done, but a cell is VOID or a check failed · 130 interrupted";

/// Flags that every sub-command knows.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Colours: when the output is a terminal and NO_COLOR is not set, always, or never.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Folder of the records.
    #[arg(long, global = true, default_value = ".tare", value_name = "DIR")]
    pub dir: PathBuf,
    /// Folder of the project with servers/ and suites/; found from the working directory or the binary when absent.
    #[arg(long, global = true, env = "TARE_HOME", hide_env_values = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Weigh servers against what lies beneath them.
    #[command(before_help = settings::quick_suite_note(), after_help = run::EXAMPLES)]
    Run(Box<RunArgs>),
    /// Why does it cost? CPU and allocation by method, and what a layer has that the server beneath it has not.
    #[command(after_help = profile::EXAMPLES)]
    Profile(Box<ProfileArgs>),
    /// One URL, one load: how fast is it, honestly?
    #[command(after_help = load::EXAMPLES)]
    Load(Box<LoadArgs>),
    /// Servers, scenarios and versions; and what cannot be had here, and why.
    List(ListArgs),
    /// Do all servers answer alike? Start each and hold it against the contract.
    Verify(VerifyArgs),
    /// One server in the foreground, as a suite would start it.
    Serve(ServeArgs),
    /// Render a run again from its record.
    Report(ReportArgs),
    /// Is this machine fit to measure on, and what would help?
    Doctor(DoctorArgs),
    /// Completions for a shell: tare completions bash > ~/.local/share/bash-completion/completions/tare
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// The built-in server of known truth, with planted delays and faults (for tests and preflight).
    #[command(hide = true)]
    Reference(Box<ReferenceArgs>),
}

/// Flags of `tare list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Also the servers and scenarios of this suite.
    pub suite: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `tare verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Names or globs; all servers when absent.
    #[arg(value_delimiter = ',')]
    pub servers: Vec<String>,
    /// Servers of this suite beside the catalog's.
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Library version instead of the default one.
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// JDK home.
    #[arg(long, value_name = "HOME")]
    pub java: Option<String>,
    /// Show each check, not only those that fail.
    #[arg(short, long)]
    pub verbose: bool,
    /// As a document: servers, versions, checks and where they differ. docs/SERVERS.md is made by it.
    #[arg(long, conflicts_with = "verbose")]
    pub markdown: bool,
}

/// Flags of `tare serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Name of the server.
    pub server: String,
    /// Port; 0 for any.
    #[arg(short, long, default_value_t = 8080)]
    pub port: u16,
    /// Library version instead of the default one.
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// Servers of this suite beside the catalog's.
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Cores that it may use; all when absent.
    #[arg(long, value_name = "CPUS")]
    pub server_cpus: Option<String>,
    /// JDK home.
    #[arg(long, value_name = "HOME")]
    pub java: Option<String>,
}

/// Flags of `tare report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  tare report                 the latest run: table, and all files anew\n  tare report 2026-11-20-1 --gatling\n  tare report latest --csv > cells.csv"
)]
pub struct ReportArgs {
    /// Id, folder or record file of a run; the latest when absent.
    #[arg(default_value = "latest")]
    pub run: String,
    /// Print this form to standard output instead of writing the files.
    #[command(flatten)]
    pub form: FormArgs,
    /// Write the files into this folder instead of the run's own.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// One form of a report on standard output.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct FormArgs {
    /// The summary as JSON (docs/SUMMARY.md).
    #[arg(long)]
    pub json: bool,
    /// One row per cell.
    #[arg(long)]
    pub csv: bool,
    /// Markdown.
    #[arg(long)]
    pub markdown: bool,
    /// Memory by server and scenario, as a table of Markdown.
    #[arg(long)]
    pub memory: bool,
    /// Gatling's table.
    #[arg(long)]
    pub gatling: bool,
    /// wrk's text.
    #[arg(long)]
    pub wrk: bool,
    /// The HTML page.
    #[arg(long)]
    pub html: bool,
    /// A list of the runs that are recorded.
    #[arg(long)]
    pub list: bool,
}

/// Flags of `tare doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Cores of the servers, as a run would use them.
    #[arg(long, value_name = "CPUS")]
    pub server_cpus: Option<String>,
    /// Cores of the generator.
    #[arg(long, value_name = "CPUS")]
    pub load_cpus: Option<String>,
}
