//! The stops of a JVM, from its own log of safepoints, a line each, in `System.nanoTime`: `CLOCK_MONOTONIC` on Linux.
//! HotSpot, JDK 17 to 25, with every collector:
//! `[14578012227692ns][31238] Safepoint "G1CollectForAllocation", Time since last: …, Total: 9237047 ns, …`.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tare_record::IdleSpan;
use tare_sys::clock;
use tare_sys::procfs::process;
use tempfile::TempDir;

use super::JvmProbe;
use super::attach::diagnostic_command;

/// The environment variable from which the `java` command of JDK 9 and later takes options. An older one ignores it, and
/// would not start with an option that it does not know.
pub const VARIABLE: &str = "JDK_JAVA_OPTIONS";

/// The most bytes of a log that are read at a time: more stops than a JVM makes in a minute.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The option that makes each JVM log its safepoints into `folder`; `None` where the folder's name has a character that the
/// option cannot hold, or no file can be made there: with such an option a JVM does not start.
pub fn jvm_option(folder: &Path) -> Option<String> {
    let name = folder.to_str().filter(|name| !name.contains([':', '"', '\'', '%', '\\', '\n']))?;
    tempfile::tempfile_in(folder).ok()?;
    Some(format!("\"-Xlog:safepoint:file={name}/%p.safepoints:timenanos,pid:filecount=0\""))
}

/// The beginning of the names of folders for the logs of running JVMs. The process that asked for the log follows.
const ASKED_FOLDER: &str = "tare-stops-";

#[derive(Debug)]
pub struct StopLog {
    /// Where a running JVM was asked for it.
    _asked: Option<AskedLog>,
    file: File,
    pid: u32,
    read: u64,
    /// Whether it had something that is not understood: from then on nothing is known.
    is_broken: bool,
    last_end_ns: u64,
}

impl StopLog {
    /// The log of a process; `None` if that is no JVM that writes one.
    pub fn find(folder: &Path, pid: u32) -> Option<Self> {
        let log = Self::open(&folder.join(format!("{pid}.safepoints")), pid)?;
        (!log.was_turned_off() && process::has_our_clock(pid)).then_some(log)
    }

    /// Whether another option turned it off, as `-Xlog:disable` does: it is empty after several stops.
    fn was_turned_off(&self) -> bool {
        let counters = JvmProbe::find_counters(self.pid).and_then(|jvm| jvm.take_sample());
        let had_stops = counters.and_then(|sample| sample.so_far.safepoints).is_some_and(|stops| stops > 1);
        had_stops && self.file.metadata().is_ok_and(|about| about.len() == 0)
    }

    /// Asks a JVM that runs already for a log, from now until this value is dropped. What a killed tare has asked for is turned off.
    pub fn ask(pid: u32) -> Result<Self, String> {
        if !process::has_our_clock(pid) {
            return Err("its clock is another one, as that of a JVM which was restored from a checkpoint".to_owned());
        }
        for forgotten in forgotten_outputs(&diagnostic_command(pid, "VM.log list")?) {
            let _ = diagnostic_command(pid, &turn_off(forgotten));
            let folder = forgotten.strip_prefix("file=").and_then(|file| Path::new(file).parent());
            if let Some(folder) = folder.filter(|folder| folder.parent() == Some(Path::new("/tmp"))) {
                // It is still there if that tare was killed between the JVM's first line and its own look.
                let _ = fs::remove_file(folder.join(format!("{pid}.safepoints")));
                let _ = fs::remove_dir(folder);
            }
        }
        let failed = |error: std::io::Error| format!("there is no folder for its log ({error})");
        let prefix = format!("{ASKED_FOLDER}{}-", std::process::id());
        // A JVM has no other folder for sure in common with this process.
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in("/tmp").map_err(failed)?;
        if let Some(user) = process::user_of(pid) {
            std::os::unix::fs::chown(folder.path(), Some(user), None).map_err(failed)?;
        }
        let path = folder.path().join(format!("{pid}.safepoints"));
        let output = format!("file={}", path.display());
        let asked = AskedLog { pid, turn_off: turn_off(&output), _folder: folder };
        let turn_on = "what=safepoint decorators=timenanos,pid output_options=filecount=0";
        let said = diagnostic_command(pid, &format!("VM.log output={output} {turn_on}"))?;
        let log = Self::open(&path, pid).ok_or_else(|| format!("it writes no log: \"{}\"", said.trim()))?;
        Ok(Self { _asked: Some(asked), ..log })
    }

