//! Made from the one definition of the flags: completions for shells, man pages, the suite to start with.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::console;
use crate::failure::Outcome;

/// A suite with two servers that are part of tare; its commands name the program `tare`.
const FIRST_SUITE: &str = include_str!("../../../../suites/first.toml");

pub fn completions(shell: Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tare", &mut script);
    console::print_text(&String::from_utf8_lossy(&script));
    Ok(Outcome::Done)
}

/// Writes `tare.1` and a page for each sub-command into a folder.
pub fn man(folder: &Path) -> anyhow::Result<Outcome> {
    let cannot = || format!("cannot write the man pages into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(cannot)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(cannot)?;
    Ok(Outcome::Done)
}

/// Prints the suite to start with. Its servers are this very program, wherever it lies.
pub fn example() -> anyhow::Result<Outcome> {
    let program = std::env::current_exe().context("tare's own program file is gone")?;
    console::print_text(&first_suite(&program));
    Ok(Outcome::Done)
}

fn first_suite(program: &Path) -> String {
    FIRST_SUITE.replace("\"tare\"", &format!("{:?}", program.display().to_string()))
}

#[cfg(test)]
mod tests;
