//! Facts about this machine, and what disturbs measuring on it now. Used on the machine of the servers and on the generator's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_record::environment::FactSection;
use tare_record::{EventKind, EventRecord};
use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::clock;
use tare_sys::procfs::machine::{CpuTicks, Machine, cpu_pressure_time, cpu_quota, load_average};

const TICK: Duration = Duration::from_millis(20);
/// How long the machine is observed at rest.
const WATCH: Duration = Duration::from_millis(400);
/// How long CPU pressure is observed. Each command that records a measurement waits for so long once.
const PRESSURE_WATCH: Duration = Duration::from_millis(100);
/// Other work above this share of a core disturbs, and so does more time that a hypervisor takes than this.
const BUSY: f64 = 0.05;
const STOLEN: f64 = 0.01;

pub fn machine_facts() -> Vec<FactSection> {
    let machine = Machine::read();
    let of_machine = [
        ("CPU", machine.cpu_model),
        ("cores tare may use", allowed_cpus().ok().map(|cpus| cpus.to_string())),
        ("memory", machine.memory_bytes.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)))),
        ("governor", machine.governor),
        ("boost", machine.boost.map(|on| if on { "on" } else { "off" }.to_owned())),
        ("hypervisor steal and load at the start", load()),
    ];
    let of_kernel = [
        ("release", machine.kernel),
        ("clock source", machine.clock_source),
        ("TCP congestion control", machine.tcp_congestion_control),
        ("transparent huge pages", machine.transparent_hugepages),
        ("huge pages", machine.hugepages.map(|pages| pages.to_string())),
    ];
    vec![section("Machine", of_machine), section("Kernel", of_kernel)]
}

/// A section of facts. One that is not known says so.
pub fn section<const N: usize>(title: &str, facts: [(&str, Option<String>); N]) -> FactSection {
    let value = |value: Option<String>| value.unwrap_or_else(|| "not available".to_owned());
    FactSection {
        title: title.to_owned(),
        facts: facts.into_iter().map(|(key, fact)| (key.to_owned(), value(fact))).collect(),
    }
}

fn load() -> Option<String> {
    let load = load_average().ok()?;
    let pressure = pressure_at_rest().map_or(String::new(), |share| format!(", CPU pressure {:.1} %", share * 100.0));
    Some(format!("load {load:.2}{pressure}"))
}

/// The share of the time in which some task waits for a CPU now. The kernel's own averages look back for 10 s: a build
/// or a load of tare itself would count as other programs.
fn pressure_at_rest() -> Option<f64> {
    let (begun, before) = (clock::now(), cpu_pressure_time().ok()?);
    std::thread::sleep(PRESSURE_WATCH);
    let after = cpu_pressure_time().ok()?;
    Some(waiting_share(before, after, Duration::from_nanos(clock::now().since(begun))))
}

/// The share of `span` in which some task waited, from the times of waiting since boot before and after it.
fn waiting_share(before: Duration, after: Duration, span: Duration) -> f64 {
    (after.saturating_sub(before).as_secs_f64() / span.as_secs_f64()).min(1.0)
}

/// Events about what disturbs measuring on these cores of this machine. All are watched at the same time.
pub fn disturbances(cpus: &CpuSet, cancelled: &AtomicBool) -> Vec<EventRecord> {
    let before: Vec<Option<CpuTicks>> = cpus.iter().map(|cpu| CpuTicks::read(Some(cpu)).ok()).collect();
    pause(WATCH, cancelled);
    let watched = cpus.iter().zip(before);
    let mut found: Vec<EventRecord> = watched.flat_map(|(cpu, before)| busy_core(cpu, before)).collect();
    if let Some(governor) = Machine::read().governor.filter(|governor| governor != "performance") {
        found.push(EventRecord::new(EventKind::CpuGovernor { governor }));
    }
    if let Some(cores) = cpu_quota().filter(|cores| *cores < cpus.len() as f64) {
        found.push(EventRecord::new(EventKind::CpuQuota { cores }));
    }
    found
}

/// Waits for `span`, or until `cancelled` is set, as Ctrl-C does.
pub(crate) fn pause(span: Duration, cancelled: &AtomicBool) {
    let end = clock::now() + span;
    while !cancelled.load(Ordering::Relaxed) {
        let left = Duration::from_nanos(end.since(clock::now()));
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(TICK));
    }
}

fn busy_core(cpu: usize, before: Option<CpuTicks>) -> Vec<EventRecord> {
    let Some((before, after)) = before.zip(CpuTicks::read(Some(cpu)).ok()) else { return Vec::new() };
    let spent = after.since(before);
    let (busy_share, stolen_share) = (spent.busy_share(), spent.steal_share());
    let busy = (busy_share > BUSY).then_some(EventKind::BusyCore { cpu, busy_share });
    let stolen = (stolen_share > STOLEN).then_some(EventKind::StolenTime { cpu: Some(cpu), stolen_share });
    busy.into_iter().chain(stolen).map(EventRecord::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_before_the_look_is_no_pressure_now() {
        let begun = Duration::from_secs(9);
        let share = |waited_ms| waiting_share(begun, begun + Duration::from_millis(waited_ms), PRESSURE_WATCH);
        assert_eq!(share(0), 0.0, "a build that ended just now");
        assert_eq!(share(25), 0.25);
        assert_eq!(share(200), 1.0);
    }
}