    fn open(path: &PathBuf, pid: u32) -> Option<Self> {
        let file = File::open(path).ok()?;
        // Both sides have it open, so its name is no longer needed.
        let _ = fs::remove_file(path);
        Some(Self { _asked: None, file, pid, read: 0, is_broken: false, last_end_ns: 0 })
    }

    /// The stops that ended since the last call; `None` where the log was cut, is another process's, or not understood.
    pub fn take_stops(&mut self) -> Option<Vec<IdleSpan>> {
        let stops = self.read_new_lines().filter(|_| !self.is_broken);
        self.is_broken |= stops.is_none();
        stops
    }

    fn read_new_lines(&mut self) -> Option<Vec<IdleSpan>> {
        let new = self.file.metadata().ok()?.len().checked_sub(self.read).filter(|new| *new <= MOST_BYTES)?;
        let mut bytes = vec![0; new as usize];
        self.file.read_exact_at(&mut bytes, self.read).ok()?;
        // The JVM may be about to write the rest of the last line.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        self.read += whole as u64;
        let text = std::str::from_utf8(&bytes[..whole]).ok()?;
        let now_ns = clock::now().0;
        // A stop that ends in the future, or before the one before it, is told by another clock than this process has.
        let mut last_ns = self.last_end_ns;
        let stop = |line: &str| {
            let stop = parse_line(line, self.pid).filter(|stop| (last_ns..=now_ns).contains(&stop.end_ns))?;
            last_ns = stop.end_ns;
            Some(stop)
        };
        let stops = text.lines().map(stop).collect();
        self.last_end_ns = last_ns;
        stops
    }
}

/// A log for which a running JVM was asked. The JVM closes it when this is dropped.
#[derive(Debug)]
struct AskedLog {
    pid: u32,
    turn_off: String,
    _folder: TempDir,
}

impl Drop for AskedLog {
    fn drop(&mut self) {
        // A JVM that has ended has nothing to turn off.
        let _ = diagnostic_command(self.pid, &self.turn_off);
    }
}

fn turn_off(output: &str) -> String {
    format!("VM.log output={output} what=all=off")
}

/// The outputs in a JVM's list for which a process asked that is gone: `#2: file=/tmp/tare-stops-77-x/5.safepoints all=off,…`.
fn forgotten_outputs(list: &str) -> impl Iterator<Item = &str> {
    let outputs = list.lines().filter_map(|line| line.split_once(": ")?.1.split(' ').next());
    outputs.filter(|output| {
        let asked_by = output.split_once(ASKED_FOLDER).and_then(|(_, rest)| rest.split('-').next()?.parse().ok());
        asked_by.is_some_and(|pid: u32| !process::exists(pid))
    })
}

