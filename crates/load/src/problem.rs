//! Why a request or a connection failed, with a remedy if this machine is the cause.

use std::io::{Error, ErrorKind};

use rustix::io::Errno;
use tare_sample::ErrorClass;
use tare_sys::poll::CloseCause;

/// Bytes of a server's text that an error's example quotes.
pub(crate) const EXAMPLE_BYTES: usize = 80;

/// What may explain that the server at `base` closes a connection on which it has said nothing.
pub(crate) fn may_speak_tls(base: &str) -> &'static str {
    match base.split_once("://") {
        Some(("http", _)) => "; if the server speaks TLS on this port, write https:// in the URL",
        Some(("ws", _)) => "; if the server speaks TLS on this port, write wss:// in the URL",
        _ => "",
    }
}

/// Why one request failed: the class, and a text. The report shows the first text of each class.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) class: ErrorClass,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }

    /// The problem of a connection to the server at `base` that was being opened and ended at this stage.
    pub(crate) fn of_failed_connect(stage: ErrorClass, cause: &CloseCause, base: &str) -> Self {
        let problem = Self::of_end(cause);
        if stage != ErrorClass::Upgrade {
            return problem;
        }
        let hint = if matches!(cause, CloseCause::EndOfStream) { may_speak_tls(base) } else { "" };
        Self::new(stage, format!("{}, during the WebSocket handshake{hint}", problem.text))
    }

    /// The problem when a connection ends and no answer explains it.
    pub(crate) fn of_end(cause: &CloseCause) -> Self {
        match cause {
            CloseCause::ConnectFailed(error) => {
                Self::new(ErrorClass::Connect, format!("{error}{}", remedy(error).unwrap_or_default()))
            }
            CloseCause::WriteFailed(error) => Self::new(ErrorClass::Write, error.to_string()),
            CloseCause::ReadFailed(error) => Self::new(ErrorClass::Read, error.to_string()),
            CloseCause::EndOfStream => Self::new(ErrorClass::Read, "connection closed"),
            CloseCause::TlsFailed(reason) => Self::new(ErrorClass::Tls, reason),
        }
    }

    /// The same, with this text where the server has closed it.
    pub(crate) fn of_end_within(cause: &CloseCause, text: &str) -> Self {
        match cause {
            CloseCause::EndOfStream => Self::new(ErrorClass::Read, text),
            cause => Self::of_end(cause),
        }
    }
}

/// The first bytes as printable ASCII. Text of a server is never shown unescaped.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(EXAMPLE_BYTES)];
    let ellipsis = if shown.len() < bytes.len() { "…" } else { "" };
    format!("{}{ellipsis}", shown.escape_ascii())
}

/// The remedy for a connect that this machine could not start.
fn remedy(error: &Error) -> Option<&'static str> {
    if error.kind() == ErrorKind::AddrNotAvailable {
        return Some(
            ": no local port is left, since each connection that is closed keeps its own for a minute; keep \
             connections alive, lower the rate, or set net.ipv4.tcp_tw_reuse=1 and widen net.ipv4.ip_local_port_range",
        );
    }
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE) => {
            Some(": raise the limit of open files (ulimit -n), or use fewer connections")
        }
        Some(Errno::NOENT) => Some(": there is no socket at this path; is the server running?"),
        Some(Errno::AGAIN) => Some(": its listener has no room for another connection; does the server accept any?"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_has_run_out_of_is_named_with_a_remedy() {
        for (errno, says) in [
            (Errno::ADDRNOTAVAIL, "no local port is left"),
            (Errno::MFILE, "ulimit -n"),
            (Errno::NOENT, "is the server running"),
            (Errno::AGAIN, "does the server accept any"),
        ] {
            let problem = Problem::of_end(&CloseCause::ConnectFailed(errno.into()));
            assert!(problem.class == ErrorClass::Connect && problem.text.contains(says), "{}", problem.text);
        }
    }
}
