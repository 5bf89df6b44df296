//! Samplers, attached to a running server: async-profiler for a JVM, `perf` for any other program. `tare-profile`
//! interprets the stacks, and `tare-run` makes sure that nothing is scored meanwhile.

mod async_profiler;
mod library;
mod perf;
mod tool;

use std::path::{Path, PathBuf};

use tare_plan::profile::ProfileEvent;
use tare_record::profile::Weight;
use tare_sys::procfs::process;

use crate::SutError;
use crate::probe::jvm::is_jvm;

pub(crate) use tool::run as run_tool;

pub use library::{JarSource, async_profiler_jar, cache_folder, fetched_async_profiler};

#[derive(Debug)]
pub struct Sampling(Kind);

#[derive(Debug)]
enum Kind {
    Jvm(async_profiler::JvmRecording),
    Native(perf::PerfRecording),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    pub sampler: String,
    /// The unit of the stacks' weights.
    pub weight: Weight,
    pub stacks: String,
    /// The sampler's own file.
    pub file: PathBuf,
}

impl Sampling {
    /// Attaches a sampler to the server with root process `pid`. The sampler's own file gets `name` and an ending for
    /// the sampler. For a JVM, async-profiler comes from `jar`.
    pub fn begin(pid: u32, event: ProfileEvent, folder: &Path, name: &str, jar: &JarSource) -> Result<Self, SutError> {
        let tree = process::process_tree(pid)?;
        match tree.iter().find(|&&pid| is_jvm(pid)) {
            Some(&jvm) => {
                let file = folder.join(format!("{name}.jfr"));
                async_profiler::JvmRecording::begin(jvm, event, &file, jar).map(|recording| Self(Kind::Jvm(recording)))
            }
            None => {
                let file = folder.join(format!("{name}.perf"));
                perf::PerfRecording::begin(&tree, event, &file).map(|recording| Self(Kind::Native(recording)))
            }
        }
    }

    pub fn stop_and_read(self) -> Result<Sampled, SutError> {
        match self.0 {
            Kind::Jvm(recording) => recording.stop_and_read(),
            Kind::Native(recording) => recording.stop_and_read(),
        }
    }
}
