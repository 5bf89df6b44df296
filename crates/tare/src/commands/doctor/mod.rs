//! `tare doctor`: has this machine what a run needs, and which differences can it show?

mod permissions;
mod tools;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context;
use tare_analysis::format::share;
use tare_plan::resolve::MachineFacts;
use tare_record::{EventLevel, EventName, EventRecord};
use tare_report::palette::Tone;
use tare_report::text::wrap;
use tare_run::preflight::noise::NoiseFigures;
use tare_run::preflight::{self, KnownServer};
use tare_run::{RunError, named_cores};
use tare_sut::jdk::Jdk;
use tare_sut::server::temporary_logs;
use tare_sys::affinity::{CpuSet, allowed_cpus, physical_cores};
use tare_sys::procfs::machine::Machine;

use crate::args::{DoctorArgs, Global};
use crate::failure::Outcome;
use crate::workspace::Workspace;
use crate::{console, interrupt};
use CheckState::{Doubtful, Fine, Missing};

/// How long the noise is measured, and for how long a run is taken to measure one scenario within one start.
const NOISE_SPAN: Duration = Duration::from_secs(5);
const RUN_SPAN: Duration = Duration::from_secs(60);
const SELF_TEST: &str = "self-test";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Fine,
    /// It is not there, and only some uses need it.
    Optional,
    /// Figures will be less certain.
    Doubtful,
    /// A run is not possible.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub state: CheckState,
    /// Short name; empty where `found` says it all.
    pub what: &'static str,
    pub found: String,
    pub remedy: Option<String>,
}

impl Checked {
    pub fn fine(what: &'static str, found: impl Into<String>) -> Self {
        Self { state: CheckState::Fine, what, found: found.into(), remedy: None }
    }

    pub fn new(state: CheckState, what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into()).filter(|remedy| !remedy.is_empty());
        Self { state, what, found: found.into(), remedy }
    }

    /// A line with mark and name, and a line with the remedy.
    pub fn text(&self, colored: bool, width: usize) -> String {
        let (tone, mark) = match self.state {
            CheckState::Fine => (Tone::Passed, "✓"),
            CheckState::Optional => (Tone::Quiet, "–"),
            CheckState::Doubtful => (Tone::Warning, "!"),
            CheckState::Missing => (Tone::Failed, "✗"),
        };
        let name = if self.what.is_empty() { String::new() } else { format!("{}: ", self.what) };
        let line = wrap(&format!("  {mark} {name}{}", self.found), width, 4);
        let line = line.replacen(mark, &tone.paint(colored, mark), 1);
        let remedy = self.remedy.as_ref().map(|remedy| wrap(&format!("      {remedy}"), width, 6) + "\n");
        format!("{line}\n{}", remedy.unwrap_or_default())
    }
}

pub fn doctor(args: &DoctorArgs, global: &Global) -> anyhow::Result<Outcome> {
    if args.jdk {
        console::print_text(&format!("{}\n", Jdk::find_compiler()?.home.display()));
        return Ok(Outcome::Done);
    }
    let (server, load) = cores(args)?;
    let workspace = Workspace::load(global)?;
    let cancelled = interrupt::flag()?;
    let colored = console::stdout_colored(global.color);
    let machine = Machine::read();
    let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
    let title = format!(
        "tare doctor · {} · kernel {} · servers on cores {server}, generator on {load}",
        known(&machine.cpu_model),
        known(&machine.kernel),
    );
    console::print_text(&format!("{}\n", wrap(&title, console::terminal_width(), 2)));
    let mut all = Vec::new();
    let mut show = |title: &str, checks: Vec<Checked>| {
        console::print_text(&format!("\n{}\n", Tone::Head.paint(colored, title)));
        checks.iter().for_each(|checked| console::print_text(&checked.text(colored, console::terminal_width())));
        all.extend(checks);
    };
    show("programs", tools::tools(&workspace, &cancelled));
    show("permissions", permissions::permissions(&server, &load));
    show("machine", machine_checks(&server, &load, &cancelled)?);
    if !interrupt::is_raised(&cancelled) {
        show("noise", vec![noise(&server, &load, &cancelled)?]);
    }
    if interrupt::is_raised(&cancelled) {
        return Ok(Outcome::Interrupted);
    }
    let (words, outcome) = conclusion(&all);
    console::print_text(&format!("\n{words}\n"));
    Ok(outcome)
}

fn conclusion(all: &[Checked]) -> (String, Outcome) {
    let missing: Vec<&str> = all.iter().filter(|c| c.state == Missing).map(|c| c.what).collect();
    if !missing.is_empty() {
        return (format!("Missing for tare run: {}.", missing.join(", ")), Outcome::Missing);
    }
    let has_failed = |check: &Checked| check.what == SELF_TEST && check.state != Fine;
    let words = if all.iter().any(has_failed) {
        "Not fit to measure on: here tare measures a known delay wrongly."
    } else if all.iter().any(|c| c.state == Doubtful) {
        "Usable with care: intervals will be wider than they could be."
    } else {
        "Fit to measure on."
    };
    (words.to_owned(), Outcome::Done)
}

/// The machine at rest, and the generator against a server of known delays.
fn machine_checks(server: &CpuSet, load: &CpuSet, cancelled: &AtomicBool) -> anyhow::Result<Vec<Checked>> {
    let mut found = preflight::machine(server, load, cancelled);
    found.push(of_known_server(server, load, cancelled, |known| known.self_test())?);
    Ok(found.iter().map(of_event).collect())
}

