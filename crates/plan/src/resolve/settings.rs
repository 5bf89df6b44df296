//! The settings of a run: which there are, their defaults, and what they may not be.

use tare_units::{CpuListError, CpuSet, Span};

use super::Inputs;
use super::picker::{Picker, pick};
use crate::PlanError;
use crate::engine::Engine;
use crate::options::{ForkCovers, Percent, RateOption, WarmupOption};
use crate::plan::{Forks, Load, Machine, Mode, Probes, Rate, Setting, Slices, Source, Stop, Warmup};
use crate::server_clock::ServerClock;
use crate::slo::{Curve, LoadBy, Slo};

/// The cores that this machine offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineFacts {
    /// Numbers of the cores that tare may use, ascending.
    pub cpus: Vec<usize>,
}

/// The settings, typed, and the list of all of them for people.
pub(super) struct Settings {
    pub load: Load,
    pub warmup: Warmup,
    pub slices: Slices,
    pub stop: Stop,
    pub machine: Machine,
    pub slo: Option<Slo>,
    pub probes: Probes,
    pub engines: Vec<Engine>,
    pub seed: u64,
    pub control: bool,
    /// Messages that a user reads, where that is not the scenario's to say.
    pub messages: Option<u32>,
    pub fork_covers: ForkCovers,
    pub list: Vec<Setting>,
}

pub(super) fn resolve(inputs: &Inputs<'_>, mode: Mode) -> Result<Settings, PlanError> {
    let mut picker = Picker { inputs, section: "load", list: Vec::new() };
    let load = load(&mut picker)?;
    let engines = engines(&mut picker, mode)?;
    picker.section = "stop";
    let stop = stop(&mut picker, mode)?;
    picker.section = "warm-up";
    let warmup = warmup(&mut picker, mode)?;
    picker.section = "slices";
    let slices = slices(&mut picker, mode)?;
    let messages = messages(&mut picker)?;
    let slo = slo(&mut picker)?;
    let control = mode == Mode::Compared
        && pick!(
            picker,
            control,
            true,
            "weigh a second start of each baseline against the first (A/A): the noise floor"
        );
    let fork_covers =
        pick!(picker, fork_covers, ForkCovers::Group, "one start serves all scenarios of its group, or one scenario");
    picker.section = "machine";
    let machine = machine(&mut picker)?;
    let seed = pick!(picker, seed, inputs.fallback_seed, "of every random order and arrival");
    picker.section = "probes";
    let hiccups = pick!(picker, hiccups, false, "meters of hiccups, on the servers' cores and inside each JVM");
    let probes = Probes { hiccups };
    Ok(Settings {
        load,
        warmup,
        slices,
        stop,
        machine,
        slo,
        probes,
        engines,
        seed,
        control,
        messages,
        fork_covers,
        list: picker.list,
    })
}

fn load(picker: &mut Picker<'_>) -> Result<Load, PlanError> {
    let users = pick!(picker, users, 128, "closed-loop users, a connection each; also the connections of an open load");
    picker.check("users", (1..=60_000).contains(&users), "write 1 to 60000 users")?;
    let rate =
        pick!(picker, rate, RateOption::OfCapacity(0.5), "of the open slices, the same for all variants of a group");
    let timeout = pick!(picker, timeout, Span::from_secs(10), "a request unanswered for so long has failed");
    picker.check("timeout", timeout >= Span::from_millis(1), "must be at least 1ms")?;
    let congestion =
        pick!(picker, congestion, "default".to_owned(), "TCP congestion control of the generator's sockets");
    let spin = pick!(
        picker,
        spin,
        true,
        "in open slices the generator stays awake, where no server runs on its cores: it sends and stamps on time"
    );
    let server_clock = pick!(
        picker,
        server_clock,
        ServerClock::Auto,
        "whose clock stamps what servers push: this machine's (same), or one whose offset is estimated; auto is same for a server on this machine"
    );
    let rate = match rate {
        RateOption::PerSecond(per_s) => Rate::PerSecond { per_s },
        RateOption::OfCapacity(share) => Rate::OfCapacity { share },
    };
    Ok(Load { users, rate, timeout, congestion, spin, server_clock })
}

fn engines(picker: &mut Picker<'_>, mode: Mode) -> Result<Vec<Engine>, PlanError> {
    let mut engines =
        pick!(picker, engine, Vec::new(), "other load tools that drive each cell after tare has, for cross-checking");
    picker.check(
        "engine",
        engines.is_empty() || mode == Mode::Sequential,
        "cross-checks the cells of a plain sequential run; say how long each lasts, such as -d 10",
    )?;
    engines.sort();
    engines.dedup();
    Ok(engines)
}

