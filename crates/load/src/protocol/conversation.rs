//! A conversation in which the server sends by itself: messages that it pushes on a WebSocket, or as a stream of events.

use std::time::Duration;

/// Messages that a server pushes. A user of the closed loop subscribes when it opens a WebSocket, and closes it after
/// its last message. A stop rule that counts requests counts subscriptions; one of a duration ends each subscription
/// with its first message that was sent after that time.
///
/// Each message counts as an answered request that was due when the server sent it: its response time is the *push
/// latency*, and it has no service time. A subscription that breaks off is one failed request of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    /// Messages per subscription; `None` means no limit.
    pub(crate) messages: Option<u64>,
    /// Time from one message to the next; zero if it is not known.
    pub(crate) period: Duration,
}
