//! Messages of a supervisor to tare over its pipe: fixed records, smaller than `PIPE_BUF`, so each is whole or absent.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    /// The program runs under this process id, as seen by tare.
    Started { pid: u32 },
    /// The program could not be started.
    Failed { step: u64, errno: i32 },
    /// The program has ended with this wait status.
    Exited { status: i32 },
    /// No process of its tree is left.
    Gone,
}

/// Three numbers, in this machine's byte order.
pub(super) type Record = [[u8; 8]; 3];

/// The step at which the child failed, as a number that fits a record.
pub(super) mod step {
    pub const DIRECTORY: u64 = 1;
    pub const AFFINITY: u64 = 2;
    pub const EXECUTE: u64 = 3;
    pub const SCHEDULING: u64 = 5;
    /// Forking, pipes and the rest.
    pub const PLUMBING: u64 = 4;
}

impl Message {
    /// The record of this message. It does not use the heap, because the supervisor calls it after a plain `clone`.
    pub(super) fn encode(self) -> Record {
        let words = match self {
            Self::Started { pid } => [1, u64::from(pid), 0],
            Self::Failed { step, errno } => [2, step, u64::from(errno.unsigned_abs())],
            Self::Exited { status } => [3, u64::from(status.cast_unsigned()), 0],
            Self::Gone => [4, 0, 0],
        };
        words.map(u64::to_ne_bytes)
    }

    /// The message of a record; `None` if it is not a valid one.
    pub(super) fn decode(record: Record) -> Option<Self> {
        Some(match record.map(u64::from_ne_bytes) {
            [1, pid, _] => Self::Started { pid: u32::try_from(pid).ok()? },
            [2, step, errno] => Self::Failed { step, errno: i32::try_from(errno).ok()? },
            [3, status, _] => Self::Exited { status: u32::try_from(status).ok()?.cast_signed() },
            [4, ..] => Self::Gone,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_survives_the_pipe() {
        for message in [
            Message::Started { pid: 4_194_304 },
            Message::Failed { step: step::EXECUTE, errno: 2 },
            Message::Exited { status: 0x8b },
            Message::Gone,
        ] {
            assert_eq!(Message::decode(message.encode()), Some(message));
        }
    }

    #[test]
    fn a_foreign_record_is_no_message() {
        assert_eq!(Message::decode([[0xff; 8]; 3]), None);
    }
}
