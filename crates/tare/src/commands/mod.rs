//! The sub-commands, a file or a folder each. None uses another: what they share lies beside this module.

mod agent;
mod agents;
mod bisect;
mod check;
mod compare;
mod doctor;
mod history;
mod init;
mod list;
mod load;
mod manual;
mod profile;
mod reference;
mod report;
mod run;
mod serve;
mod verify;

use crate::args::{Command, Global};
use crate::failure::Outcome;

pub fn carry_out(command: Command, global: &Global) -> anyhow::Result<Outcome> {
    match command {
        Command::Run(args) => run::run(&args, global),
        Command::Bisect(args) => bisect::bisect(&args, global),
        Command::Check(args) => check::check(&args, global),
        Command::Profile(args) => profile::profile(&args, global),
        Command::Load(args) => load::load(&args, global),
        Command::List(args) => list::list(&args, global),
        Command::Verify(args) => verify::verify(&args, global),
        Command::Serve(args) => serve::serve(&args, global),
        Command::Report(args) => report::report(&args, global),
        Command::Compare(args) => compare::compare(&args, global),
        Command::History(args) => history::history(&args, global),
        Command::Doctor(args) => doctor::doctor(&args, global),
        Command::Init(args) => init::init(&args, global),
        Command::Example => manual::example(),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { folder } => manual::man(&folder),
        Command::Agents(action) => agents::agents(&action),
        Command::Agent { first_order_within } => agent::agent(first_order_within.0),
        Command::Reference(args) => reference::reference(&args),
    }
}
