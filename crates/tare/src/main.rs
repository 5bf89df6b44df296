//! The command line only: each sub-command is one file in this folder.

mod agent;
mod agents;
mod args;
mod bisect;
mod check;
mod command_words;
mod compare;
mod console;
mod doctor;
mod earlier;
mod failure;
mod history;
mod home;
mod init;
mod interrupt;
mod list;
mod live;
mod load;
mod load_agents;
mod manual;
mod otlp;
mod plan_text;
mod profile;
mod recorded_command;
mod reference;
mod report;
mod resume;
mod run;
mod runs;
mod serve;
mod server_host;
mod verify;

use std::process::ExitCode;

use args::{Cli, Command};

fn main() -> ExitCode {
    let code = match args::parse(std::env::args_os()) {
        Ok(cli) => run_command(cli),
        // The help, the version, or what is wrong with the flags.
        Err(message) => {
            console::keep_stdout_failure(message.print());
            ExitCode::from(u8::try_from(message.exit_code()).unwrap_or(1))
        }
    };
    let Some(cause) = console::stdout_failure() else { return code };
    console::print_note(&format!("error: cannot write to standard output: {cause}"));
    ExitCode::FAILURE
}

/// Carries out one sub-command, and says on standard error why it failed.
fn run_command(cli: Cli) -> ExitCode {
    let Cli { command, global } = cli;
    let outcome = match command {
        Command::Run(args) => run::run(&args, &global),
        Command::Bisect(args) => bisect::bisect(&args, &global),
        Command::Check(args) => check::check(&args, &global),
        Command::Profile(args) => profile::profile(&args, &global),
        Command::Load(args) => load::load(&args, &global),
        Command::List(args) => list::list(&args, &global),
        Command::Verify(args) => verify::verify(&args, &global),
        Command::Serve(args) => serve::serve(&args, &global),
        Command::Report(args) => report::report(&args, &global),
        Command::Compare(args) => compare::compare(&args, &global),
        Command::History(args) => history::history(&args, &global),
        Command::Doctor(args) => doctor::doctor(&args, &global),
        Command::Init(args) => init::init(&args),
        Command::Example => manual::example(),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { folder } => manual::man(&folder),
        Command::Agents(action) => agents::agents(&action),
        Command::Agent { first_order_within } => agent::agent(first_order_within.0),
        Command::Reference(args) => reference::reference(&args),
    };
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            console::print_note(&format!("error: {}", failure::error_text(&error)));
            failure::exit_code(&error)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_flags_do_not_contradict_one_another() {
        Cli::command().debug_assert();
    }
}
