//! Where it is measured: the facts that can move a number, captured once at the start of a run.

use std::collections::BTreeMap;

use tare_load::{PollerChoice, PollerInUse};
use tare_plan::Plan;
use tare_record::environment::{Environment, FactSection};
use tare_sys::affinity::allowed_cpus;
use tare_sys::procfs::machine::{CpuPressure, LoadAverage, Machine};

use crate::prepare::Launches;

/// Captures machine, kernel, JVM and the versions of the servers.
pub fn capture_environment(plan: &Plan, launches: &Launches) -> Environment {
    let mut sections = machine_facts();
    sections.push(generator_section());
    sections.extend(launches.java().map(|java| FactSection {
        title: "JVM".to_owned(),
        facts: vec![
            ("JDK".to_owned(), java.to_owned()),
            ("options".to_owned(), plan.machine.jvm_options.join(" ")),
            ("ActiveProcessorCount".to_owned(), plan.machine.jvm_cpus.to_string()),
        ],
    }));
    // Variants of one family and version share what was resolved: each table is shown once.
    let mut tables: BTreeMap<String, &BTreeMap<String, String>> = BTreeMap::new();
    for variant in plan.groups.iter().flat_map(|group| &group.variants) {
        if let Some(launch) = launches.get(variant).ok().filter(|launch| !launch.resolved.is_empty()) {
            let version = variant.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
            let baseline = if variant.program.other_home().is_some() { " (baseline)" } else { "" };
            tables.insert(format!("Versions: {}{version}{baseline}", variant.family), &launch.resolved);
        }
    }
    sections.extend(tables.into_iter().map(|(title, resolved)| FactSection {
        title,
        facts: resolved.iter().map(|(name, version)| (name.clone(), version.clone())).collect(),
    }));
    Environment { sections }
}

/// The generator's poller, the same in every session of a run.
fn generator_section() -> FactSection {
    let poller = |in_use: PollerInUse| match in_use.notice {
        None => in_use.kind.to_string(),
        Some(notice) => format!("{}: {notice}", in_use.kind),
    };
    section("Generator", [("poller", PollerChoice::default().choose_available().ok().map(poller))])
}

/// Captures machine and kernel alone.
pub fn machine_facts() -> Vec<FactSection> {
    let machine = Machine::read();
    vec![machine_section(&machine), kernel_section(&machine)]
}

fn machine_section(machine: &Machine) -> FactSection {
    let facts = [
        ("CPU", machine.cpu_model.clone()),
        ("cores tare may use", allowed_cpus().ok().map(|cpus| cpus.to_string())),
        ("memory", machine.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)))),
        ("governor", machine.governor.clone()),
        ("boost", machine.boost.map(|on| if on { "on" } else { "off" }.to_owned())),
        ("hypervisor steal and load at the start", load()),
    ];
    section("Machine", facts)
}

fn kernel_section(machine: &Machine) -> FactSection {
    let facts = [
        ("release", machine.kernel.clone()),
        ("clock source", machine.clock_source.clone()),
        ("TCP congestion control", machine.tcp_congestion_control.clone()),
        ("transparent huge pages", machine.transparent_hugepages.clone()),
        ("huge pages", machine.hugepages.map(|pages| pages.to_string())),
    ];
    section("Kernel", facts)
}

fn section<const N: usize>(title: &str, facts: [(&str, Option<String>); N]) -> FactSection {
    let value = |value: Option<String>| value.unwrap_or_else(|| "not available".to_owned());
    FactSection {
        title: title.to_owned(),
        facts: facts.into_iter().map(|(key, fact)| (key.to_owned(), value(fact))).collect(),
    }
}

fn load() -> Option<String> {
    let load = LoadAverage::read().ok()?;
    let pressure =
        CpuPressure::read().ok().map_or(String::new(), |p| format!(", CPU pressure {:.1} %", p.some_10s_percent));
    Some(format!("load {:.2}{pressure}", load.one))
}
