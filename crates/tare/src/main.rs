//! The command line only: flags in `args`, what they do in `commands`, and what commands share in `session` and beside it.

mod args;
mod command_words;
mod commands;
mod console;
mod failure;
mod git;
mod interrupt;
mod load_job;
mod plan_text;
mod progress;
mod protoset;
mod recorded_command;
mod session;
mod workspace;

use std::process::ExitCode;

use args::Cli;

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

fn run_command(cli: Cli) -> ExitCode {
    match commands::carry_out(cli.command, &cli.global) {
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
