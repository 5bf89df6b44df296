//! CPU time that other programs, or other virtual machines, used on the cores of a run while a slice was measured.

use tare_sys::affinity::CpuSet;
use tare_sys::clock::{self, Nanos};
use tare_sys::procfs::machine::{CpuTicks, clock_tick_ns};

use crate::server_host::local::running_server::{RunningServer, RunningServers};

/// The CPU accounts of some cores at the beginning of a slice.
pub(crate) struct OtherPrograms {
    cpus: CpuSet,
    begun: Nanos,
    before: CpuTicks,
    ours_ns: u64,
}

impl OtherPrograms {
    /// Reads the accounts of these cores; `None` if the CPU time of a server cannot be read.
    pub fn begin(servers: &mut RunningServers, cpus: CpuSet) -> Option<Self> {
        let ours_ns = own_cpu_ns(servers)?;
        Some(Self { before: CpuTicks::read_cpus(&cpus).ok()?, ours_ns, begun: clock::now(), cpus })
    }

    /// The share of the cores that other programs have used since then (0–1), at least: the kernel may count the
    /// interrupts of tare twice, and its ticks may be off by one per core.
    pub fn share(&self, servers: &mut RunningServers) -> Option<f64> {
        let cpus = self.cpus.len() as u64;
        let unused_ns = unused_ns(CpuTicks::read_cpus(&self.cpus).ok()?.since(self.before))?;
        let ours_ns = own_cpu_ns(servers)?.saturating_sub(self.ours_ns);
        Some(unexplained_share(clock::now().since(self.begun) * cpus, unused_ns + ours_ns + cpus * clock_tick_ns()))
    }
}

/// The time in which no task ran; `None` from a kernel that counts no time at all, as gVisor's does not.
fn unused_ns(ticks: CpuTicks) -> Option<u64> {
    (ticks.total > 0).then(|| ticks.unused_ns())
}

/// The share of the cores' time that is not known to be unused or used by tare and its servers.
fn unexplained_share(time_ns: u64, known_ns: u64) -> f64 {
    time_ns.saturating_sub(known_ns) as f64 / time_ns.max(1) as f64
}

/// CPU that tare and its servers have used so far; `None` where a server that runs cannot be seen.
fn own_cpu_ns(servers: &mut RunningServers) -> Option<u64> {
    let of_servers: Option<u64> = servers.values_mut().map(RunningServer::cpu_ns).sum();
    Some(clock::process_cpu_ns() + of_servers?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_kernel_counts_no_time_none_is_that_of_others() {
        assert_eq!(unused_ns(CpuTicks::default()), None);
        assert_eq!(unused_ns(CpuTicks { total: 9, idle: 4, ..CpuTicks::default() }), Some(4 * clock_tick_ns()));
        assert_eq!(unused_ns(CpuTicks { total: 9, ..CpuTicks::default() }), Some(0));
    }

    #[test]
    fn what_is_neither_ours_nor_unused_is_others() {
        for (time_ns, known_ns, expected) in
            [(100, 70, 0.3), (100, 100, 0.0), (100, 130, 0.0), (100, 0, 1.0), (0, 0, 0.0)]
        {
            assert!((unexplained_share(time_ns, known_ns) - expected).abs() < 1e-12, "{known_ns} of {time_ns}");
        }
    }
}
