//! The machine: its hardware, its settings, and its current load.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tare_units::CpuSet;

use super::{ProcfsError, read_as};

/// The load average of the last minute: how many tasks ran or wanted to.
pub fn load_average() -> Result<f64, ProcfsError> {
    read_as("/proc/loadavg", |text| text.split_ascii_whitespace().next()?.parse().ok())
}

/// The time since boot in which some task waited for a CPU: pressure stall information. The kernel's averages of it
/// look back for at least 10 s, so that what ended before would count. Errors: when the kernel has no pressure
/// information (before 4.20, or not configured).
pub fn cpu_pressure_time() -> Result<Duration, ProcfsError> {
    read_as("/proc/pressure/cpu", parse_pressure)
}

/// Parses `/proc/pressure/cpu`.
pub fn parse_pressure(text: &str) -> Option<Duration> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total_us = some.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total_us.parse().ok().map(Duration::from_micros)
}

/// The CPU quota of this process's control groups, such as that of a container, which stops all threads at once when it
/// is used up. Unit: cores; `None` without a quota.
pub fn cpu_quota() -> Option<f64> {
    lowest_quota(Path::new("/sys/fs/cgroup"), &fs::read_to_string("/proc/self/cgroup").ok()?)
}

/// The lowest quota of these groups and of those above them. Source: cgroups(7): a line is `0::/group` in the second
/// version of control groups, and `4:cpu,cpuacct:/group` in the first.
fn lowest_quota(root: &Path, groups: &str) -> Option<f64> {
    let quotas = groups.lines().filter_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let is_first = controllers.split(',').any(|controller| controller == "cpu");
        let (root, quota): (PathBuf, fn(&Path) -> Option<f64>) = match controllers {
            "" => (root.to_owned(), quota_of),
            _ if is_first => (root.join("cpu"), quota_of_first_version),
            _ => return None,
        };
        // A container may see its own group as the root, under another name than this.
        let folders = Path::new(group).ancestors().filter_map(|group| Some(root.join(group.strip_prefix("/").ok()?)));
        folders.filter_map(|folder| quota(&folder)).reduce(f64::min)
    });
    quotas.reduce(f64::min)
}

/// 1.5 of `150000 100000`; `None` for `max 100000`.
fn quota_of(group: &Path) -> Option<f64> {
    let cpu_max = fs::read_to_string(group.join("cpu.max")).ok()?;
    let (quota, period) = cpu_max.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

/// The same in two files; −1 is no quota.
fn quota_of_first_version(group: &Path) -> Option<f64> {
    let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<f64>().ok();
    Some(number("cpu.cfs_quota_us")? / number("cpu.cfs_period_us")?).filter(|cores| *cores > 0.0)
}

/// Time of a CPU, or of all CPUs together, by use, since boot. Unit: clock ticks, usually of 10 ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// All time, including idle and stolen time.
    pub total: u64,
    /// Idle, and waiting for disks.
    pub idle: u64,
    /// Taken by the hypervisor for other machines.
    pub steal: u64,
    /// Interrupts and work deferred by them. Some kernels measure these separately and count them for no task. Others
    /// count them for the task that was interrupted.
    pub interrupts: u64,
}

impl CpuTicks {
    /// Parses `/proc/stat`: all CPUs together, or one.
    pub fn parse(text: &str, cpu: Option<usize>) -> Option<Self> {
        let name = cpu.map_or_else(|| "cpu".to_owned(), |cpu| format!("cpu{cpu}"));
        let line = text.lines().find(|line| line.split_ascii_whitespace().next() == Some(&name))?;
        let ticks: Vec<u64> = line.split_ascii_whitespace().skip(1).map_while(|field| field.parse().ok()).collect();
        let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
        // User time already contains guest time (fields 9 and 10).
        Some(Self {
            total: ticks.iter().take(8).sum(),
            idle: *ticks.get(3)? + at(4),
            steal: at(7),
            interrupts: at(5) + at(6),
        })
    }

