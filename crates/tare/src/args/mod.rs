//! The command line: flags, their help and their examples. What they do stands in a file per sub-command.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command as Program, CommandFactory, FromArgMatches, Parser, Subcommand};
use tare_plan::Currency;
use tare_record::store::RECORD_FILE;
use tare_units::Span;

mod agents;
mod bisect;
mod check;
mod compare;
mod curl;
mod history;
mod init;
mod load;
mod profile;
mod report;
mod run;
mod settings;
mod values;

pub use agents::{AgentOptions, AgentsAction, ManifestArgs};
pub use bisect::BisectArgs;
pub use check::{CheckArgs, WhenUndecided};
pub use compare::CompareArgs;
pub use curl::with_curl_line;
pub use history::{HistoryAction, HistoryArgs, ImportArgs};
pub use init::InitArgs;
pub use load::{ConnectionArgs, LoadArgs, ModelArgs, OutputArgs, RequestArgs};
pub use profile::ProfileArgs;
pub use report::{CiForm, FormArgs, ReportArgs};
pub use run::{LATEST, RunArgs};
pub use values::{ConnectTo, Spin, looked_up};

use crate::console::Color;

/// Measures what a library, framework or version costs on top of the server below it
#[derive(Debug, Parser)]
#[command(name = "tare", version, max_term_width = 110, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: Global,
}

/// Reads a command line, the program's name first. Its error may be the help or the version that was asked for.
pub fn parse(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Cli, clap::Error> {
    let words = with_curl_line(words.into_iter().map(Into::into).collect())?;
    let is_load = words.get(1).is_some_and(|command| command == "load");
    let matches = with_negative_numbers(Cli::command()).try_get_matches_from(words);
    let matches = matches.map_err(|error| if is_load { curl::name_flag_of_others(error) } else { error })?;
    Cli::from_arg_matches(&matches)
}

fn currency(names: &'static [&'static str]) -> impl TypedValueParser<Value = Currency> {
    PossibleValuesParser::new(names.iter().copied()).try_map(|name| name.parse())
}

/// Lets every flag take a negative number, so that its reader refuses `--seed -1`: otherwise -1 would be an unknown flag.
fn with_negative_numbers(program: Program) -> Program {
    let with_numbers = |arg: Arg| {
        let is_flag = !arg.is_positional() && arg.get_action().takes_values();
        if is_flag { arg.allow_negative_numbers(true) } else { arg }
    };
    program.mut_args(with_numbers).mut_subcommands(with_negative_numbers)
}

const EXAMPLES: &str = "\
Examples:
  tare init
      write a suite, tare.toml, for the project of this folder
  tare run my.toml
      what your layer costs: see README, \"Measure my layer\"
  tare run my.toml -d 25 -u 128
      sequential run: 25 s per cell, no intervals
  tare check my.toml --baseline main --fail-if 'cpu > +3%'
      did this change make my server slower?
  tare run my.toml --aa bare
      a server against itself: the noise of this machine
  tare load http://127.0.0.1:8080/ -c 64 -d 10s
      load one URL, as with wrk, hey or oha
  tare report latest --json > run.json
      the summary of the latest run, from its record

Exit codes: 0 success · 1 tare failed · 2 wrong usage · 3 finished, but a cell is VOID, a check failed or a limit is exceeded · 4 a limit is undecided (tare check) · 130 interrupted";

/// The folder in which runs are recorded, unless a flag names another.
const USUAL_DIR: &str = ".tare";

/// Flags that every sub-command knows.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Folder in which runs are recorded.
    #[arg(long, global = true, default_value = USUAL_DIR, value_name = "DIR")]
    pub dir: PathBuf,
    /// Folder of tare's own project, for its servers and suites [default: found from the working directory or the program file].
    #[arg(long, global = true, env = "TARE_HOME", hide_env_values = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
}

impl Global {
    /// The run of this id as commands that are shown name it: with an unusual folder, or by a record file elsewhere.
    pub fn shown_run(&self, record: &Path, id: &str) -> String {
        let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
        if record != self.dir.join("runs").join(id).join(RECORD_FILE) {
            quoted(record)
        } else if self.is_usual_dir() {
            id.to_owned()
        } else {
            format!("{id} --dir {}", quoted(&self.dir))
        }
    }

    fn is_usual_dir(&self) -> bool {
        self.dir == Path::new(USUAL_DIR)
    }