/// The stop of one line; `None` for a line of another form or process.
fn parse_line(line: &str, pid: u32) -> Option<IdleSpan> {
    let (time, rest) = line.strip_prefix('[')?.split_once("ns]")?;
    let (logged_by, rest) = rest.strip_prefix('[')?.split_once(']')?;
    let total = rest.trim_start().strip_prefix("Safepoint \"")?.split_once("Total:")?.1;
    let total_ns: u64 = total.split_once("ns")?.0.trim().parse().ok()?;
    let end_ns: u64 = time.trim().parse().ok()?;
    (logged_by.trim().parse() == Ok(pid)).then_some(())?;
    Some(IdleSpan { begin_ns: end_ns.checked_sub(total_ns)?, end_ns })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::probe::jvm::hsperf;

    const JDK_25: &str = "[2000ns][31] Safepoint \"G1CollectForAllocation\", Time since last: 41371865 ns, Reaching safepoint: \
                          15 ns, At safepoint: 700 ns, Leaving safepoint: 4 ns, Total: 719 ns, Threads: 0 runnable, 10 total\n";
    const JDK_17: &str = "[9000ns][31] Safepoint \"ZMarkStart\", Time since last: 6 ns, Reaching safepoint: 1 ns, At safepoint: 2 \
                          ns, Total: 3 ns\n";

    fn log(folder: &Path, text: &str) -> StopLog {
        fs::write(folder.join("31.safepoints"), text).unwrap();
        StopLog::find(folder, 31).unwrap()
    }

    #[test]
    fn each_stop_is_told_once_and_half_a_line_waits_for_its_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("31.safepoints");
        let (half, rest) = JDK_17.split_at(40);
        fs::write(&path, [JDK_25, half].concat()).unwrap();
        let mut jvm = File::options().append(true).open(&path).unwrap();
        let mut log = StopLog::find(folder.path(), 31).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing stays behind");
        assert_eq!(log.take_stops(), Some(vec![IdleSpan { begin_ns: 1_281, end_ns: 2_000 }]));
        assert_eq!(log.take_stops(), Some(Vec::new()));
        jvm.write_all(rest.as_bytes()).unwrap();
        assert_eq!(log.take_stops(), Some(vec![IdleSpan { begin_ns: 8_997, end_ns: 9_000 }]));
    }

    #[test]
    fn a_log_that_another_option_turned_off_does_not_pass_for_one_without_stops() {
        // No process has this number.
        let pid: u32 = (1 << 22) + 7;
        let folder = tempfile::Builder::new().prefix("hsperfdata_").tempdir().unwrap();
        for (stops, text, is_log) in [(5, "", false), (5, JDK_25, true), (1, "", true)] {
            fs::write(folder.path().join(pid.to_string()), hsperf::tests::file(&[("sun.rt.safepoints", stops)]))
                .unwrap();
            fs::write(folder.path().join(format!("{pid}.safepoints")), text).unwrap();
            assert_eq!(StopLog::find(folder.path(), pid).is_some(), is_log, "{stops} {text}");
        }
    }

    #[test]
    fn a_log_of_another_process_or_form_tells_nothing_from_then_on() {
        for wrong in [
            JDK_25.replace("[31]", "[32]"),
            JDK_25.replace("2000ns", "700ns"),
            JDK_25.replace("Total", "Sum"),
            "[0.1s][info][safepoint] Entering safepoint region: Cleanup\n".to_owned(),
            "\u{fffd}\n".to_owned(),
            // A clock that jumped back, and one that is ahead.
            JDK_25.replace("2000ns", "1999ns"),
            JDK_25.replace("2000ns", "9000000000000000000ns"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut log = log(folder.path(), &[JDK_25, &wrong].concat());
            assert_eq!((log.take_stops(), log.take_stops()), (None, None), "{wrong}");
        }
    }

    #[test]
    fn a_log_that_was_cut_tells_nothing_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("31.safepoints");
        fs::write(&path, JDK_25).unwrap();
        let writer = File::options().write(true).open(&path).unwrap();
        let mut log = StopLog::find(folder.path(), 31).unwrap();
        assert!(log.take_stops().is_some());
        writer.set_len(0).unwrap();
        assert_eq!(log.take_stops(), None);
        writer.set_len(JDK_25.len() as u64).unwrap();
        assert_eq!(log.take_stops(), None, "what happened meanwhile is not known");
    }

    #[test]
    fn only_what_a_process_asked_for_that_is_gone_is_forgotten() {
        let (gone, lives) = ((1 << 22) + 1, std::process::id());
        let list = format!(
            "Available log levels: off, trace\nLog output configuration:\n #0: stdout all=warning uptime,level,tags\n \
             #2: file=/tmp/tare-stops-{gone}-a1/5.safepoints all=off,safepoint=info timenanos,pid filecount=0\n \
             #3: file=/tmp/tare-stops-{lives}-b2/5.safepoints all=off,safepoint=info timenanos,pid\n #4: file=/var/log/gc.log all=off\n"
        );
        let forgotten: Vec<&str> = forgotten_outputs(&list).collect();
        assert_eq!(forgotten, [format!("file=/tmp/tare-stops-{gone}-a1/5.safepoints")]);
        assert_eq!(forgotten_outputs("").count(), 0);
    }

    #[test]
    fn a_process_that_is_no_jvm_is_not_asked() {
        assert!(StopLog::ask(std::process::id()).unwrap_err().contains("it takes no commands"));
    }

    #[test]
    fn a_folder_that_the_option_cannot_name_or_a_jvm_cannot_use_gets_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(jvm_option(folder.path()).unwrap().contains("/%p.safepoints:timenanos,pid"));
        let colon = folder.path().join("a:b");
        fs::create_dir(&colon).unwrap();
        assert_eq!(jvm_option(&colon), None);
        assert_eq!(jvm_option(&folder.path().join("is not there")), None);
    }
}