    /// Reads the time of all CPUs together, or of one.
    pub fn read(cpu: Option<usize>) -> Result<Self, ProcfsError> {
        read_as("/proc/stat", |text| Self::parse(text, cpu))
    }

    /// Reads the time of several CPUs, added up.
    pub fn read_cpus(cpus: &CpuSet) -> Result<Self, ProcfsError> {
        // The file is read once for all of them.
        read_as("/proc/stat", |text| {
            let each = cpus.iter().map(|cpu| Self::parse(text, Some(cpu)));
            each.reduce(|a, b| Some(a?.combined(b?, |a, b| a + b)))?
        })
    }

    fn combined(self, other: Self, by: fn(u64, u64) -> u64) -> Self {
        Self {
            total: by(self.total, other.total),
            idle: by(self.idle, other.idle),
            steal: by(self.steal, other.steal),
            interrupts: by(self.interrupts, other.interrupts),
        }
    }

    /// The difference from an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.combined(earlier, u64::saturating_sub)
    }

    /// Time in which no task ran: idle or in interrupts. Kernels that stop the clock tick of an idle CPU measure its
    /// idle time exactly. Other uses are sampled at clock ticks. Unit: nanoseconds, in steps of a tick.
    pub fn unused_ns(self) -> u64 {
        (self.idle + self.interrupts) * clock_tick_ns()
    }

    /// Stolen time as a share of all time, 0 to 1.
    pub fn steal_share(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.steal as f64 / self.total as f64 }
    }

    /// Time that was neither idle nor stolen, as a share of all time, 0 to 1.
    pub fn busy_share(self) -> f64 {
        let busy = self.total.saturating_sub(self.idle).saturating_sub(self.steal);
        if self.total == 0 { 0.0 } else { busy as f64 / self.total as f64 }
    }
}

/// The name of this machine; empty if it has none.
pub fn host_name() -> String {
    line("/proc/sys/kernel/hostname").unwrap_or_default()
}

/// The length of a clock tick, the kernel's unit of CPU use. Unit: nanoseconds.
pub fn clock_tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// All properties of the machine that can change a measurement; `None` for those that this kernel does not report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    pub cpu_model: Option<String>,
    pub kernel: Option<String>,
    /// The frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Whether the CPU may raise its frequency (boost).
    pub boost: Option<bool>,
    /// The congestion control that new TCP sockets get.
    pub tcp_congestion_control: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_hugepages: Option<String>,
    pub hugepages: Option<u64>,
    pub clock_source: Option<String>,
    pub memory_bytes: Option<u64>,
}

