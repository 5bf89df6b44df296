//! Memory of a server's processes, each read separately: the high-water mark of `RUSAGE_CHILDREN` would mix them.

use tare_sys::procfs::process::{Memory, process_tree, resident_of_mapping};

use crate::SutError;

/// Memory and threads of a whole process tree at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySample {
    /// Resident memory now. Pages that processes share count in each of them.
    pub rss_bytes: u64,
    /// Sum of the peaks of all processes; exact for a server with one process. `None` where the kernel keeps none, as on
    /// macOS.
    pub peak_rss_bytes: Option<u64>,
    /// Threads.
    pub threads: u32,
}

impl MemorySample {
    /// Reads the memory of a process and all its descendants, which it finds by a search through all processes.
    ///
    /// # Errors
    /// When the root process is gone.
    pub fn of_process_tree(root: u32) -> Result<Self, SutError> {
        Memory::of_process(root)?;
        Ok(Self::of_processes(process_tree(root)?))
    }

    /// Reads the memory of these processes, for example those of a [`super::cpu::CpuProbe`]. Ended ones count as 0.
    pub fn of_processes(processes: impl IntoIterator<Item = u32>) -> Self {
        let living = processes.into_iter().filter_map(|pid| Memory::of_process(pid).ok());
        let none = Self { rss_bytes: 0, peak_rss_bytes: Some(0), threads: 0 };
        living.fold(none, |sum, one| Self {
            rss_bytes: sum.rss_bytes + one.rss_bytes,
            peak_rss_bytes: sum.peak_rss_bytes.zip(one.peak_rss_bytes).map(|(sum, one)| sum + one),
            threads: sum.threads + one.threads,
        })
    }
}

/// Resident memory of a process outside its heap. The heap is the mapping of its committed size. `None` without such a
/// mapping: a heap that may grow can consist of several.
pub fn off_heap_bytes(pid: u32, heap_committed_bytes: u64) -> Option<u64> {
    let heap = resident_of_mapping(pid, heap_committed_bytes).ok()??;
    Memory::of_process(pid).ok()?.rss_bytes.checked_sub(heap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_memory_is_there_and_no_higher_than_its_peak() {
        let sample = MemorySample::of_process_tree(std::process::id()).unwrap();
        assert!(sample.rss_bytes > 0 && Some(sample.rss_bytes) <= sample.peak_rss_bytes && sample.threads > 0);
    }
}
