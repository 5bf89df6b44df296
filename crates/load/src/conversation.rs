//! What is said on a WebSocket, and by whom: exchanges that the client begins, or messages that the server pushes.

use std::time::Duration;

/// How the two ends of a WebSocket talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// The client sends a message, and the next one that comes is its answer: echo, request and response. Closed and open
    /// loop, response and service times are those of HTTP. The body of a [`RequestSpec`](crate::RequestSpec) is the
    /// message, its checks are of the answer ([`Check::body_is`](crate::Check::body_is) for an echo; headers and status
    /// are those of no message), and the timeout of the session is the time to wait for it.
    Exchanges,
    /// The server sends messages on its own clock, and the client subscribes to them.
    Push(Push),
}

/// Messages that a server pushes.
///
/// A user of the closed loop subscribes by opening a WebSocket, and hangs up after its messages; a
/// [`StopRule::Count`](crate::StopRule::Count) counts subscriptions, and a
/// [`StopRule::Duration`](crate::StopRule::Duration) ends them all with the first message that was sent after it.
///
/// Each message is booked as an answered request whose intended start is when the server sent it: its response time is the
/// *push latency*. It has no service time. What else is known of it is in [`Messages`](crate::Messages). A subscription
/// that breaks off is one failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Push {
    /// Messages of a subscription; `u64::MAX` for as many as come.
    pub messages_per_user: u64,
    /// From one message to the next.
    pub period: Duration,
    /// Where a message says when it was sent.
    pub stamp: Stamp,
}

impl Push {
    /// Messages of a subscription, 0 where it is not known how many.
    pub(crate) const fn promised(&self) -> u64 {
        if self.messages_per_user == u64::MAX { 0 } else { self.messages_per_user }
    }
}

/// Where a message says when it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// In a number of 13, 16 or 19 digits: milli-, micro- or nanoseconds since 1970. The finest counts if there are
    /// several.
    #[default]
    Unix,
    /// Nowhere: there is jitter and no latency.
    None,
}

/// A stamp as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamped {
    pub(crate) unix_ns: u64,
    /// How fine it is.
    pub(crate) unit_ns: u64,
}

impl Stamp {
    /// The stamp of a message, if it has one.
    pub(crate) fn of(self, message: &[u8]) -> Option<Stamped> {
        if self == Self::None {
            return None;
        }
        let numbers = message.split(|byte| !byte.is_ascii_digit());
        numbers.filter_map(stamped).min_by_key(|stamped| stamped.unit_ns)
    }
}

fn stamped(digits: &[u8]) -> Option<Stamped> {
    let unit_ns: u64 = match digits.len() {
        13 => 1_000_000,
        16 => 1_000,
        19 => 1,
        _ => return None,
    };
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(Stamped { unix_ns: number.checked_mul(unit_ns)?, unit_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_the_finest_number_that_can_be_a_time() {
        for (message, stamp) in [
            ("1732200000123", Some((1_732_200_000_123_000_000, 1_000_000))),
            ("1732200000123456", Some((1_732_200_000_123_456_000, 1_000))),
            (r#"{"ms":1732200000123,"ns":1732200000123456789}"#, Some((1_732_200_000_123_456_789, 1))),
            ("12 apples", None),
            ("", None),
            ("9999999999999999999", Some((9_999_999_999_999_999_999, 1))),
            ("9999999999999999 x", Some((9_999_999_999_999_999_000, 1_000))),
        ] {
            let read = Stamp::Unix.of(message.as_bytes());
            assert_eq!(read.map(|stamped| (stamped.unix_ns, stamped.unit_ns)), stamp, "{message}");
        }
        assert_eq!(Stamp::None.of(b"1732200000123"), None);
    }
}
