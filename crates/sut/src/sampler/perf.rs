//! `perf` for a program other than a JVM: its stacks, as far as it has symbols.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use inferno::collapse::Collapse;
use inferno::collapse::perf::{Folder, Options};
use tare_plan::profile::ProfileEvent;
use tare_record::profile::Weight;
use tare_sys::child::{Child, How, Program};

use super::Sampled;
use crate::{SutError, tool};

/// Samples per second: a prime number below a thousand, so that no periodic event stays between two samples.
const PER_S: u64 = 997;
/// CPU time of each thread, by a timer of the kernel: no machine lacks it.
const EVENT: &str = "cpu-clock";
/// Fields of `perf script`. The period is left out, because it would count instead of the sample.
const FIELDS: &str = "comm,pid,tid,time,event,ip,sym,symoff,dso";
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
const READ_TIMEOUT: Duration = Duration::from_secs(180);
/// How soon `perf` reports that it is not permitted.
const REFUSAL: Duration = Duration::from_millis(300);
/// How many bytes of its words an error quotes.
const LONGEST_WORDS: u64 = 600;
const REMEDY: &str = "install perf, and allow it with: sysctl kernel.perf_event_paranoid=1";
/// Said of samples of the user's code alone: what it lets the kernel do is in no stack.
const WITHOUT_KERNEL: &str = ", without the kernel, which needs kernel.perf_event_paranoid=1";

#[derive(Debug)]
pub struct PerfRecording {
    child: Child,
    file: PathBuf,
    cancelled: Arc<AtomicBool>,
}

fn perf_error(doing: &str, said: String) -> SutError {
    SutError::sampler(doing, said, REMEDY)
}

impl PerfRecording {
    /// Starts to record the CPU time of these processes and their descendants into `file`.
    pub fn begin(
        pids: &[u32],
        event: ProfileEvent,
        file: &Path,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Self, SutError> {
        if event != ProfileEvent::Cpu {
            let doing = format!("sample {} of a program that is no JVM", event.name());
            return Err(SutError::sampler(doing, "only a JVM has that", "use --event cpu"));
        }
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        let frequency = PER_S.to_string();
        let arguments = ["record", "-q", "-g", "-e", EVENT, "-F", &frequency, "-p", &pids.join(","), "-o"];
        let program =
            Program::new("perf").args(arguments.iter().map(|word| (*word).into()).chain([file.as_os_str().to_owned()]));
        let doing = "attach perf";
        let mut child = Child::spawn(program).map_err(|error| perf_error(doing, error.to_string()))?;
        if let Some(how) = child.wait(REFUSAL) {
            return Err(perf_error(doing, format!("it ended at once ({how}){}", last_words(&mut child))));
        }
        Ok(Self { child, file: file.to_owned(), cancelled: Arc::clone(cancelled) })
    }

    pub fn stop_and_read(mut self) -> Result<Sampled, SutError> {
        let ended = self.child.terminate(STOP_TIMEOUT).map_err(|error| perf_error("stop perf", error.to_string()))?;
        if ended.forced && ended.how == How::Signal(9) {
            return Err(perf_error("stop perf", "it had to be killed".to_owned()));
        }
        let (script, inlining) = read_script("perf".as_ref(), &self.file, &self.cancelled)?;
        let kernel = if has_kernel(&script) { "" } else { WITHOUT_KERNEL };
        let sampler = format!("perf, {EVENT}, {PER_S} a second{inlining}{kernel}");
        let weight = Weight::Samples { every_ns: 1_000_000_000 / PER_S };
        Ok(Sampled { sampler, weight, stacks: collapse(&script)?, file: self.file })
    }
}

/// What a program that has ended wrote, after a colon and on one line.
fn last_words(child: &mut Child) -> String {
    let mut said = Vec::new();
    // What it has left running, and may keep its output open, is ended first.
    if child.terminate(Duration::ZERO).is_ok()
        && let Some(output) = child.take_output()
    {
        let _up_to_there = output.take(LONGEST_WORDS).read_to_end(&mut said);
    }
    let said = String::from_utf8_lossy(&said);
    let words: Vec<&str> = said.split_whitespace().collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join(" ")) }
}