impl Machine {
    pub fn read() -> Self {
        Self {
            cpu_model: line("/proc/cpuinfo").and_then(|text| cpu_model(&text)),
            kernel: line("/proc/sys/kernel/osrelease"),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            boost: line("/sys/devices/system/cpu/cpufreq/boost")
                .map(|text| text == "1")
                .or_else(|| line("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|text| text == "0")),
            tcp_congestion_control: line("/proc/sys/net/ipv4/tcp_congestion_control"),
            transparent_hugepages: line("/sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|text| bracketed_word(&text)),
            hugepages: line("/proc/sys/vm/nr_hugepages").and_then(|text| text.parse().ok()),
            clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            memory_bytes: line("/proc/meminfo").and_then(|text| memory_bytes(&text)),
        }
    }
}

/// The contents of a file, trimmed; `None` if it cannot be read.
fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The CPU's name in `/proc/cpuinfo`, under a key that depends on the architecture.
pub fn cpu_model(cpuinfo: &str) -> Option<String> {
    ["model name", "Model", "cpu model", "uarch", "Processor"].iter().find_map(|key| {
        let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(name, _)| name.trim() == *key).map(|(_, value)| value.trim().to_owned())
    })
}

/// The word in brackets of a list such as `always [madvise] never`.
pub fn bracketed_word(list: &str) -> Option<String> {
    Some(list.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// `MemTotal` of `/proc/meminfo`.
pub fn memory_bytes(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(value.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_waiting_is_read() {
        let text = "some avg10=1.50 avg60=0.20 avg300=0.10 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!((parse_pressure(text), parse_pressure("")), (Some(Duration::from_micros(123)), None));
    }

    #[test]
    fn the_lowest_quota_of_nested_groups_counts_in_cores() {
        let root = tempfile::tempdir().unwrap();
        let quota = |group: &str, cpu_max: &str| {
            fs::create_dir_all(root.path().join(group)).unwrap();
            fs::write(root.path().join(group).join("cpu.max"), cpu_max).unwrap();
            lowest_quota(root.path(), "0::/pod/container\n")
        };
        assert_eq!(quota("pod/container", "max 100000\n"), None);
        assert_eq!(quota("pod", "150000 100000\n"), Some(1.5));
        assert_eq!(quota("pod/container", "400000 100000\n"), Some(1.5));
        assert_eq!(quota("", "100000 100000\n"), Some(1.0), "of the machine's own root, as a container sees it");
    }

    #[test]
    fn a_quota_in_control_groups_of_the_first_version_counts_too() {
        let root = tempfile::tempdir().unwrap();
        let quota = |group: &str, quota_us: &str| {
            let folder = root.path().join("cpu").join(group);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("cpu.cfs_quota_us"), quota_us).unwrap();
            fs::write(folder.join("cpu.cfs_period_us"), "100000\n").unwrap();
            lowest_quota(root.path(), "12:cpuset:/other\n4:cpu,cpuacct:/docker/ab\n1:name=systemd:/docker/ab\n0::/\n")
        };
        assert_eq!(quota("docker/ab", "-1\n"), None);
        assert_eq!(quota("", "250000\n"), Some(2.5), "the container's own root");
        assert_eq!(quota("docker/ab", "50000\n"), Some(0.5));
    }

    #[test]
    fn steal_is_a_share_of_all_time() {
        let text = "cpu  10 0 10 60 10 0 0 10 5 0\ncpu0 1 0 0 9 0 0 0 0 0 0\ncpu10 7 0 0 0 0 0 0 0 0 0\n";
        let all = CpuTicks::parse(text, None).unwrap();
        assert_eq!(all, CpuTicks { total: 100, idle: 70, steal: 10, interrupts: 0 });
        assert!((all.steal_share() - 0.1).abs() < 1e-9 && (all.busy_share() - 0.2).abs() < 1e-9);
        assert_eq!(CpuTicks::parse(text, Some(0)).unwrap().total, 10);
        assert_eq!(CpuTicks::parse(text, Some(1)), None);
        assert_eq!(all.since(all).busy_share(), 0.0);
    }

    #[test]
    fn what_no_task_used_is_idle_or_an_interrupt() {
        let one = CpuTicks::parse("cpu0 30 0 10 20 5 3 7 25 0 0\n", Some(0)).unwrap();
        assert_eq!((one.total, one.interrupts, one.unused_ns()), (100, 10, (20 + 5 + 3 + 7) * clock_tick_ns()));
        assert_eq!(one.combined(one, |a, b| a + b).unused_ns(), 2 * one.unused_ns());
        let here = crate::affinity::allowed_cpus().unwrap();
        assert!(CpuTicks::read_cpus(&here).is_ok_and(|ticks| ticks.total > 0));
        assert!(
            CpuTicks::read_cpus(&CpuSet::from_indices([])).is_err()
                && CpuTicks::read_cpus(&CpuSet::from_indices([9_999])).is_err()
        );
    }

    #[test]
    fn names_and_settings_are_read() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\n").unwrap(), "Fast CPU @ 3 GHz");
        assert_eq!(bracketed_word("always [madvise] never").unwrap(), "madvise");
        assert_eq!(memory_bytes("MemTotal:  8 kB\n"), Some(8192));
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_load() {
        assert!(Machine::read().kernel.is_some() && load_average().is_ok() && CpuTicks::read(None).is_ok());
    }
}
