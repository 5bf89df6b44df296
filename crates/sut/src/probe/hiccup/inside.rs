//! The file to which our agent in a JVM (`probes/jvm/src/tare/probes/Hiccups.java`) writes its delays. All words have 8
//! bytes, little endian: `MAGIC`, the number of the requested recording (0: none), that of the running one, its number
//! of delays; then each delay's deadline on the monotonic clock, and its lateness.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use tare_sys::clock::Nanos;

use super::Delay;

const MAGIC: u64 = u64::from_le_bytes(*b"tarehic1");
const WORD: usize = 8;
const DELAY: usize = 2 * WORD;
/// Positions of the words in the head.
const WANTED: u64 = 8;
const HEAD: usize = 4 * WORD;

/// The environment variable in which every JVM looks for options.
pub const VARIABLE: &str = "JAVA_TOOL_OPTIONS";

/// The value of [`VARIABLE`] that makes JVMs start with the meter of `agent` and put its file into `folder`.
pub fn jvm_option(agent: &Path, folder: &Path) -> String {
    // Nothing escapes a quote. A JVM with one that is not closed does not start.
    let option = format!("-javaagent:{}={}", agent.display(), folder.display()).replace('\'', "'\"'\"'");
    format!("'{option}'")
}

#[derive(Debug)]
pub struct JvmMeter {
    file: File,
    recording: u64,
}

impl JvmMeter {
    /// The meter of a process; `None` if that is no JVM that was started with it.
    pub fn find(folder: &Path, pid: u32) -> Option<Self> {
        let path = folder.join(format!("{pid}.hiccups"));
        let file = File::options().read(true).write(true).open(&path).ok()?;
        let meter = Self { file, recording: 0 };
        let is_ours = meter.read_head()?[0] == MAGIC;
        // Both sides have it open, so its name is no longer needed.
        let _ = fs::remove_file(path);
        is_ours.then_some(meter)
    }

    /// Asks it to measure from now on. It starts within some milliseconds.
    pub fn start_recording(&mut self) {
        self.recording += 1;
        self.request_recording(self.recording);
    }

    /// Asks it to stop. Returns the delays since [`start_recording`](Self::start_recording), or none if it did not start.
    pub fn finish_recording(&mut self) -> Vec<Delay> {
        let delays = self.read_delays().unwrap_or_default();
        self.request_recording(0);
        delays
    }

    fn request_recording(&self, recording: u64) {
        // A JVM that has just ended does not read it.
        let _ = self.file.write_all_at(&recording.to_le_bytes(), WANTED);
    }

    fn read_delays(&self) -> Option<Vec<Delay>> {
        let [_, _, recording, count] = self.read_head()?;
        if recording != self.recording {
            return None;
        }
        let length = usize::try_from(count).ok()?.checked_mul(DELAY)?;
        // The server writes the count, so it may be wrong. The file cannot hold more bytes than its length.
        if length as u64 > self.file.metadata().ok()?.len() {
            return None;
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, HEAD as u64).ok()?;
        let delay = |words: &[u64]| Delay { due: Nanos(words[0]), late_ns: words[1] };
        Some(to_words(&bytes).chunks_exact(2).map(delay).collect())
    }

    fn read_head(&self) -> Option<[u64; 4]> {
        let mut bytes = [0; HEAD];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        to_words(&bytes).try_into().ok()
    }
}

fn to_words(bytes: &[u8]) -> Vec<u64> {
    let (whole, _) = bytes.as_chunks::<WORD>();
    whole.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent_writes(folder: &Path, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(folder.join("7.hiccups"), bytes).unwrap();
    }

    #[test]
    fn the_delays_of_the_recording_that_was_wanted_are_read() {
        let folder = tempfile::tempdir().unwrap();
        agent_writes(folder.path(), &[MAGIC, 0, 1, 2, 1_000_000, 5, 2_000_000, 9, 77]);
        let mut meter = JvmMeter::find(folder.path(), 7).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing stays behind");
        meter.start_recording();
        assert_eq!(meter.read_head().unwrap()[1], 1, "the agent is asked to record");
        let delay = |due, late_ns| Delay { due: Nanos(due), late_ns };
        assert_eq!(meter.finish_recording(), [delay(1_000_000, 5), delay(2_000_000, 9)]);
        assert_eq!(meter.read_head().unwrap()[1], 0, "the agent may rest");
        meter.start_recording();
        assert_eq!(
            meter.finish_recording(),
            [],
            "an agent that has not followed yet has seen nothing of this recording"
        );
    }

    #[test]
    fn what_is_not_such_a_file_or_claims_too_much_gives_nothing() {
        let folder = tempfile::tempdir().unwrap();
        agent_writes(folder.path(), &[1, 2, 3, 4]);
        assert!(JvmMeter::find(folder.path(), 7).is_none());
        agent_writes(folder.path(), &[MAGIC]);
        assert!(JvmMeter::find(folder.path(), 7).is_none());
        for count in [5, u64::MAX] {
            agent_writes(folder.path(), &[MAGIC, 0, 1, count, 1, 1]);
            let mut meter = JvmMeter::find(folder.path(), 7).unwrap();
            meter.start_recording();
            assert_eq!(meter.finish_recording(), []);
        }
    }

    #[test]
    fn the_option_names_agent_and_folder() {
        let option = jvm_option(Path::new("/p/a.jar"), Path::new("/with a blank/b"));
        assert_eq!(option, "'-javaagent:/p/a.jar=/with a blank/b'");
        let quoted = jvm_option(Path::new("/a.jar"), Path::new("/o'neil"));
        assert_eq!(quoted, "'-javaagent:/a.jar=/o'\"'\"'neil'", "as in a shell, quotes may follow each other");
    }

    #[test]
    fn a_count_of_more_delays_than_the_file_holds_is_none() {
        let folder = tempfile::tempdir().unwrap();
        agent_writes(folder.path(), &[MAGIC, 0, 1, 1 << 44, 1_000_000, 5]);
        let mut meter = JvmMeter::find(folder.path(), 7).unwrap();
        meter.start_recording();
        assert_eq!(meter.finish_recording(), []);
    }
}