/// The samples as text, and what is to be said of them: many versions of perf take hours to look up inlined functions.
fn read_script(perf: &OsStr, file: &Path, cancelled: &AtomicBool) -> Result<(String, &'static str), SutError> {
    let doing = format!("read the recording {}", file.display());
    let read = |more: &[&str]| {
        let words = ["script", "-F", FIELDS].into_iter().chain(more.iter().copied()).chain(["-i"]);
        let arguments = words.map(OsString::from).chain([file.as_os_str().to_owned()]);
        tool::run(Program::new(perf).args(arguments), READ_TIMEOUT, cancelled, &doing, "profile again")
    };
    match read(&[]) {
        Ok(script) => Ok((script, "")),
        Err(refused) => Ok((read(&["--no-inline"]).map_err(|_| refused)?, ", without inlined functions")),
    }
}

/// Whether the kernel was sampled, too. Where that is not permitted, perf samples the user's code and adds `u` to the event.
fn has_kernel(script: &str) -> bool {
    let is_of_user = |line: &str| line.rsplit_once(EVENT).is_some_and(|(_, modifiers)| modifiers.starts_with(":u"));
    !script.lines().any(is_of_user)
}

fn collapse(script: &str) -> Result<String, SutError> {
    let mut options = Options::default();
    options.annotate_kernel = true;
    // Otherwise it is that of the first sample, and text without one is a panic.
    options.event_filter = Some(EVENT.to_owned());
    let mut stacks = Vec::new();
    Folder::from(options)
        .collapse(with_plain_names(script).as_bytes(), &mut stacks)
        .map_err(|error| perf_error("read the stacks of perf", error.to_string()))?;
    Ok(String::from_utf8_lossy(&stacks).into_owned())
}

/// The text of `perf script` with names of one word each. Its reader takes a blank for the end of a name, drops every frame of a
/// file with a blank in its path, and every function whose name begins with a parenthesis.
fn with_plain_names(script: &str) -> String {
    let mut plain = String::with_capacity(script.len());
    for line in script.lines() {
        let changed = if line.starts_with('\t') { plain_frame(line) } else { plain_head(line) };
        plain.push_str(changed.as_deref().unwrap_or(line));
        plain.push('\n');
    }
    plain
}

/// The head of a sample, `my thread 628/628 13207.55: cpu-clock:u: `; `None` for another line.
fn plain_head(line: &str) -> Option<String> {
    let (task, rest) = line.rsplit_once(EVENT)?;
    let (before, after) = task.rsplit_once('/')?;
    let (name, pid) = before.rsplit_once(' ')?;
    let _is_a_number: u32 = pid.parse().ok()?;
    // A semicolon would divide the name into two frames, and a line that begins with # would be a comment.
    let name = name.trim().replace(' ', "_").replace(';', ":");
    let mark = if name.is_empty() || name.starts_with('#') { "_" } else { "" };
    Some(format!("{mark}{name} {pid}/{after}{EVENT}{rest}"))
}

/// The reader of stacks looks at the last 17 bytes of a function, and would panic at half a character. It removes parameters.
const PARAMETERS: &str = "(its parameters)(_)";

