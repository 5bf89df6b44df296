//! Reads from a pipe, and gives up when nothing has come for a while.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Reads from a pipe. A silence that is longer than the timeout is an error of kind `TimedOut`.
#[derive(Debug)]
pub struct TimeoutReader<R> {
    pipe: R,
    /// Of the next read.
    next: Duration,
    timeout: Duration,
}

impl<R> TimeoutReader<R> {
    /// Waits so long for the first byte, and so long for each read after it. `pipe` must not read ahead.
    pub const fn new(pipe: R, first: Duration, timeout: Duration) -> Self {
        Self { pipe, next: first, timeout }
    }
}

impl<R: Read + AsFd> Read for TimeoutReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let timeout = Timespec::try_from(self.next).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut waited = [PollFd::new(&self.pipe, PollFlags::IN)];
        if poll(&mut waited, Some(&timeout))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.next = self.timeout;
        self.pipe.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn bytes_and_the_end_are_passed_on_and_silence_is_a_timeout() {
        let (pipe, mut writer) = io::pipe().unwrap();
        let mut reader = TimeoutReader::new(pipe, Duration::from_millis(1), Duration::from_millis(1));
        assert_eq!(reader.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::TimedOut);
        writer.write_all(b"ab").unwrap();
        let mut bytes = [0; 9];
        assert_eq!((reader.read(&mut bytes).unwrap(), &bytes[..2]), (2, &b"ab"[..]));
        drop(writer);
        assert_eq!(reader.read(&mut bytes).unwrap(), 0);
    }

    #[test]
    fn the_first_byte_has_a_timeout_of_its_own() {
        let (pipe, mut writer) = io::pipe().unwrap();
        let mut reader = TimeoutReader::new(pipe, Duration::from_millis(1), Duration::from_secs(60));
        assert_eq!(reader.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::TimedOut);
        writer.write_all(b"a").unwrap();
        assert_eq!(reader.read(&mut [0]).unwrap(), 1);
        assert_eq!(reader.next, Duration::from_secs(60));
    }
}
