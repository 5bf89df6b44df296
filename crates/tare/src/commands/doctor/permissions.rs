//! What the kernel lets this user do: pin threads, count events, wake up fast, open files.

use std::fs;

use tare_sys::affinity::{CpuSet, allowed_cpus, pin_current_thread};
use tare_sys::limits::raise_open_files;
use tare_sys::procfs::machine::cpu_quota;
use tare_sys::threads;
use tare_sys::wakefulness::Wakefulness;

use super::checked::Checked;

/// Open files below this limit do not suffice for a thousand users on two servers.
const FILES: u64 = 4_096;

/// Every permission that a run can use.
pub fn permissions(server: &CpuSet, load: &CpuSet) -> Vec<Checked> {
    vec![cores(server, load), quota(), open_files(), deep_sleep(), perf_events()]
}

/// Whether threads can be pinned to both sides' cores. The attempt is made on a thread of its own.
fn cores(server: &CpuSet, load: &CpuSet) -> Checked {
    const WHAT: &str = "cores";
    let both = server.union(load);
    let attempt = threads::spawn("doctor", move || pin_current_thread(&both));
    let pinned = attempt.ok().and_then(|thread| thread.join().ok());
    match (pinned, allowed_cpus()) {
        (Some(Ok(())), Ok(allowed)) if allowed.len() > 1 => {
            Checked::fine(WHAT, format!("{allowed}, threads can be pinned"))
        }
        (Some(Ok(())), _) => {
            let remedy = "Generator and servers take time from one another. Use a machine with two cores or more.";
            Checked::doubtful(WHAT, "only one is allowed", remedy)
        }
        (Some(Err(error)), _) => Checked::missing(WHAT, error.to_string(), "Name cores that this process may use."),
        (None, _) => Checked::missing(WHAT, "no thread could be started", "Raise the limit of processes (ulimit -u)."),
    }
}

/// The CPU quota of the container, which stops all threads at once when it is used up.
fn quota() -> Checked {
    match cpu_quota() {
        None => Checked::fine("CPU quota", "none"),
        Some(cores) => {
            let remedy =
                "When it is used up, servers and generator stand still. Remove the limit (--cpus) for measurements.";
            Checked::doubtful("CPU quota", format!("{cores:.1} cores"), remedy)
        }
    }
}

fn open_files() -> Checked {
    match raise_open_files(FILES) {
        limit if limit >= FILES => Checked::fine("open files", format!("{limit} or more")),
        limit => {
            let remedy = format!("A user needs a file on either side. Raise the limit: ulimit -n {FILES}");
            Checked::doubtful("open files", format!("{limit}"), remedy)
        }
    }
}

fn deep_sleep() -> Checked {
    const WHAT: &str = "deep sleep of CPUs";
    match Wakefulness::keep_awake() {
        Ok(_) => Checked::fine(WHAT, "can be prevented"),
        Err(error) => {
            let remedy = "Latencies at low rates include the time to wake up. As root it can be prevented.";
            Checked::optional(WHAT, format!("cannot be prevented ({error})"), remedy)
        }
    }
}

fn perf_events() -> Checked {
    const WHAT: &str = "perf_event_paranoid";
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
    match level.as_deref().map(str::trim).map(str::parse::<i32>) {
        Some(Ok(level)) if level <= 1 => Checked::fine(WHAT, level.to_string()),
        Some(Ok(level)) => {
            let remedy = "Profiles lack kernel methods: sysctl kernel.perf_event_paranoid=1";
            Checked::optional(WHAT, level.to_string(), remedy)
        }
        _ => Checked::optional(WHAT, "this kernel has no perf events", "Profiles use a timer instead."),
    }
}
