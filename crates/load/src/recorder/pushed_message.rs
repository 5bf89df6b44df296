//! One message that a server pushed.

use tare_sys::clock::Nanos;

use crate::recorder::Times;

/// One pushed message and how it compares with those before it of the same subscription.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PushedMessage {
    /// Index in the request set of the request that it came for.
    pub(crate) request: Option<u32>,
    /// The request that it is the first answer to: the first event of a stream.
    pub(crate) answers: Option<Times>,
    pub(crate) arrived_at: Nanos,
    /// When its stamp says it was sent.
    pub(crate) sent_at: Option<Nanos>,
    /// Resolution of the stamp in nanoseconds; 0 without a stamp.
    pub(crate) unit_ns: u64,
    pub(crate) is_late: bool,
    pub(crate) is_out_of_order: bool,
    pub(crate) is_duplicate: bool,
    /// Difference between the period and the time since the message before, in nanoseconds; `None` for the first.
    pub(crate) jitter_ns: Option<u64>,
    /// Whether it is the last message that the subscription asked for.
    pub(crate) is_last: bool,
}