fn stop(picker: &mut Picker<'_>, mode: Mode) -> Result<Stop, PlanError> {
    let region = pick!(picker, region, Percent(0.02), "differences inside it are not material");
    picker.check("region", region.0 > 0.0 && region.0 < 0.5, "write more than 0 and less than 50 percent")?;
    let alpha = pick!(picker, alpha, 0.01, "error probability of each comparison");
    picker.check("alpha", alpha > 0.0 && alpha < 0.5, "write a probability between 0 and 0.5")?;
    let forks = match mode {
        Mode::Sequential => {
            picker.note(
                "forks",
                "1".into(),
                Source::Default,
                "a plain sequential run (-d without forks): one start, no interval",
            );
            Forks::Fixed { count: 1 }
        }
        // A plan is profiled as it would be compared: see `Plan::profiling`.
        Mode::Compared | Mode::Profiled => forks(picker)?,
    };
    let precision = if mode == Mode::Compared {
        pick!(picker, precision, Percent(0.0), "also stop once each interval is ± this; 0 for never")
    } else {
        Percent(0.0)
    };
    Ok(Stop { forks, region: region.0, alpha, floor: tare_stats::SD_FLOOR, precision: precision.0 })
}

/// `--forks` fixes the number of starts; otherwise the budget bounds it. A flag of one kind wins over the suite's other kind.
fn forks(picker: &mut Picker<'_>) -> Result<Forks, PlanError> {
    let flags = picker.inputs.flags;
    let fixed = flags.forks.is_some() || flags.budget.is_none() && picker.inputs.suite.run.forks.is_some();
    if fixed {
        let count = pick!(picker, forks, 5, "starts of each variant, fixed before the run (Student's t)");
        picker.check("forks", (1..=10_000).contains(&count), "write 1 to 10000 forks")?;
        return Ok(Forks::Fixed { count });
    }
    let budget =
        pick!(picker, budget, Span::from_secs(240), "stop when decided, or after so long (builds not counted)");
    picker.check("budget", budget >= Span::from_secs(1), "must be at least 1s")?;
    let at_least = pick!(picker, at_least, 5, "starts of each variant before anything is decided");
    picker.check("at_least", at_least >= 3, "an interval over fewer than 3 starts says nothing")?;
    Ok(Forks::UntilDecided { budget, at_least })
}

fn warmup(picker: &mut Picker<'_>, mode: Mode) -> Result<Warmup, PlanError> {
    let usual = if mode == Mode::Sequential { WarmupOption::Fixed(Span::from_secs(5)) } else { WarmupOption::Steady };
    match pick!(picker, warmup, usual, "\"steady\" detects the end of the warm-up; or a fixed time") {
        WarmupOption::Fixed(span) => {
            let users = pick!(picker, warmup_users, 3, "users of a fixed warm-up");
            picker.check("warmup_users", users >= 1, "must be at least 1")?;
            Ok(Warmup::Fixed { span, users })
        }
        WarmupOption::Steady => {
            let cap = pick!(picker, warmup_cap, Span::from_secs(30), "longest warm-up of a scenario in one fork");
            let first_cap =
                pick!(picker, warmup_first_cap, cap, "of a fork's first scenario, which warms what all of them share");
            let all_cpus =
                pick!(picker, warmup_all_cpus, true, "servers warm up on all cores, so that the JIT has room");
            Ok(Warmup::UntilSteady { cap, first_cap, all_cpus })
        }
    }
}

fn slices(picker: &mut Picker<'_>, mode: Mode) -> Result<Slices, PlanError> {
    if mode == Mode::Sequential {
        let duration = pick!(picker, duration, Span::from_secs(25), "of each cell");
        picker.check("duration", duration >= Span::from_millis(100), "must be at least 100ms")?;
        let rounds = duration.secs().ceil().max(1.0);
        let length = Span(duration.0.div_f64(rounds));
        return Ok(Slices {
            length,
            discard: Span::default(),
            saturating: rounds as u32,
            fixed: 0,
            poisson: 0,
            push: 1,
        });
    }
    let length = pick!(picker, slice, Span::from_millis(500), "length of one slice");
    picker.check("slice", length >= Span::from_millis(20) && length <= Span::from_secs(600), "write 20ms to 10m")?;
    let discard = pick!(picker, discard, Span::from_millis(100), "head of each slice that is dropped");
    picker.check("discard", discard.0 * 2 <= length.0, "must be at most half of the slice")?;
    let saturating = pick!(picker, saturating, 8, "rounds of closed-loop slices per fork: throughput");
    let fixed = pick!(picker, fixed, 0, "rounds at one constant rate per fork: CPU per request at equal load");
    let poisson =
        pick!(picker, poisson, 4, "rounds of open Poisson load per fork: latency, and CPU per request where fixed = 0");
    let push = pick!(picker, push, 1, "rounds of pushed messages per fork, where the server sends: push latency");
    picker.check("push", (1..=100).contains(&push), "write 1 to 100 rounds")?;
    picker.check(
        "saturating",
        saturating + fixed + poisson > 0,
        "one of saturating, fixed and poisson must be above 0",
    )?;
    picker.check("saturating", saturating + fixed + poisson <= 100_000, "is too many rounds")?;
    Ok(Slices { length, discard, saturating, fixed, poisson, push })
}