fn of_event(event: &EventRecord) -> Checked {
    let state = match event.level {
        EventLevel::Info => Fine,
        EventLevel::Warning | EventLevel::Error => Doubtful,
    };
    let what = match event.kind.name() {
        EventName::SelfTestPassed | EventName::SelfTestFailed => SELF_TEST,
        _ => "",
    };
    let found = if what.is_empty() { format!("{}: {}", event.title, event.text) } else { event.text.clone() };
    Checked { state, what, found, remedy: event.remedy.clone() }
}

fn noise(server: &CpuSet, load: &CpuSet, cancelled: &AtomicBool) -> anyhow::Result<Checked> {
    let figures = of_known_server(server, load, cancelled, |known| known.measure_noise(NOISE_SPAN))?;
    let measured = figures.and_then(|figures| {
        let longer = NoiseFigures::pairs_within(RUN_SPAN);
        Some((figures, figures.visible_difference(figures.pairs)?, figures.visible_difference(longer)?))
    });
    let Some((figures, soon, later)) = measured else {
        return Ok(Checked::new(Doubtful, "one server against itself", "no figures: it was interrupted", ""));
    };
    let ([sd, in_span, in_a_minute], pairs) = ([figures.sd, soon, later].map(share), figures.pairs);
    let found = format!(
        "neighbouring slices of 100 ms differ by {sd} (standard deviation, {pairs} pairs); this shows differences of {in_span} in \
         5 s and of {in_a_minute} in a minute"
    );
    let remedy = "Starts of a JVM program differ more than slices do. To see by how much: tare run --aa SERVER";
    let state = if later <= VISIBLE { Fine } else { Doubtful };
    Ok(Checked::new(state, "one server against itself", found, remedy))
}

/// A machine that cannot show this difference within one start in a minute is noisy.
const VISIBLE: f64 = 0.01;

/// What `measure` finds with the built-in server. Its log stays only if that fails, and then the error names it.
fn of_known_server<T>(
    server_cpus: &CpuSet,
    load_cpus: &CpuSet,
    cancelled: &AtomicBool,
    measure: impl FnOnce(&KnownServer<'_>) -> Result<T, RunError>,
) -> anyhow::Result<T> {
    let program = &std::env::current_exe().context("tare's own program file is gone")?;
    let logs = temporary_logs("doctor")?;
    let log_path = &logs.path().join("server.log");
    let measured = measure(&KnownServer { program, log_path, server_cpus, load_cpus, cancelled });
    if measured.is_err() {
        let _kept = logs.keep();
    }
    Ok(measured?)
}

fn cores(args: &DoctorArgs) -> anyhow::Result<(CpuSet, CpuSet)> {
    let (server, load) = core_lists(args, physical_cores(&allowed_cpus()?));
    Ok((named_cores("--server-cpus", &server)?, named_cores("--load-cpus", &load)?))
}

/// The cores of both sides, as the flags name them or as a run on these cores would choose.
fn core_lists(args: &DoctorArgs, cores: Vec<CpuSet>) -> (String, String) {
    let (server, load) = MachineFacts { cores, ..MachineFacts::default() }.split_cpus();
    let chosen = |flag: &Option<String>, cpus: CpuSet| flag.clone().unwrap_or_else(|| cpus.to_string());
    (chosen(&args.server_cpus, server), chosen(&args.load_cpus, load))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_names_what_was_found_and_the_remedy_below() {
        let perf = Checked::new(CheckState::Optional, "perf", "not found", "Install linux-perf.");
        assert_eq!(perf.text(false, 80), "  – perf: not found\n      Install linux-perf.\n");
        assert_eq!(Checked::fine("", "quiet").text(false, 80), "  ✓ quiet\n");
    }

    #[test]
    fn the_cores_are_those_that_flags_name_or_that_a_run_would_choose() {
        let cores: Vec<CpuSet> = (0..8).map(|cpu| CpuSet::from_indices([cpu])).collect();
        let lists = |server: Option<&str>, load: Option<&str>| {
            let [server_cpus, load_cpus] = [server, load].map(|list| list.map(str::to_owned));
            let (server, load) = core_lists(&DoctorArgs { jdk: false, server_cpus, load_cpus }, cores.clone());
            format!("{server} and {load}")
        };
        assert_eq!(lists(None, None), "0-5 and 6-7");
        assert_eq!(lists(Some("0"), Some("2-3")), "0 and 2-3");
    }

    #[test]
    fn what_is_missing_decides_the_exit_code_and_what_is_doubtful_does_not() {
        let fine = || Checked::fine("cores", "0-1");
        assert_eq!(conclusion(&[fine()]).1, Outcome::Done);
        let words_of = |check: Checked| conclusion(&[fine(), check]).0;
        assert_eq!(conclusion(&[fine(), Checked::new(Doubtful, "noise", "much", "")]).1, Outcome::Done);
        assert!(words_of(Checked::new(Doubtful, "noise", "much", "")).starts_with("Usable with care"));
        assert!(words_of(Checked::new(Doubtful, SELF_TEST, "late", "")).starts_with("Not fit to measure on"));
        let (words, outcome) = conclusion(&[Checked::new(Missing, "JDK", "none", "install one"), fine()]);
        assert_eq!((words.as_str(), outcome), ("Missing for tare run: JDK.", Outcome::Missing));
    }
}
