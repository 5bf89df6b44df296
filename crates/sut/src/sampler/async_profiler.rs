//! async-profiler in a JVM: attached by its own program, started and stopped; its recording becomes collapsed stacks.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_plan::profile::ProfileEvent;
use tare_record::profile::Weight;
use tare_sys::child::Program;

use super::Sampled;
use super::library::{FindJar, Library, VERSION};
use crate::jdk::Jdk;
use crate::probe::jvm::is_jvm;
use crate::{SutError, tool};

/// Longest time of an attach. A saturated JVM answers late, a stopped one never.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time of a conversion. A recording of minutes takes seconds.
const CONVERT_TIMEOUT: Duration = Duration::from_secs(180);
const MS: u64 = 1_000_000;
/// CPU time between two samples.
const CPU_EVERY_NS: u64 = MS;
/// Time between two samples of all threads.
const WALL_EVERY_NS: u64 = 5 * MS;
/// Allocated bytes between two samples.
const ALLOC_EVERY_KIB: u64 = 32;
const CONVERTER_JAVA: u32 = 17;

#[derive(Debug)]
pub struct JvmRecording {
    library: Library,
    pid: u32,
    event: ProfileEvent,
    engine: &'static str,
    file: PathBuf,
    cancelled: Arc<AtomicBool>,
}

