//! The end of what ssh, kubectl or an agent writes to a pipe. A thread reads it all: a full pipe would block them.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tare_sys::threads;

/// As many bytes of errors as a message needs, and bytes of one read.
pub(crate) const ERROR_BYTES: usize = 4096;
/// How long to wait for the end of the pipe. A program that the process started may keep it open after the process has ended.
const END_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct PipeTail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Carries no values. It disconnects when the pipe ends.
    ended: Receiver<()>,
}

impl PipeTail {
    pub(crate) fn collect(pipe: impl Read + Send + 'static, kept_bytes: usize) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (end, ended) = channel();
        let keep = Arc::clone(&kept);
        threads::spawn("pipe-tail", move || {
            read_all(pipe, kept_bytes, &keep);
            drop(end);
        })?;
        Ok(Self { kept, ended })
    }

    /// Waits for the end of the pipe, for at most [`END_TIMEOUT`], and returns the text.
    pub(crate) fn text(&self) -> String {
        let _ = self.ended.recv_timeout(END_TIMEOUT);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}

fn read_all(mut pipe: impl Read, kept_bytes: usize, kept: &Mutex<VecDeque<u8>>) {
    let mut part = [0; ERROR_BYTES];
    loop {
        match pipe.read(&mut part) {
            Ok(0) => return,
            Ok(length) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&part[..length]);
                let surplus = kept.len().saturating_sub(kept_bytes);
                kept.drain(..surplus);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The last line that is not blank.
pub(crate) fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_much_text_is_kept() {
        let text = "debug1: so it goes\n".repeat(20_000) + "Connection closed\n \n";
        let last = PipeTail::collect(io::Cursor::new(text.clone()), ERROR_BYTES).unwrap().text();
        assert_eq!(last.len(), ERROR_BYTES);
        assert!(text.ends_with(&last));
        assert_eq!(last_line(&last), Some("Connection closed"));
        assert_eq!(last_line(" \n"), None);
    }
}
