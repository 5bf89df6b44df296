//! Memory of a server's processes, each read for itself: `RUSAGE_CHILDREN`'s high-water mark would mix them.

use tare_sys::procfs::process::{Memory, process_tree, resident_of_mapping};

use crate::SutError;

/// Memory and threads of a whole process tree at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemorySample {
    /// What is resident now, pages shared between processes counted in each.
    pub rss_bytes: u64,
    /// The sum of each process's own peak; exact for a server of one process.
    pub peak_rss_bytes: u64,
    /// Threads.
    pub threads: u32,
}

impl MemorySample {
    /// Reads the memory of a process and all its descendants, which it finds by a walk through all processes.
    ///
    /// # Errors
    /// When the root process is gone.
    pub fn of_tree(root: u32) -> Result<Self, SutError> {
        Memory::of_process(root)?;
        Ok(Self::of(process_tree(root)?))
    }

    /// Reads the memory of these processes, such as a [`super::cpu::CpuProbe`] knows; what has ended holds nothing.
    pub fn of(processes: impl IntoIterator<Item = u32>) -> Self {
        let living = processes.into_iter().filter_map(|pid| Memory::of_process(pid).ok());
        living.fold(Self::default(), |sum, one| Self {
            rss_bytes: sum.rss_bytes + one.rss_bytes,
            peak_rss_bytes: sum.peak_rss_bytes + one.peak_rss_bytes,
            threads: sum.threads + one.threads,
        })
    }
}

/// What is resident of a process beside its heap, whose committed size tells it from the other mappings. `None` where it
/// has no mapping of that size: a heap that is allowed to grow may lie in several.
pub fn off_heap_bytes(pid: u32, heap_committed_bytes: u64) -> Option<u64> {
    let heap = resident_of_mapping(pid, heap_committed_bytes).ok()??;
    Memory::of_process(pid).ok()?.rss_bytes.checked_sub(heap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_memory_is_there_and_no_higher_than_its_peak() {
        let sample = MemorySample::of_tree(std::process::id()).unwrap();
        assert!(sample.rss_bytes > 0 && sample.rss_bytes <= sample.peak_rss_bytes && sample.threads > 0);
    }
}