impl JvmRecording {
    /// Attaches to the JVM and starts to record into `file`.
    pub fn begin(
        pid: u32,
        event: ProfileEvent,
        file: &Path,
        jar: FindJar<'_>,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Self, SutError> {
        check_folder(file)?;
        let library = Library::of(jar()?)?;
        let start = |engine| {
            let (library, file, cancelled) = (library.clone(), file.to_owned(), Arc::clone(cancelled));
            let recording = Self { library, pid, event, engine, file, cancelled };
            recording.start().map(|_| recording)
        };
        // The kernel may refuse the best way to sample CPU time. Its reason is the one to remedy.
        let others: &[&'static str] = if event == ProfileEvent::Cpu { &["ctimer", "itimer"] } else { &[] };
        start(event.name()).or_else(|refused| others.iter().find_map(|&engine| start(engine).ok()).ok_or(refused))
    }

    fn start(&self) -> Result<String, SutError> {
        let every = match self.event {
            ProfileEvent::Cpu => Some(("-i", format!("{CPU_EVERY_NS}ns"))),
            ProfileEvent::Wall => Some(("-i", format!("{WALL_EVERY_NS}ns"))),
            ProfileEvent::Alloc => Some(("--alloc", format!("{ALLOC_EVERY_KIB}k"))),
            ProfileEvent::Lock => None,
        };
        let mut arguments = vec!["start", "-e", self.engine];
        arguments.extend(every.iter().flat_map(|(option, value)| [*option, value.as_str()]));
        let remedy =
            "a JVM with -XX:+DisableAttachMechanism, of another user or in another container cannot be profiled";
        self.asprof(&arguments, "attach async-profiler", remedy)
    }

    pub fn stop_and_read(self) -> Result<Sampled, SutError> {
        let remedy = if is_jvm(self.pid) { "try again" } else { "the server ended under the profiler: see its log" };
        self.asprof(&["stop"], "stop async-profiler", remedy)?;
        let stacks = self.collapse()?;
        let samples = |every_ns| Weight::Samples { every_ns };
        let (how, weight) = match self.event {
            ProfileEvent::Cpu => (format!("every {} ms of CPU time", CPU_EVERY_NS / MS), samples(CPU_EVERY_NS)),
            ProfileEvent::Wall => (format!("every {} ms of time", WALL_EVERY_NS / MS), samples(WALL_EVERY_NS)),
            ProfileEvent::Alloc => (format!("every {ALLOC_EVERY_KIB} KiB of heap"), Weight::Bytes),
            ProfileEvent::Lock => ("each wait for a lock".to_owned(), Weight::Ns),
        };
        let recording = fs::read(&self.file).map_err(SutError::file("read the recording", &self.file))?;
        let engine = if is_of_ctimer(&recording) { "ctimer" } else { self.engine };
        let sampler = format!("async-profiler {VERSION}, {engine}, {how}");
        Ok(Sampled { sampler, weight, stacks, file: self.file })
    }

    fn asprof(&self, arguments: &[&str], doing: &str, remedy: &str) -> Result<String, SutError> {
        let (library, pid) = (self.library.library.display().to_string(), self.pid.to_string());
        let of_all = ["--libpath", &library, "-o", "jfr", "-f", &file_pattern(&self.file), &pid];
        let program = Program::new(&self.library.asprof).args(arguments.iter().chain(&of_all));
        tool::run(program, ATTACH_TIMEOUT, &self.cancelled, doing, remedy)
    }

    fn collapse(&self) -> Result<String, SutError> {
        let text = self.file.with_extension("converted");
        let [jar, file, to] = [&self.library.jar, &self.file, &text].map(|path| path.display().to_string());
        let event = format!("--{}", self.event.name());
        let options = ["one.convert.Main", "--dot", "--norm", "--total", "-o", "collapsed"];
        let arguments = ["-cp", &jar].into_iter().chain(options).chain([&*event, &file, &to]);
        let java = Jdk::find_suitable(CONVERTER_JAVA, None)?.java_program();
        let doing = format!("read the recording {}", self.file.display());
        let remedy = "it is damaged or was cut short; profile again";
        tool::run(Program::new(java).args(arguments), CONVERT_TIMEOUT, &self.cancelled, &doing, remedy)?;
        let stacks = fs::read_to_string(&text).map_err(SutError::file("read the stacks in", &text))?;
        // The recording stays on disk. The record keeps the stacks.
        let _ = fs::remove_file(&text);
        Ok(if matches!(self.event, ProfileEvent::Alloc | ProfileEvent::Lock) { mark_classes(&stacks) } else { stacks })
    }
}

/// Whether async-profiler took this engine, which sees nothing of the kernel, because it may not open the kernel's
/// events. A setting is name and value, each as encoding (3), length, bytes (async-profiler 4.5, flightRecorder.cpp).
fn is_of_ctimer(recording: &[u8]) -> bool {
    const SETTING: &[u8] = b"engine\x03\x06ctimer";
    recording.windows(SETTING.len()).any(|bytes| bytes == SETTING)
}

/// Whether async-profiler can record into a folder; the name of a file has nothing that it could not read.
pub fn check_folder(folder: &Path) -> Result<(), SutError> {
    let doing = || format!("record into {}", folder.display());
    let said = "async-profiler takes a comma for the end of the name";
    let refused = || SutError::sampler(doing(), said, "choose another folder with --dir");
    if file_pattern(folder).contains(',') { Err(refused()) } else { Ok(()) }
}

/// A path as async-profiler reads it in the server, whose working directory is another: a percent sign begins a placeholder.
fn file_pattern(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.display().to_string().replace('%', "%%")
}

/// The innermost frame of an allocation or a lock is the class of the object, and is marked like code.
fn mark_classes(stacks: &str) -> String {
    let of_line = |line: &str| {
        let (names, weight) = line.rsplit_once(' ')?;
        let bare = ["_[i]", "_[k]", "_[j]"].iter().find_map(|mark| names.strip_suffix(mark)).unwrap_or(names);
        Some(format!("{bare}_[c] {weight}\n"))
    };
    stacks.lines().map(|line| of_line(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_is_no_pattern() {
        assert_eq!(file_pattern(Path::new("/runs/a%20%28again%29.jfr")), "/runs/a%%20%%28again%%29.jfr");
        assert!(file_pattern(Path::new("a.jfr")).starts_with('/'));
    }

    #[test]
    fn a_folder_whose_name_has_a_comma_is_refused() {
        let file = Path::new("/with, comma/a.jfr");
        let begun = JvmRecording::begin(0, ProfileEvent::Cpu, file, &|| unreachable!(), &Arc::default());
        let error = begun.unwrap_err().to_string();
        assert!(error.contains("/with, comma/a.jfr") && error.ends_with("choose another folder with --dir"), "{error}");
    }

    #[test]
    fn a_recording_tells_which_engine_made_it() {
        assert!(is_of_ctimer(b"FLR\0..\x03\x06engine\x03\x06ctimer\x03\x06cstack\x03\x02vm"));
        assert!(!is_of_ctimer(b"FLR\0..\x03\x06engine\x03\x04perf\x03\x05event\x03\x03cpu") && !is_of_ctimer(b""));
    }

    #[test]
    fn the_class_of_an_allocated_object_is_no_code() {
        let text = "a.B.c_[j];byte[]_[i] 32\na.B.c_[j];byte[]_[k] 64\nbroken\n";
        assert_eq!(mark_classes(text), "a.B.c_[j];byte[]_[c] 32\na.B.c_[j];byte[]_[c] 64\nbroken\n");
    }

    #[test]
    fn an_invalid_recording_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jfr");
        fs::write(&file, "no recording").unwrap();
        let library = Library { jar: "none.jar".into(), asprof: "none".into(), library: "none.so".into() };
        let (event, cancelled) = (ProfileEvent::Cpu, Arc::default());
        let recording = JvmRecording { library, pid: 0, event, engine: "cpu", file, cancelled };
        let error = recording.collapse().unwrap_err().to_string();
        assert!(error.contains("a.jfr") && error.contains("profile again") || error.contains("JDK"), "{error}");
    }
}
