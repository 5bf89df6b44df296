//! Samplers, attached from outside to a server that runs: async-profiler to a JVM, `perf` to anything else. What the stacks
//! say is `tare-profile`'s; that nothing scored runs meanwhile, `tare-run`'s.

mod async_profiler;
mod library;
mod perf;
mod tool;

use std::fs;
use std::path::{Path, PathBuf};

use tare_plan::profile::ProfileEvent;
use tare_record::profile::Weight;
use tare_sys::procfs::process;

use crate::SutError;

/// A sampler at work.
#[derive(Debug)]
pub struct Sampling(Kind);

#[derive(Debug)]
enum Kind {
    Jvm(async_profiler::JvmRecording),
    Native(perf::PerfRecording),
}

/// What a sampler saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Who sampled, and how.
    pub sampler: String,
    /// What the weights of the stacks are.
    pub weight: Weight,
    /// Collapsed stacks.
    pub stacks: String,
    /// The sampler's own file.
    pub file: PathBuf,
}

impl Sampling {
    /// Attaches a sampler to the server whose root process is `pid`. Its own file will be called `name`, with an ending that
    /// tells whose it is.
    ///
    /// # Errors
    /// When the sampler cannot be had, the server refuses it, or it cannot count that event.
    pub fn begin(pid: u32, event: ProfileEvent, folder: &Path, name: &str) -> Result<Self, SutError> {
        let tree = process::process_tree(pid)?;
        match tree.iter().find(|&&pid| is_jvm(pid)) {
            Some(&jvm) => {
                let file = folder.join(format!("{name}.jfr"));
                async_profiler::JvmRecording::begin(jvm, event, &file).map(|recording| Self(Kind::Jvm(recording)))
            }
            None => {
                let file = folder.join(format!("{name}.perf"));
                perf::PerfRecording::begin(&tree, event, &file).map(|recording| Self(Kind::Native(recording)))
            }
        }
    }

    /// Stops it and reads what it saw.
    ///
    /// # Errors
    /// When the server has died meanwhile, or the sampler's file cannot be read.
    pub fn end(self) -> Result<Sampled, SutError> {
        match self.0 {
            Kind::Jvm(recording) => recording.end(),
            Kind::Native(recording) => recording.end(),
        }
    }
}

/// A process is a JVM when it has a JVM's library in its memory.
fn is_jvm(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("/libjvm.so"))
}
