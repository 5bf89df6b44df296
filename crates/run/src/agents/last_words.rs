//! What ssh, kubectl or an agent wrote last to its standard error. It is read all the time: a full pipe would stop its writer.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// How many bytes are kept.
const KEPT: usize = 4096;
/// A pipe may stay open after its writer has ended, in the hands of a program that it started. Its last words are waited
/// for no longer than this.
const PATIENCE: Duration = Duration::from_secs(1);

/// The end of what comes from a pipe, which a thread reads.
#[derive(Debug)]
pub(crate) struct LastWords {
    kept: Arc<Mutex<VecDeque<u8>>>,
    /// Nothing comes from it. It ends with the pipe.
    ended: Receiver<()>,
}

impl LastWords {
    /// Reads `pipe` from now on.
    ///
    /// # Errors
    /// Without a thread to spare.
    pub(crate) fn of(pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let (end, ended) = channel();
        let keep = Arc::clone(&kept);
        Builder::new().name("last-words".to_owned()).spawn(move || {
            read_all(pipe, &keep);
            drop(end);
        })?;
        Ok(Self { kept, ended })
    }

    /// The text, once the pipe has ended.
    pub(crate) fn text(&self) -> String {
        let _ = self.ended.recv_timeout(PATIENCE);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}

fn read_all(mut pipe: impl Read, kept: &Mutex<VecDeque<u8>>) {
    let mut part = [0; KEPT];
    loop {
        match pipe.read(&mut part) {
            Ok(0) => return,
            Ok(length) => {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&part[..length]);
                let surplus = kept.len().saturating_sub(KEPT);
                kept.drain(..surplus);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// The last line that says something.
pub(crate) fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_much_text_is_kept() {
        let text = "debug1: so it goes\n".repeat(20_000) + "Connection closed\n \n";
        let last = LastWords::of(io::Cursor::new(text.clone())).unwrap().text();
        assert_eq!(last.len(), KEPT);
        assert!(text.ends_with(&last));
        assert_eq!(last_line(&last), Some("Connection closed"));
        assert_eq!(last_line(" \n"), None);
    }
}
