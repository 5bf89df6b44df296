//! What the kernel lets this user do: pin threads, count events, wake up fast, open files.

use tare_sys::affinity::{CpuSet, allowed_cpus, pin_current_thread};
use tare_sys::limits::raise_open_files;
use tare_sys::procfs::process::may_sample_kernel;
use tare_sys::threads;
use tare_sys::wakefulness::Wakefulness;

use super::CheckState::{Doubtful, Missing, Optional};
use super::Checked;

/// Open files below this limit do not suffice for a thousand users on two servers.
const FILES: u64 = 4_096;

pub fn permissions(server: &CpuSet, load: &CpuSet) -> Vec<Checked> {
    vec![cores(server, load), open_files(), deep_sleep(), perf_events()]
}

/// Whether threads can be pinned to both sides' cores. The attempt is made on a thread of its own.
fn cores(server: &CpuSet, load: &CpuSet) -> Checked {
    const WHAT: &str = "cores";
    let both = server.union(load);
    let attempt = threads::spawn("doctor", move || pin_current_thread(&both));
    let pinned = attempt.ok().and_then(|thread| thread.join().ok());
    match pinned.map(|pinned| pinned.and_then(|()| allowed_cpus())) {
        Some(Ok(allowed)) => Checked::fine(WHAT, format!("{allowed}, threads can be pinned")),
        Some(Err(error)) => Checked::new(Missing, WHAT, error.to_string(), "Name cores that this process may use."),
        None => Checked::new(Missing, WHAT, "no thread could be started", "Raise the limit of processes (ulimit -u)."),
    }
}

fn open_files() -> Checked {
    match raise_open_files(FILES) {
        limit if limit >= FILES => Checked::fine("open files", format!("{limit} or more")),
        limit => {
            let remedy = format!("A user needs a file on either side. Raise the limit: ulimit -n {FILES}");
            Checked::new(Doubtful, "open files", format!("{limit}"), remedy)
        }
    }
}

fn deep_sleep() -> Checked {
    const WHAT: &str = "deep sleep of CPUs";
    match Wakefulness::keep_awake() {
        Ok(_) => Checked::fine(WHAT, "can be prevented"),
        Err(error) => {
            let remedy = "Latencies at low rates include the time to wake up. As root it can be prevented.";
            Checked::new(Optional, WHAT, format!("cannot be prevented ({error})"), remedy)
        }
    }
}

fn perf_events() -> Checked {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
    perf_events_at(level.as_deref().and_then(|level| level.trim().parse().ok()), may_sample_kernel())
}

fn perf_events_at(level: Option<i32>, is_free: bool) -> Checked {
    const WHAT: &str = "perf_event_paranoid";
    let Some(level) = level else {
        return Checked::new(Optional, WHAT, "this kernel has no perf events", "Profiles use a timer instead.");
    };
    let lack = match level {
        ..=1 => return Checked::fine(WHAT, level.to_string()),
        _ if is_free => return Checked::fine(WHAT, format!("{level}, which does not bind this user")),
        2 => "Profiles lack kernel methods",
        // Levels of their kernels.
        _ => "Profiles lack kernel methods, and Debian and Ubuntu refuse perf",
    };
    Checked::new(Optional, WHAT, level.to_string(), format!("{lack}: sysctl kernel.perf_event_paranoid=1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_refuses_to_profiles_is_told_at_each_level() {
        let remedy = |level| perf_events_at(Some(level), false).remedy.unwrap_or_default();
        assert_eq!([-1, 1].map(remedy), ["", ""]);
        assert_eq!(remedy(2), "Profiles lack kernel methods: sysctl kernel.perf_event_paranoid=1");
        assert_eq!(perf_events_at(Some(2), true).remedy, None, "root");
        assert!(remedy(3).contains("Debian and Ubuntu refuse perf: sysctl"), "{}", remedy(4));
    }
}
