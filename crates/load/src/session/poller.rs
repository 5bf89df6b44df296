//! Which poller a session uses: the requested one, or one that the kernel allows.

use std::fmt;

use tare_sys::uring;

use crate::error::LoadError;

tare_units::named_values! {
    /// Which poller a session should use.
    #[derive(Default)]
    pub enum PollerChoice: "a poller" {
        /// io_uring if the kernel allows it, else the poller on readiness.
        #[default]
        Auto = "auto",
        /// io_uring. Without it, opening the session fails.
        Uring = "uring",
        /// The poller on readiness, epoll.
        Readiness = "epoll",
    }
}

/// How events are received from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollerKind {
    /// epoll(7): reports which sockets are ready.
    Readiness,
    /// io_uring(7): reports which operations have completed.
    Uring,
}

/// The poller of a session, and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollerInUse {
    pub kind: PollerKind,
    /// A line for the user, if a better poller was not available.
    pub notice: Option<String>,
}

impl PollerChoice {
    /// The poller that is available on this machine.
    pub fn choose_available(self) -> Result<PollerInUse, LoadError> {
        self.choose_given(uring::why_unavailable)
    }

    fn choose_given(self, why_unavailable: impl Fn() -> Option<String>) -> Result<PollerInUse, LoadError> {
        let in_use = |kind, notice| Ok(PollerInUse { kind, notice });
        if self == Self::Readiness {
            return in_use(PollerKind::Readiness, None);
        }
        match why_unavailable() {
            None => in_use(PollerKind::Uring, None),
            Some(reason) if self == Self::Uring => {
                let what = format!("io_uring cannot be used: {reason}");
                Err(LoadError::unavailable(what, "choose the poller \"auto\" or \"epoll\""))
            }
            Some(reason) => in_use(
                PollerKind::Readiness,
                Some(format!("io_uring cannot be used ({reason}); epoll takes over, at a higher cost per request")),
            ),
        }
    }
}

impl fmt::Display for PollerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Readiness => "epoll",
            Self::Uring => "io_uring",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(choice: PollerChoice, obstacle: Option<&str>) -> Result<PollerInUse, String> {
        choice.choose_given(|| obstacle.map(str::to_owned)).map_err(|error| error.to_string())
    }

    #[test]
    fn io_uring_is_used_where_it_can_be() {
        let uring = PollerInUse { kind: PollerKind::Uring, notice: None };
        assert_eq!(chosen(PollerChoice::Auto, None), Ok(uring.clone()));
        assert_eq!(chosen(PollerChoice::Uring, None), Ok(uring));
    }

    #[test]
    fn readiness_takes_over_with_a_line_of_notice() {
        let PollerInUse { kind, notice } = chosen(PollerChoice::Auto, Some("it is forbidden")).unwrap();
        assert_eq!(kind, PollerKind::Readiness);
        assert!(notice.is_some_and(|line| line.contains("it is forbidden") && !line.contains('\n')));
    }

    #[test]
    fn what_is_asked_for_is_used_or_refused() {
        let readiness = PollerInUse { kind: PollerKind::Readiness, notice: None };
        assert_eq!(chosen(PollerChoice::Readiness, Some("it is forbidden")), Ok(readiness));
        let refusal = chosen(PollerChoice::Uring, Some("it is forbidden")).unwrap_err();
        assert!(refusal.contains("it is forbidden") && refusal.contains("epoll"), "{refusal}");
    }

    #[test]
    fn names_are_read() {
        assert_eq!("auto".parse(), Ok(PollerChoice::Auto));
        assert_eq!("epoll".parse(), Ok(PollerChoice::Readiness));
        assert_eq!("uring".parse(), Ok(PollerChoice::Uring));
        assert!("select".parse::<PollerChoice>().unwrap_err().contains("write auto, uring or epoll"));
    }
}
