//! The machine on Linux: files under `/proc` and `/sys`.

use std::fs;

use tare_units::CpuSet;

use super::{CpuPressure, CpuTicks, LoadAverage, Machine, bracketed_word, cpu_model, memory_bytes};
use crate::procfs::ProcfsError;
use crate::procfs::files::read_as;

pub(super) fn load_average() -> Result<LoadAverage, ProcfsError> {
    read_as("/proc/loadavg", LoadAverage::parse)
}

pub(super) fn cpu_pressure() -> Result<CpuPressure, ProcfsError> {
    read_as("/proc/pressure/cpu", CpuPressure::parse)
}

pub(super) fn ticks(cpu: Option<usize>) -> Result<CpuTicks, ProcfsError> {
    read_as("/proc/stat", |text| CpuTicks::parse(text, cpu))
}

/// The file is read once for all of them.
pub(super) fn ticks_of(cpus: &CpuSet) -> Result<CpuTicks, ProcfsError> {
    read_as("/proc/stat", |text| {
        cpus.iter().map(|cpu| CpuTicks::parse(text, Some(cpu))).reduce(|a, b| Some(a?.plus(b?)))?
    })
}

pub(super) fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

pub(super) fn machine() -> Machine {
    let line = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    Machine {
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