/// A frame, `112d (anonymous namespace)::spin(int)+0x4 (/my dir/server (deleted))`; `None` for another line.
fn plain_frame(line: &str) -> Option<String> {
    let (address, rest) = line.trim().split_once(' ')?;
    // A path may hold anything. Other names of files have no blank.
    let file_at = rest.find(" (/").or_else(|| rest.rfind(" ("))?;
    let (symbol, file) = rest.split_at(file_at);
    let file = file.strip_prefix(" (")?.strip_suffix(')')?;
    let file = file.strip_suffix(" (deleted)").unwrap_or(file);
    // It is the kernel's file, but runs outside the kernel.
    let file = if file == "[vdso]" { "vdso".to_owned() } else { file.replace(' ', "_") };
    // The map of what a process compiled: its number is another one in each start.
    let is_map = |file: &str| file.starts_with("/tmp/perf-") && file.ends_with(".map");
    let file = if is_map(&file) { "/tmp/perf.map".to_owned() } else { file };
    let symbol = match symbol.strip_prefix('(') {
        Some(inner) => format!("{{{}", inner.replacen(')', "}", 1)),
        None => symbol.to_owned(),
    };
    let (function, offset) = symbol.split_at(symbol.rfind("+0x").unwrap_or(symbol.len()));
    let parameters = if function.is_ascii() { "" } else { PARAMETERS };
    Some(format!("\t{address} {function}{parameters}{offset} ({file})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::tests::write_program;

    #[test]
    fn the_text_of_perf_becomes_stacks_root_first() {
        let script = "s   628/628 13207.55: cpu-clock: \n\
            \t            112d spin+0x4 (/tmp/s)\n\t           2724a main+0x7a (/tmp/s)\n\n\
            s   628/628 13207.56: cpu-clock: \n\
            \t ffffffff81 do_idle+0x4 ([kernel.kallsyms])\n\t           2724a main+0x7a (/tmp/s)\n\n";
        assert_eq!(collapse(script).unwrap(), "s;main;do_idle_[k] 1\ns;main;spin 1\n");
    }

    #[test]
    fn names_with_blanks_and_signs_keep_their_samples_and_their_frames() {
        let script = "addr2line: no such file\n\n\
            #1 [a; b] 7 x:y   628/629 13207.55: cpu-clock:u: \n\
            \t            112d (anonymous namespace)::spin(int)+0x4 (/my dir/s)\n\
            \t            112d inner (inlined)\n\
            \t           2724a main+0x7a (/my dir/s (deleted))\n\n\
            s   628/628 13207.56: cpu-clock:u: \n\
            \t            7ffd __vdso_time+0x4 ([vdso])\n\t            33aa 处理请求处理请求+0x1a (/my dir/s)\n\
            \t           2724b main+0x7b (/my dir/s (deleted))\n\n";
        let expected = "_#1_[a:_b]_7_x:y;main;inner;{anonymous namespace}::spin 1\n\
            s;main;处理请求处理请求;__vdso_time 1\n";
        assert_eq!(collapse(script).unwrap(), expected);
        assert_eq!(collapse("addr2line: no such file\n\n").unwrap(), "", "no sample is no panic");
        let compiled = |pid: u32| {
            collapse(&format!("s {pid}/{pid} 1.5: cpu-clock:u: \n\t 7ffd [unknown] (/tmp/perf-{pid}.map)\n\n")).unwrap()
        };
        assert_eq!([compiled(7), compiled(8)], ["s;[perf.map] 1\n"; 2], "starts have one name for compiled code");
    }

    #[test]
    fn a_recording_whose_inlined_functions_cannot_be_looked_up_is_read_without_them() {
        let folder = tempfile::tempdir().unwrap();
        let perf = folder.path().join("perf");
        let write = |script: &str| write_program(&perf, &format!("#!/bin/sh\n{script}\n"));
        let read = || read_script(perf.as_os_str(), Path::new("x.perf"), &AtomicBool::new(false));
        write("case \"$*\" in *--no-inline*) echo read;; *) echo slow; exit 1;; esac");
        assert_eq!(read().unwrap(), ("read".to_owned(), ", without inlined functions"));
        write("echo read");
        assert_eq!(read().unwrap(), ("read".to_owned(), ""));
        write("echo damaged; exit 1");
        assert_eq!(read().unwrap_err().to_string(), "cannot read the recording x.perf: damaged; profile again");
    }

    #[test]
    fn samples_without_the_kernel_are_known_by_their_event() {
        let head = |event: &str| format!("s   628/628 13207.55: {event}: \n\t 112d spin+0x4 (/tmp/s)\n\n");
        assert!(has_kernel(&head("cpu-clock")) && has_kernel(&head("cpu-clock:ppp")));
        assert!(!has_kernel(&head("cpu-clock:u")) && !has_kernel(&head("cpu-clock:uH")));
    }

    #[test]
    fn what_only_a_jvm_tells_is_refused_in_words() {
        let refused = PerfRecording::begin(&[1], ProfileEvent::Alloc, Path::new("x"), &Arc::default());
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("only a JVM has that; use --event cpu"), "{error}");
    }
}
