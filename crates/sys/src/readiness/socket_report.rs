//! What the kernel reports of one socket, in the terms of all selectors.

/// One report. A selector with edges reports each change once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Readiness {
    /// The number under which the socket is watched.
    pub key: u64,
    /// The socket may accept bytes, or its connect has ended.
    pub is_writable: bool,
    /// The socket may have bytes, new connections, its end or an error.
    pub is_readable: bool,
    /// The peer has ended the stream, or the socket has failed. Only another read can return that.
    pub is_ending: bool,
}

/// The two kinds of a kqueue's reports. It reports what can be read and what can be written separately.
#[cfg(any(target_os = "macos", test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Read,
    Write,
}

#[cfg(any(target_os = "macos", test))]
impl Readiness {
    /// The meaning of a kqueue's report. Only a socket whose connect has ended can be read. So what can be read may also
    /// be written to: bytes may be reported before the end of the connect. A needless attempt to write only fails.
    pub(super) const fn of_filter(key: u64, filter: Filter, has_ended: bool) -> Self {
        let is_readable = has_ended || matches!(filter, Filter::Read);
        Self { key, is_writable: true, is_readable, is_ending: has_ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u64 = 7 << 32 | 3;

    #[test]
    fn a_socket_that_can_be_written_to_is_not_read() {
        let expected = Readiness { key: KEY, is_writable: true, is_readable: false, is_ending: false };
        assert_eq!(Readiness::of_filter(KEY, Filter::Write, false), expected);
    }

    #[test]
    fn bytes_also_say_that_the_connect_has_ended() {
        let expected = Readiness { key: KEY, is_writable: true, is_readable: true, is_ending: false };
        assert_eq!(Readiness::of_filter(KEY, Filter::Read, false), expected);
    }

    #[test]
    fn an_end_is_read_whichever_filter_reports_it() {
        let expected = Readiness { key: KEY, is_writable: true, is_readable: true, is_ending: true };
        assert_eq!(Readiness::of_filter(KEY, Filter::Read, true), expected);
        assert_eq!(Readiness::of_filter(KEY, Filter::Write, true), expected);
    }
}
