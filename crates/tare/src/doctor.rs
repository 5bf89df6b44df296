//! `tare doctor`: is this machine fit to measure on, and what would help?

use std::sync::atomic::AtomicBool;

use anyhow::Context;
use tare_record::sample::{EventLevel, EventRecord};
use tare_run::preflight;
use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::procfs::machine::Machine;

use crate::args::{DoctorArgs, Global};
use crate::console;
use crate::failure::Outcome;

/// Looks at the machine, drives the built-in server of known delays, and says what it found.
pub fn doctor(args: &DoctorArgs, global: &Global) -> anyhow::Result<Outcome> {
    let (server, load) = cores(args)?;
    let machine = Machine::read();
    let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "not told".to_owned());
    console::print(&format!(
        "tare doctor · {} · kernel {} · servers on cores {server}, generator on {load}\n",
        known(&machine.cpu_model),
        known(&machine.kernel),
    ));
    let never = AtomicBool::new(false);
    let mut found = preflight::machine(&server, &load, &never);
    let program = std::env::current_exe().context("tare's own program file is gone")?;
    let log = std::env::temp_dir().join(format!("tare-doctor-{}.log", std::process::id()));
    found.push(preflight::self_test(&program, &log, &server, &load, &never)?);
    // The log is worth keeping only when the self-test could not begin, and then the error has named it.
    let _ = std::fs::remove_file(&log);
    let colored = console::stdout_colored(global.color);
    for event in &found {
        console::print(&in_words(event, colored));
    }
    let worst = found.iter().any(|event| event.level != EventLevel::Info);
    console::print(if worst {
        "\nUsable with care: intervals will be wider than they could be.\n"
    } else {
        "\nFit to measure on.\n"
    });
    Ok(Outcome::Done)
}

fn cores(args: &DoctorArgs) -> anyhow::Result<(CpuSet, CpuSet)> {
    let allowed = allowed_cpus()?;
    let (first, last) = (allowed.iter().next().unwrap_or(0), allowed.iter().last().unwrap_or(0));
    let parse = |flag: &str, list: &Option<String>, fallback: usize| match list {
        Some(list) => list.parse::<CpuSet>().with_context(|| format!("{flag} {list}")),
        None => Ok(CpuSet::from_indices([fallback])),
    };
    Ok((parse("--server-cpus", &args.server_cpus, first)?, parse("--load-cpus", &args.load_cpus, last)?))
}

fn in_words(event: &EventRecord, colored: bool) -> String {
    let mark = console::event_mark(event.level, colored);
    let remedy = event.remedy.as_deref().map_or(String::new(), |remedy| format!("      {remedy}\n"));
    format!("  {mark} {}: {}\n{remedy}", event.title, event.text)
}
