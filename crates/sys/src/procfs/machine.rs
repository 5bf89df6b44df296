//! The machine: its hardware, its settings, and its current load.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use tare_units::CpuSet;

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;
use super::ProcfsError;

/// The load averages of one, five and fifteen minutes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadAverage {
    /// Over one minute.
    pub one: f64,
    /// Over five minutes.
    pub five: f64,
    /// Over fifteen minutes.
    pub fifteen: f64,
}

impl LoadAverage {
    /// Parses `/proc/loadavg`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map_while(|field| field.parse().ok());
        Some(Self { one: numbers.next()?, five: numbers.next()?, fifteen: numbers.next()? })
    }

    /// Reads them.
    ///
    /// # Errors
    /// When the kernel does not provide it.
    pub fn read() -> Result<Self, ProcfsError> {
        system::load_average()
    }
}

/// How long tasks have waited for a CPU: pressure stall information.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuPressure {
    /// Share of the last ten seconds in which some task waited, 0 to 100.
    pub some_10s_percent: f64,
    /// Time since boot in which some task waited.
    pub some_total_us: u64,
}

impl CpuPressure {
    /// Parses `/proc/pressure/cpu`.
    pub fn parse(text: &str) -> Option<Self> {
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        let field = |name: &str| some.split_ascii_whitespace().find_map(|field| field.strip_prefix(name));
        Some(Self { some_10s_percent: field("avg10=")?.parse().ok()?, some_total_us: field("total=")?.parse().ok()? })
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the kernel has no pressure information (Linux before 4.20, or not configured; macOS).
    pub fn read() -> Result<Self, ProcfsError> {
        system::cpu_pressure()
    }
}

/// Time of a CPU, or of all CPUs together, by use, since boot.
///
/// # Units
/// Clock ticks, usually of 10 ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// All time, including idle and stolen time.
    pub total: u64,
    /// Idle, and waiting for disks.
    pub idle: u64,
    /// Taken by the hypervisor for other machines; `None` where the kernel does not count it, as on macOS.
    pub steal: Option<u64>,
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
            steal: Some(at(7)),
            interrupts: at(5) + at(6),
        })
    }

    /// Reads the time of all CPUs together, or of one.
    ///
    /// # Errors
    /// When there is no such CPU.
    pub fn read(cpu: Option<usize>) -> Result<Self, ProcfsError> {
        system::ticks(cpu)
    }

    /// Reads the time of several CPUs, added up.
    ///
    /// # Errors
    /// When one of them does not exist, or the list is empty.
    pub fn read_cpus(cpus: &CpuSet) -> Result<Self, ProcfsError> {
        system::ticks_of(cpus)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            idle: self.idle + other.idle,
            steal: self.steal.zip(other.steal).map(|(one, other)| one + other),
            interrupts: self.interrupts + other.interrupts,
        }
    }

    /// The difference from an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            total: self.total.saturating_sub(earlier.total),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.zip(earlier.steal).map(|(now, earlier)| now.saturating_sub(earlier)),
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
        }
    }

    /// Time in which no task ran: idle or in interrupts. Kernels that stop the clock tick of an idle CPU measure its
    /// idle time exactly. Other uses are sampled at clock ticks.
    ///
    /// # Units
    /// Nanoseconds, in steps of a tick.
    pub fn unused_ns(self) -> u64 {
        (self.idle + self.interrupts) * clock_tick_ns()
    }

    /// Stolen time as a share of all time, 0 to 1; `None` where it is not counted.
    pub fn steal_share(self) -> Option<f64> {
        self.steal.map(|steal| if self.total == 0 { 0.0 } else { steal as f64 / self.total as f64 })
    }

    /// Time that was neither idle nor stolen, as a share of all time, 0 to 1.
    pub fn busy_share(self) -> f64 {
        let busy = self.total.saturating_sub(self.idle).saturating_sub(self.steal.unwrap_or(0));
        if self.total == 0 { 0.0 } else { busy as f64 / self.total as f64 }
    }
}

/// The name of this machine; empty if it has none.
pub fn host_name() -> String {
    system::host_name()
}

/// The length of a clock tick, the kernel's unit of CPU use.
///
/// # Units
/// Nanoseconds.
pub fn clock_tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// All properties of the machine that can change a measurement; `None` for those that this kernel does not report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// The CPU's name.
    pub cpu_model: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Whether the CPU may raise its frequency (boost).
    pub boost: Option<bool>,
    /// The congestion control that new TCP sockets get.
    pub tcp_congestion_control: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_hugepages: Option<String>,
    /// Number of reserved huge pages.
    pub hugepages: Option<u64>,
    /// The clock source behind `clock_gettime`.
    pub clock_source: Option<String>,
    /// Total memory of the machine.
    pub memory_bytes: Option<u64>,
}

impl Machine {
    /// Reads all properties.
    pub fn read() -> Self {
        system::machine()
    }
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
    fn load_and_pressure_are_read() {
        let load = LoadAverage::parse("0.52 1.25 2.00 1/234 5678\n").unwrap();
        assert_eq!((load.one, load.five, load.fifteen), (0.52, 1.25, 2.0));
        let text = "some avg10=1.50 avg60=0.20 avg300=0.10 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(CpuPressure::parse(text), Some(CpuPressure { some_10s_percent: 1.5, some_total_us: 123 }));
        assert!(LoadAverage::parse("busy").is_none() && CpuPressure::parse("").is_none());
    }

    #[test]
    fn steal_is_a_share_of_all_time() {
        let text = "cpu  10 0 10 60 10 0 0 10 5 0\ncpu0 1 0 0 9 0 0 0 0 0 0\ncpu10 7 0 0 0 0 0 0 0 0 0\n";
        let all = CpuTicks::parse(text, None).unwrap();
        assert_eq!(all, CpuTicks { total: 100, idle: 70, steal: Some(10), interrupts: 0 });
        assert!((all.steal_share().unwrap() - 0.1).abs() < 1e-9 && (all.busy_share() - 0.2).abs() < 1e-9);
        assert_eq!(CpuTicks::parse(text, Some(0)).unwrap().total, 10);
        assert_eq!(CpuTicks::parse(text, Some(1)), None);
        assert_eq!(all.since(all).busy_share(), 0.0);
    }

    #[test]
    fn what_no_task_used_is_idle_or_an_interrupt() {
        let one = CpuTicks::parse("cpu0 30 0 10 20 5 3 7 25 0 0\n", Some(0)).unwrap();
        assert_eq!((one.total, one.interrupts, one.unused_ns()), (100, 10, (20 + 5 + 3 + 7) * clock_tick_ns()));
        assert_eq!(one.plus(one).unused_ns(), 2 * one.unused_ns());
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
        assert!(Machine::read().kernel.is_some() && LoadAverage::read().is_ok() && CpuTicks::read(None).is_ok());
    }
}
