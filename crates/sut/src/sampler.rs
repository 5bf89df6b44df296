//! Samplers, attached to a running server: async-profiler for a JVM, `perf` for any other program. `tare-profile`
//! interprets the stacks, and `tare-run` makes sure that nothing is scored meanwhile.

mod async_profiler;
mod library;
mod perf;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_plan::profile::ProfileEvent;
use tare_record::profile::Weight;
use tare_sys::procfs::tree::process_tree;

use crate::SutError;
use crate::probe::jvm::is_jvm;
use async_profiler::JvmRecording;
pub use async_profiler::check_folder;
use perf::PerfRecording;

pub use library::{FindJar, async_profiler_jar, cache_folder, present_jar};

/// Detaches a sampler and reads what it saw. One that is dropped instead ends without a result.
pub type EndSampling = Box<dyn FnOnce() -> Result<Sampled, SutError>>;

#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    pub sampler: String,
    /// The unit of the stacks' weights.
    pub weight: Weight,
    pub stacks: String,
    /// The sampler's own file.
    pub file: PathBuf,
}

/// Attaches a sampler to the server with root process `pid`. Its own file gets `name` and an ending. async-profiler
/// comes from `jar`. `cancelled` ends what takes long: a download, and the reading of what was recorded.
pub fn begin_sampling(
    pid: u32,
    event: ProfileEvent,
    folder: &Path,
    name: &str,
    jar: FindJar<'_>,
    cancelled: &Arc<AtomicBool>,
) -> Result<EndSampling, SutError> {
    let tree = process_tree(pid)?;
    let jvms: Vec<u32> = tree.iter().copied().filter(|pid| is_jvm(*pid)).collect();
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    Ok(match only_jvm(&jvms)? {
        Some(jvm) => {
            let recording = JvmRecording::begin(jvm, event, &file("jfr"), jar, cancelled)?;
            Box::new(|| recording.stop_and_read())
        }
        None => {
            let recording = PerfRecording::begin(&tree, event, &file("perf"), cancelled)?;
            Box::new(|| recording.stop_and_read())
        }
    })
}

/// The JVM among the processes of a server, if there is one. Of several, one may do nothing but start the server.
fn only_jvm(jvms: &[u32]) -> Result<Option<u32>, SutError> {
    match jvms {
        [] => Ok(None),
        [jvm] => Ok(Some(*jvm)),
        several => {
            let said = format!("it has several JVMs: {several:?}");
            let remedy = "let its command be the server's own JVM, and not a tool that starts it";
            Err(SutError::sampler("choose what to profile", said, remedy))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_jvms_is_not_profiled_for_all() {
        assert_eq!(only_jvm(&[]).unwrap(), None);
        assert_eq!(only_jvm(&[7]).unwrap(), Some(7));
        let error = only_jvm(&[7, 8]).unwrap_err().to_string();
        assert!(error.starts_with("cannot choose what to profile: it has several JVMs: [7, 8]; "), "{error}");
    }
}
