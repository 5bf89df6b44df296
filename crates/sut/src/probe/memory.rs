//! Memory of a server's processes, each read separately: the high-water mark of `RUSAGE_CHILDREN` would mix them.

use tare_sys::procfs::process::{Memory, resident_of_mapping};

/// The sum over these processes, for example those of a [`super::cpu::CpuProbe`]. Pages that processes share count in each of
/// them, and each may have had its peak at another time. Those that have ended do not count; `None` if all have.
pub fn memory_of_processes(processes: impl IntoIterator<Item = u32>) -> Option<Memory> {
    let living = processes.into_iter().filter_map(|pid| Memory::of_process(pid).ok());
    // A zombie has no memory.
    living.filter(|memory| memory.rss_bytes > 0).reduce(|sum, one| Memory {
        rss_bytes: sum.rss_bytes + one.rss_bytes,
        peak_rss_bytes: sum.peak_rss_bytes + one.peak_rss_bytes,
    })
}

/// Resident memory outside the heap, the mapping of its committed size; `None` without one: it may consist of several.
pub fn off_heap_bytes(pid: u32, heap_committed_bytes: u64) -> Option<u64> {
    let heap = resident_of_mapping(pid, heap_committed_bytes)?;
    Memory::of_process(pid).ok()?.rss_bytes.checked_sub(heap)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn our_own_memory_is_there_and_no_higher_than_its_peak() {
        let sample = memory_of_processes([std::process::id()]).unwrap();
        assert!(sample.rss_bytes > 0 && sample.rss_bytes <= sample.peak_rss_bytes);
    }

    #[test]
    fn the_memory_of_a_server_that_has_ended_is_unknown_and_no_zero() {
        let mut ended = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
        // The kernel takes its memory before it closes its files.
        std::io::copy(&mut ended.stdout.take().unwrap(), &mut std::io::sink()).unwrap();
        assert_eq!(memory_of_processes([ended.id()]), None, "nobody has asked how it ended");
        ended.wait().unwrap();
        assert_eq!(memory_of_processes([ended.id()]), None);
    }
}
