//! The machine on macOS: sysctl, and the kernel's counters of its processors.

use std::ptr;
use std::sync::OnceLock;

use tare_units::CpuSet;

use super::{CpuPressure, CpuTicks, LoadAverage, Machine};
use crate::procfs::{ProcfsError, sysctl};

pub(super) fn load_average() -> Result<LoadAverage, ProcfsError> {
    let mut loads = [0.0; 3];
    // SAFETY: the call fills at most the array.
    match unsafe { libc::getloadavg(loads.as_mut_ptr(), 3) } {
        3 => Ok(LoadAverage { one: loads[0], five: loads[1], fifteen: loads[2] }),
        _ => Err(ProcfsError::Unavailable { what: "the load average" }),
    }
}

pub(super) const fn cpu_pressure() -> Result<CpuPressure, ProcfsError> {
    Err(ProcfsError::Unavailable { what: "CPU pressure" })
}

pub(super) fn ticks(cpu: Option<usize>) -> Result<CpuTicks, ProcfsError> {
    let all = all_ticks()?;
    let of_one = |cpu: usize| all.get(cpu).copied();
    let found = cpu.map_or_else(|| all.iter().copied().reduce(CpuTicks::plus), of_one);
    found.ok_or(ProcfsError::Unavailable { what: "the use of this CPU" })
}

pub(super) fn ticks_of(cpus: &CpuSet) -> Result<CpuTicks, ProcfsError> {
    let all = all_ticks()?;
    let sum = cpus.iter().map(|cpu| all.get(cpu).copied()).reduce(|a, b| Some(a?.plus(b?))).flatten();
    sum.ok_or(ProcfsError::Unavailable { what: "the use of these CPUs" })
}

/// The ticks of each CPU. Interrupts count for the task that they interrupt.
#[expect(deprecated, reason = "another crate would be needed only for three functions")]
fn all_ticks() -> Result<Vec<CpuTicks>, ProcfsError> {
    const STATES: usize = libc::CPU_STATE_MAX as usize;
    static HOST: OnceLock<libc::mach_port_t> = OnceLock::new();
    // SAFETY: the call takes nothing. Each call would add a reference to the port, so it is made once.
    let host = *HOST.get_or_init(|| unsafe { libc::mach_host_self() });
    let (mut count, mut length) = (0, 0);
    let mut numbers: libc::processor_info_array_t = ptr::null_mut();
    let flavor = libc::PROCESSOR_CPU_LOAD_INFO;
    // SAFETY: the kernel writes two numbers and the address of an array to this stack. It made the array for this process,
    // which frees it after copying it.
    unsafe {
        let failed = libc::host_processor_info(host, flavor, &raw mut count, &raw mut numbers, &raw mut length);
        if failed != libc::KERN_SUCCESS || numbers.is_null() {
            return Err(ProcfsError::Unavailable { what: "the use of CPUs" });
        }
        let copy = std::slice::from_raw_parts(numbers, length as usize).to_vec();
        libc::vm_deallocate(libc::mach_task_self(), numbers.addr(), size_of_val(copy.as_slice()));
        Ok(copy.chunks_exact(STATES).map(ticks_of_states).collect())
    }
}

fn ticks_of_states(states: &[libc::integer_t]) -> CpuTicks {
    // The kernel counts in 32 bits without sign.
    let at = |state: libc::c_int| states.get(state as usize).map_or(0, |ticks| u64::from(ticks.cast_unsigned()));
    let idle = at(libc::CPU_STATE_IDLE);
    let busy = at(libc::CPU_STATE_USER) + at(libc::CPU_STATE_SYSTEM) + at(libc::CPU_STATE_NICE);
    CpuTicks { total: busy + idle, idle, steal: None, interrupts: 0 }
}

pub(super) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

pub(super) fn machine() -> Machine {
    Machine {
        cpu_model: sysctl::text(c"machdep.cpu.brand_string"),
        kernel: sysctl::text(c"kern.osrelease").map(|release| format!("Darwin {release}")),
        memory_bytes: sysctl::number(c"hw.memsize"),
        ..Machine::default()
    }
}
