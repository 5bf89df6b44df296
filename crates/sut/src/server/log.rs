//! A server's output: always read, written to a file of limited size, with the last lines in memory and a ready line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use regex::Regex;
use tare_sys::threads;
use tempfile::TempDir;

use crate::SutError;

/// The file keeps this much of the output's begin …
const HEAD_BYTES: usize = 1 << 20;
/// … and this much of its end, in bytes.
const TAIL_BYTES: usize = 1 << 20;
/// Lines that are kept for messages and events.
const LAST_LINES: usize = 20;
/// Longer lines are split here, so that output without line ends is limited too.
const LINE_BYTES: usize = 4096;
/// How long the end of the output is waited for. A process that cannot be killed keeps it open.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A folder for the logs of a server outside of a run, `tare-verify-Xq3kfW` in the folder for temporary files. Its name cannot
/// be guessed, so that no other user's link is in its place. It is removed when the value is dropped, unless it is kept.
pub fn temporary_logs(command: &str) -> Result<TempDir, SutError> {
    let made = tempfile::Builder::new().prefix(&format!("tare-{command}-")).tempdir();
    made.map_err(SutError::file("make a folder for logs in", std::env::temp_dir()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadyLine {
    /// The port, if the pattern has a group of that name.
    pub(super) port: Option<u16>,
}

#[derive(Debug)]
pub(super) struct Log(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    path: PathBuf,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    /// What has come of the next line.
    begun: String,
    ready: Option<ReadyLine>,
    is_closed: bool,
}

impl Log {
    /// Starts to copy `output` into the file at `path`, until it ends.
    pub(super) fn start(output: File, path: &Path, ready: Option<Regex>) -> std::io::Result<Self> {
        let writer = BoundedWriter { file: File::create(path)?, written: 0, tail: VecDeque::new(), left_out: 0 };
        let shared = Arc::new(Shared { path: path.to_owned(), ..Shared::default() });
        let drain = Drain { shared: Arc::clone(&shared), ready, line: Vec::new(), writer };
        threads::spawn("server-log", move || drain.run(output))?;
        Ok(Self(shared))
    }

    /// The last lines, oldest first.
    pub(super) fn tail(&self) -> Vec<String> {
        self.0.lock().lines.iter().cloned().collect()
    }

    /// The last lines, as the end of a message.
    pub(super) fn end(&self) -> String {
        let begun = Some(self.0.lock().begun.clone()).filter(|begun| !begun.is_empty());
        let lines = self.tail().into_iter().chain(begun);
        let lines: String = lines.map(|line| format!("\n  | {line}")).collect();
        if lines.is_empty() {
            "it wrote nothing".to_owned()
        } else {
            format!("the end of its log ({}):{lines}", self.0.path.display())
        }
    }

    /// The ready line. Waits for it at most this long.
    pub(super) fn ready(&self, timeout: Duration) -> Option<ReadyLine> {
        self.0.wait_while(timeout, |state| state.ready.is_none()).ready
    }

    /// Waits until every process of the server has ended and the file is complete, for at most [`END_TIMEOUT`].
    pub(super) fn finish(&self) {
        self.wait_for_end(END_TIMEOUT);
    }

    fn wait_for_end(&self, timeout: Duration) -> bool {
        self.0.wait_while(timeout, |state| !state.is_closed).is_closed
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, timeout: Duration, condition: impl FnMut(&mut State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.lock(), timeout, condition);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The thread that reads. It must not stop before the end, because a full pipe would block the server.
struct Drain {
    shared: Arc<Shared>,
    ready: Option<Regex>,
    line: Vec<u8>,
    writer: BoundedWriter,
}

impl Drain {
    fn run(mut self, mut output: File) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match output.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => self.take(&buffer[..got]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.end_line();
        self.writer.finish();
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }

    fn take(&mut self, bytes: &[u8]) {
        self.writer.write(bytes);
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let room = LINE_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
        // A line without an end may be the last that is known of a server that is not ready.
        self.shared.lock().begun = String::from_utf8_lossy(&self.line).trim_end().to_owned();
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(&self.line).trim_end().to_owned();
        self.line.clear();
        let found = self.ready.as_ref().and_then(|pattern| ready_line(pattern, &text));
        let mut state = self.shared.lock();
        if state.lines.len() == LAST_LINES {
            state.lines.pop_front();
        }
        state.lines.push_back(text);
        if found.is_some() {
            state.ready = found;
            // Only the first match counts.
            self.ready = None;
            self.shared.changed.notify_all();
        }
    }
}

fn ready_line(pattern: &Regex, line: &str) -> Option<ReadyLine> {
    let found = pattern.captures(line)?;
    Some(ReadyLine { port: found.name("port").and_then(|port| port.as_str().parse().ok()) })
}

/// Writes the start of its input to a file, keeps the end, and counts the bytes between.
#[derive(Debug)]
struct BoundedWriter {
    file: File,
    written: usize,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl BoundedWriter {
    fn write(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.written));
        self.written += head.len();
        // A full disk loses the log but does not stop the run. The last lines stay in memory.
        let _full_disk = self.file.write_all(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
        self.left_out += excess as u64;
    }

    fn finish(&mut self) {
        if self.left_out > 0 {
            let _full_disk = write!(self.file, "\n… {} bytes left out …\n", self.left_out);
        }
        let _full_disk = self.file.write_all(self.tail.make_contiguous());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(input: &[u8], pattern: Option<&str>) -> (String, Vec<String>, Option<ReadyLine>) {
        let directory = tempfile::tempdir().unwrap();
        let (source, path) = (directory.path().join("in"), directory.path().join("log"));
        std::fs::write(&source, input).unwrap();
        let pattern = pattern.map(|pattern| Regex::new(pattern).unwrap());
        let log = Log::start(File::open(source).unwrap(), &path, pattern).unwrap();
        log.finish();
        (std::fs::read_to_string(path).unwrap(), log.tail(), log.ready(Duration::ZERO))
    }

    #[test]
    fn the_name_of_a_folder_for_logs_cannot_be_guessed() {
        let (one, other) = (temporary_logs("verify").unwrap(), temporary_logs("verify").unwrap());
        assert_ne!(one.path(), other.path());
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists() && other.path().exists());
    }

    #[test]
    fn all_of_a_short_log_is_kept_with_its_last_lines() {
        let (file, tail, ready) = log_of(b"a\nb\nc\nd", None);
        assert_eq!(
            (file.as_str(), tail, ready),
            ("a\nb\nc\nd", ["a", "b", "c", "d"].map(str::to_owned).to_vec(), None)
        );
    }

    #[test]
    fn the_first_ready_line_counts_and_tells_the_port() {
        let (_, _, ready) = log_of(b"listening on 81\nlistening on 82\n", Some("listening on (?<port>[0-9]+)"));
        assert_eq!(ready, Some(ReadyLine { port: Some(81) }));
        assert_eq!(log_of(b"up\n", Some("^up$")).2, Some(ReadyLine { port: None }));
    }

    #[test]
    fn output_that_a_process_keeps_open_is_not_waited_for_without_end() {
        let (output, mut server) = std::io::pipe().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        let output = File::from(std::os::fd::OwnedFd::from(output));
        let log = Log::start(output, file.path(), Some(Regex::new("up").unwrap())).unwrap();
        server.write_all(b"up\n").unwrap();
        assert!(log.ready(Duration::from_secs(20)).is_some() && !log.wait_for_end(Duration::from_millis(20)));
        assert_eq!(log.tail(), ["up"]);
        drop(server);
        assert!(log.wait_for_end(Duration::from_secs(20)));
    }

    #[test]
    fn a_flood_keeps_its_beginning_and_its_end() {
        let flood = [b"first\n".to_vec(), vec![b'x'; 3 << 20], b"\nlast\n".to_vec()].concat();
        let (file, tail, _) = log_of(&flood, None);
        assert!(file.len() < HEAD_BYTES + TAIL_BYTES + 100 && file.contains("bytes left out"));
        assert!(file.starts_with("first\n") && file.ends_with("\nlast\n"));
        assert_eq!((tail[1].len(), tail[2].as_str()), (LINE_BYTES, "last"));
    }
}
