//! The flags of `tare init`.

use std::path::PathBuf;

use clap::Args;

pub const EXAMPLES: &str = "\
Examples:
  tare init
      the project of this folder; asks what it cannot know
  tare init --yes
      asks nothing
  tare init --bare './server --port {port}' --wrapped './server --port {port} --middleware'
      both commands as you write them; {port} becomes a free port

Known projects: Cargo, Go, npm (also pnpm, yarn and bun), Maven, Gradle, sbt, .NET and Python. Without commands, both servers are the program of the project with PORT in the environment, and the wrapped one has LAYER=1 too: switch your layer on by that. Both servers are started and asked twice: the suite states what the bare one answers, and what may differ.";

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Folder of the project, in which tare.toml is written.
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Command of the server without the layer, its words separated by blanks [default: the project's program].
    #[arg(long, value_name = "COMMAND")]
    pub bare: Option<String>,
    /// Command of the server with the layer [default: that of the bare one, with LAYER=1 in its environment].
    #[arg(long, value_name = "COMMAND")]
    pub wrapped: Option<String>,
    /// Shell command that builds the project [default: that of the project's build tool].
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// Path of the request that is measured [default: /].
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// Header of that request, such as 'Authorization: Bearer abc'; may be repeated.
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// Ask nothing, also on a terminal.
    #[arg(short, long)]
    pub yes: bool,
    /// Overwrite tare.toml.
    #[arg(long)]
    pub force: bool,
}