    /// Keeps the usual folder out of git. It is only a convenience, so that a failure is no error.
    pub fn hide_dir_from_git(&self) {
        if self.is_usual_dir()
            && let Ok(mut file) = File::create_new(self.dir.join(".gitignore"))
        {
            let _ = file.write_all(b"*\n");
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare servers with their baselines: throughput, CPU, memory and latency, with intervals.
    #[command(before_help = settings::quick_suite_note(), after_help = run::EXAMPLES)]
    Run(Box<RunArgs>),
    /// Check a change: compare your build with an earlier one, and fail when it costs more than a limit allows.
    #[command(after_help = check::EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Find the release that brought a change, and say whose it is: the layer's or the server's beneath.
    #[command(after_help = bisect::EXAMPLES)]
    Bisect(Box<BisectArgs>),
    /// Profile a server: CPU time and allocation by method, and what it spends beyond a baseline.
    #[command(after_help = profile::EXAMPLES)]
    Profile(Box<ProfileArgs>),
    /// Load one URL and report throughput, latencies and errors, as wrk, hey or oha do.
    #[command(disable_help_flag = true, args = load::special_flags(), after_help = load::EXAMPLES, override_usage = "tare load [OPTIONS] <URL>...\n       tare load [OPTIONS] --urls <FILE>")]
    Load(Box<LoadArgs>),
    /// List servers, scenarios and versions, and why some are not available here.
    List(ListArgs),
    /// Start servers and check their responses against the contract.
    Verify(VerifyArgs),
    /// Run one server in the foreground, with the command that a suite would use.
    Serve(ServeArgs),
    /// Make the report of a run again from its record.
    Report(ReportArgs),
    /// Compare two runs, two loads, or two servers of one run: what changed, figure by figure, with intervals.
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Show all runs over time: a line per server and scenario, with the places where its level changed.
    #[command(after_help = history::EXAMPLES, args_conflicts_with_subcommands = true)]
    History(HistoryArgs),
    /// Check programs, permissions and noise of this machine: what is missing, and which differences can be seen.
    Doctor(DoctorArgs),
    /// Write a suite for the project of a folder: tare.toml, with its bare and its wrapped server.
    #[command(after_help = init::EXAMPLES)]
    Init(Box<InitArgs>),
    /// Print a suite to start with: two small servers that are part of tare. tare example > first.toml
    Example,
    /// Print completions for a shell: mkdir -p ~/.local/share/bash-completion/completions &&
    /// tare completions bash > ~/.local/share/bash-completion/completions/tare
    Completions {
        /// Shell to print completions for.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the man pages into a folder: tare man ~/.local/share/man/man1
    Man {
        /// Folder for tare.1 and a page for each command.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Agents in a Kubernetes cluster: print what they need, and remove what a crash left behind.
    #[command(subcommand)]
    Agents(AgentsAction),
    /// Make one share of a load for a coordinator: orders come on standard input. tare load --agents starts it.
    #[command(hide = true)]
    Agent {
        /// How long it waits for the first order.
        #[arg(long, default_value = "30s", value_parser = values::parse_time)]
        first_order_within: Span,
    },
    /// Run the reference server: it has known delays and faults, for tests and the self-test.
    #[command(hide = true)]
    Reference(Box<tare_reference::Options>),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Also list the servers and scenarios of this suite [default: tare.toml of this folder].
    pub suite: Option<PathBuf>,
    /// Print the list as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which build of a server is started, and by which JDK.
#[derive(Debug, Default, Args)]
pub struct ServerChoice {
    /// Suite file with servers in addition to the catalog's [default: tare.toml of this folder].
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,
    /// Library version [default: the catalog's].
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// Home of the JDK that runs the server [default: the newest JDK found].
    #[arg(long, value_name = "HOME")]
    pub java: Option<String>,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Servers to verify, comma separated; globs work [default: all].
    #[arg(value_delimiter = ',')]
    pub servers: Vec<String>,
    #[command(flatten)]
    pub choice: ServerChoice,
    /// Print every check, not only those that fail.
    #[arg(short, long)]
    pub verbose: bool,
    /// Print servers, versions, checks and differences as Markdown, as in docs/SERVERS.md.
    #[arg(long, conflicts_with = "verbose")]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Name of the server to run.
    pub server: String,
    /// Port to listen on; 0 for any free port.
    #[arg(short, long, default_value_t = 8080, value_parser = values::port)]
    pub port: u16,
    #[command(flatten)]
    pub choice: ServerChoice,
    /// Cores that the server may use, such as 0 or 0,2-3 [default: all].
    #[arg(long, value_name = "CPUS")]
    pub server_cpus: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 fine, or usable with care · 1 something that a run needs is missing")]
pub struct DoctorArgs {
    /// Only print the folder of the JDK that builds the servers, as in JAVA_HOME=$(tare doctor --jdk) servers/build.
    #[arg(long, conflicts_with_all = ["server_cpus", "load_cpus"])]
    pub jdk: bool,
    /// Cores of the servers, such as 0 or 0,2-3 [default: as a run would choose].
    #[arg(long, value_name = "CPUS")]
    pub server_cpus: Option<String>,
    /// Cores of the generator, such as 1 [default: as a run would choose].
    #[arg(long, value_name = "CPUS")]
    pub load_cpus: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_shown_finds_its_run() {
        for (dir, record, shown) in [
            (".tare", ".tare/runs/1/record.sqlite", "1"),
            ("a/.tare", "a/.tare/runs/1/record.sqlite", "1 --dir a/.tare"),
            ("my runs", "my runs/runs/1/record.sqlite", "1 --dir 'my runs'"),
            (".tare", "my runs/1/record.sqlite", "'my runs/1/record.sqlite'"),
            (".tare", ".tare/runs/1/record-cut-1.sqlite", ".tare/runs/1/record-cut-1.sqlite"),
        ] {
            let global = parse(["tare", "list", "--dir", dir]).unwrap().global;
            assert_eq!(global.shown_run(Path::new(record), "1"), shown);
        }
    }
}
