//! The command line, and nothing else: each sub-command is a file beside this one.

mod args;
mod console;
mod doctor;
mod earlier;
mod failure;
mod home;
mod interrupt;
mod list;
mod live;
mod load;
mod plan_text;
mod profile;
mod reference;
mod report;
mod run;
mod runs;
mod serve;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::Outcome;

fn main() -> ExitCode {
    let Cli { command, global } = Cli::parse();
    let outcome = match command {
        Command::Run(args) => run::run(&args, &global),
        Command::Profile(args) => profile::profile(&args, &global),
        Command::Load(args) => load::load(&args, &global),
        Command::List(args) => list::list(&args, &global),
        Command::Verify(args) => verify::verify(&args, &global),
        Command::Serve(args) => serve::serve(&args, &global),
        Command::Report(args) => report::report(&args, &global),
        Command::Doctor(args) => doctor::doctor(&args, &global),
        Command::Completions { shell } => completions(shell),
        Command::Reference(args) => reference::reference(&args),
    };
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            console::note(&format!("error: {}", failure::in_words(&error)));
            failure::exit_code(&error)
        }
    }
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tare", &mut script);
    console::print(&String::from_utf8_lossy(&script));
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_do_not_contradict_one_another() {
        Cli::command().debug_assert();
    }
}
