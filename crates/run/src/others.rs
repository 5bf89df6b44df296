//! What others did on the cores of a run while a slice was measured: work that is none of tare's or its servers', and time
//! that a hypervisor gave to somebody else.

use tare_plan::plan::{Machine, Plan};
use tare_sys::affinity::CpuSet;
use tare_sys::clock::{self, Nanos};
use tare_sys::procfs::machine::CpuTicks;
use tare_sys::procfs::process;

use crate::fleet::Member;

/// The accounts at the beginning of a slice.
pub(crate) struct Others {
    cpus: CpuSet,
    begun: Nanos,
    all: CpuTicks,
    ours_ns: u64,
}

impl Others {
    /// Opens the accounts; `None` where a server runs of which nothing can be seen.
    pub fn begin(members: &[Member<'_>], plan: &Plan) -> Option<Self> {
        let cpus = cores(&plan.machine)?;
        let ours_ns = ours_ns(members)?;
        Some(Self { all: CpuTicks::of(&cpus).ok()?, ours_ns, begun: clock::now(), cpus })
    }

    /// Their share of the cores since then, 0 to 1: at least, since the kernel may count interrupts twice that were ours.
    pub fn share(&self, members: &[Member<'_>]) -> Option<f64> {
        let all_ns = CpuTicks::of(&self.cpus).ok()?.since(self.all).worked_ns();
        let ours_ns = ours_ns(members)?.saturating_sub(self.ours_ns);
        Some(share(all_ns, ours_ns, clock::now().since(self.begun) * self.cpus.len() as u64))
    }
}

fn share(all_ns: u64, ours_ns: u64, time_ns: u64) -> f64 {
    (all_ns.saturating_sub(ours_ns) as f64 / time_ns.max(1) as f64).min(1.0)
}

/// Those of the servers and of the generator.
fn cores(machine: &Machine) -> Option<CpuSet> {
    let set = |cpus: &str| cpus.parse::<CpuSet>().ok();
    Some(set(&machine.server_cpus)?.union(&set(&machine.load_cpus)?))
}

/// CPU that tare and its servers have used so far, those included that wait for their turn.
fn ours_ns(members: &[Member<'_>]) -> Option<u64> {
    let used = |member: &Member<'_>| {
        // What has ended uses nothing any more.
        Some(member.probe.as_ref()?.processes().filter_map(|pid| process::cpu_ns(pid).ok()).sum::<u64>())
    };
    let mut sum = clock::process_cpu_ns();
    for member in members {
        sum += if member.healthy { used(member)? } else { used(member).unwrap_or(0) };
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ours_is_others() {
        for (all_ns, ours_ns, time_ns, expected) in
            [(80, 50, 100, 0.3), (50, 50, 100, 0.0), (45, 50, 100, 0.0), (300, 50, 100, 1.0), (0, 0, 0, 0.0)]
        {
            assert!((share(all_ns, ours_ns, time_ns) - expected).abs() < 1e-12, "{all_ns} {ours_ns} {time_ns}");
        }
    }
}
