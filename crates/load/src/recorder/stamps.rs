//! How the workers read the stamps of pushed messages.

use tare_sys::clock::{Epoch, Nanos};
use tare_wire::ws::Stamped;

/// How the stamps of a slice's messages are converted to the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamps {
    /// The server stamps by this machine's clock.
    Ours(Epoch),
    /// The server stamps by another clock, whose epoch was estimated. The messages also refine the estimate.
    Theirs(Epoch),
    /// The offset of the server's clock is unknown: a message counts by its arrival.
    Unknown,
    /// As `Unknown`, while the offset is being estimated: pings are sent between messages.
    Probing,
}

impl Stamps {
    /// The moment at which a message with this stamp was sent, and the stamp; `None` if that is unknown.
    pub(crate) fn sent_at(self, stamp: Option<Stamped>) -> Option<(Nanos, Stamped)> {
        match self {
            Self::Ours(epoch) | Self::Theirs(epoch) => {
                stamp.map(|stamp| (epoch.monotonic_from_unix(stamp.unix_ns), stamp))
            }
            Self::Unknown | Self::Probing => None,
        }
    }

    /// How long after its arrival a message's stamp may be before the message counts as ahead of time, in nanoseconds.
    /// An estimated clock has no limit: such a message shows that the estimate is wrong.
    pub(crate) const fn tolerance_ns(self) -> u64 {
        match self {
            Self::Ours(epoch) => epoch.within_ns,
            Self::Theirs(_) | Self::Unknown | Self::Probing => u64::MAX,
        }
    }
}
