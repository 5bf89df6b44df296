//! `perf` for a program other than a JVM: its stacks, as far as it has symbols.

use std::path::{Path, PathBuf};
use std::time::Duration;

use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};
use tare_plan::profile::ProfileEvent;
use tare_record::profile::Weight;
use tare_sys::child::{Child, How, Program};

use super::{Sampled, tool};
use crate::SutError;

/// Samples per second: a prime number below a thousand, so that no periodic event stays between two samples.
const PER_S: u64 = 997;
/// Fields of `perf script`. The period is left out, because it would count instead of the sample.
const FIELDS: &str = "comm,pid,tid,time,event,ip,sym,symoff,dso";
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
const READ_TIMEOUT: Duration = Duration::from_secs(180);
/// How soon `perf` reports that it is not permitted.
const REFUSAL: Duration = Duration::from_millis(300);
const REMEDY: &str = "install perf, and allow it with: sysctl kernel.perf_event_paranoid=1";

#[derive(Debug)]
pub(super) struct PerfRecording {
    child: Child,
    file: PathBuf,
}

fn perf_error(doing: &str, said: String) -> SutError {
    SutError::sampler(doing, said, REMEDY)
}

impl PerfRecording {
    /// Starts to record the CPU time of these processes and their descendants into `file`.
    pub fn begin(pids: &[u32], event: ProfileEvent, file: &Path) -> Result<Self, SutError> {
        if event != ProfileEvent::Cpu {
            let doing = format!("sample {} of a program that is no JVM", event.name());
            return Err(SutError::sampler(doing, "only a JVM has that", "use --event cpu"));
        }
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        let frequency = PER_S.to_string();
        let arguments = ["record", "-q", "-g", "-e", "cpu-clock", "-F", &frequency, "-p", &pids.join(","), "-o"];
        let program =
            Program::new("perf").args(arguments.iter().map(|word| (*word).into()).chain([file.as_os_str().to_owned()]));
        let doing = "attach perf";
        let mut child = Child::spawn(program).map_err(|error| perf_error(doing, error.to_string()))?;
        if let Some(how) = child.wait(REFUSAL) {
            return Err(perf_error(doing, format!("it ended at once ({how})")));
        }
        Ok(Self { child, file: file.to_owned() })
    }

    pub fn stop_and_read(mut self) -> Result<Sampled, SutError> {
        let ended = self.child.terminate(STOP_TIMEOUT).map_err(|error| perf_error("stop perf", error.to_string()))?;
        if ended.forced && ended.how == How::Signal(9) {
            return Err(perf_error("stop perf", "it had to be killed".to_owned()));
        }
        let arguments = ["script", "-F", FIELDS, "-i"].map(std::ffi::OsString::from);
        let arguments = arguments.into_iter().chain([self.file.clone().into_os_string()]);
        let doing = format!("read the recording {}", self.file.display());
        let script = tool::run(Program::new("perf").args(arguments), READ_TIMEOUT, &doing, "profile again")?;
        let sampler = format!("perf, cpu-clock, {PER_S} a second");
        let weight = Weight::Samples { every_ns: 1_000_000_000 / PER_S };
        Ok(Sampled { sampler, weight, stacks: collapse(&script)?, file: self.file })
    }
}

fn collapse(script: &str) -> Result<String, SutError> {
    let mut options = Options::default();
    options.annotate_kernel = true;
    let mut stacks = Vec::new();
    Folder::from(options)
        .collapse(script.as_bytes(), &mut stacks)
        .map_err(|error| perf_error("read the stacks of perf", error.to_string()))?;
    Ok(String::from_utf8_lossy(&stacks).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_perf_becomes_stacks_root_first() {
        let script = "s   628/628 13207.55: cpu-clock: \n\
            \t            112d spin+0x4 (/tmp/s)\n\t           2724a main+0x7a (/tmp/s)\n\n\
            s   628/628 13207.56: cpu-clock: \n\
            \t ffffffff81 do_idle+0x4 ([kernel.kallsyms])\n\t           2724a main+0x7a (/tmp/s)\n\n";
        assert_eq!(collapse(script).unwrap(), "s;main;do_idle_[k] 1\ns;main;spin 1\n");
    }

    #[test]
    fn what_only_a_jvm_tells_is_refused_in_words() {
        let error = PerfRecording::begin(&[1], ProfileEvent::Alloc, Path::new("x")).unwrap_err().to_string();
        assert!(error.contains("only a JVM has that; use --event cpu"), "{error}");
    }
}