/// A search has settings of its own only where there is a curve to keep.
fn slo(picker: &mut Picker<'_>) -> Result<Option<Slo>, PlanError> {
    if picker.inputs.flags.slo.is_none() && picker.inputs.suite.run.slo.is_none() {
        return Ok(None);
    }
    let curve = pick!(picker, slo, Curve(Vec::new()), "what the largest load that is looked for must keep");
    let by = pick!(picker, slo_by, LoadBy::Rate, "what that load is counted in; where the server sends, users");
    let usual = if by == LoadBy::Users { 4_096 } else { 1_000_000 };
    let most = pick!(picker, slo_most, usual, "no more is tried");
    picker.check("slo_most", most >= 1 && (by == LoadBy::Rate || most <= 60_000), "write 1 to 60000 users")?;
    let each = pick!(picker, slo_each, Span::from_secs(2), "length of one try");
    picker.check("slo_each", each >= Span::from_millis(200), "must be at least 200ms")?;
    let most_users = if by == LoadBy::Users || most <= 60_000 { most } else { 4_096 };
    Ok(Some(Slo { curve, by, most_users, most_per_s: f64::from(most), each }))
}

fn messages(picker: &mut Picker<'_>) -> Result<Option<u32>, PlanError> {
    if picker.inputs.flags.messages.is_none() && picker.inputs.suite.run.messages.is_none() {
        return Ok(None);
    }
    let messages = pick!(picker, messages, 0, "that a user reads where the server sends, instead of the scenario's");
    picker.check("messages", (2..=1_000_000).contains(&messages), "write 2 to 1000000 messages")?;
    Ok(Some(messages))
}

fn machine(picker: &mut Picker<'_>) -> Result<Machine, PlanError> {
    let (server, generator) = split_cpus(&picker.inputs.machine.cpus);
    let server_cpus = pick!(picker, server_cpus, server, "cores of the servers");
    let servers = cpu_list(picker, "server_cpus", &server_cpus)?;
    let load_cpus = pick!(picker, load_cpus, generator, "cores of the generator, a worker each");
    cpu_list(picker, "load_cpus", &load_cpus)?;
    let jvm_options =
        pick!(picker, jvm_options, picker.inputs.inventory.jvm_options.clone(), "options of every JVM server, alike");
    let jvm_cpus = pick!(
        picker,
        jvm_cpus,
        u32::try_from(servers.len().max(2)).unwrap_or(u32::MAX),
        "-XX:ActiveProcessorCount of every JVM server: its pools follow"
    );
    picker.check("jvm_cpus", jvm_cpus >= 1, "must be at least 1")?;
    let java = pick!(picker, java, "newest".to_owned(), "JDK home of the servers");
    let startup_timeout =
        pick!(picker, startup_timeout, Span::from_secs(30), "a server that is not ready by then has failed");
    let stop_grace = pick!(picker, stop_grace, Span::from_secs(3), "after SIGTERM, how long until SIGKILL");
    Ok(Machine { server_cpus, load_cpus, jvm_options, jvm_cpus, java, startup_timeout, stop_grace })
}

/// The CPUs of a list that has been picked for `key`.
fn cpu_list(picker: &Picker<'_>, key: &str, list: &str) -> Result<CpuSet, PlanError> {
    list.parse().map_err(|error: CpuListError| picker.refuse(key, &error.to_string()))
}

/// The generator gets the last quarter of the cores, at least one; the servers the rest; one core is shared.
fn split_cpus(cpus: &[usize]) -> (String, String) {
    let list = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    match cpus {
        [] => ("0".into(), "0".into()),
        [only] => (only.to_string(), only.to_string()),
        _ => {
            let (server, generator) = cpus.split_at(cpus.len() - (cpus.len() / 4).max(1));
            (list(server), list(generator))
        }
    }
}
