//! Finds out how the clock of a server elsewhere lies to ours: a short slice with one user, before and after what is scored.

use std::time::Duration;

use tare_sample::ServerClock;
use tare_sys::clock;

use super::LoadSession;
use super::spec::{SessionSpec, SliceSpec};
use crate::cancel::Cancel;
use crate::conversation::{Conversation, Push, Stamp};
use crate::error::LoadError;
use crate::protocol::Protocol;
use crate::schedule::Schedule;
use crate::server_clock::{Reckoning, is_own_clock};
use crate::stop_rule::StopRule;

/// How many messages are listened to, as long as they come in this time.
const MESSAGES: u64 = 20;
const AT_MOST: Duration = Duration::from_secs(6);

/// The session with one user that is opened for it.
#[derive(Debug)]
pub(super) struct Sounding {
    spec: SessionSpec,
}

impl Sounding {
    /// `None` where there is nothing to find out: the server goes by our clock, or does not push what is stamped.
    pub(super) fn of(spec: &SessionSpec) -> Option<Self> {
        let Protocol::WebSocket(Conversation::Push(push)) = spec.protocol else { return None };
        if push.stamp == Stamp::None || is_own_clock(spec.server_clock, &spec.target) {
            return None;
        }
        let push = Push { messages_per_user: MESSAGES, ..push };
        let protocol = Protocol::WebSocket(Conversation::Push(push));
        let spec = SessionSpec { protocol, connections: 1, server_clock: ServerClock::Same, ..spec.clone() };
        Some(Self { spec })
    }

    /// Listens to some messages, and sends a ping between each two.
    ///
    /// # Errors
    /// When the session cannot be opened or its worker fails. What the server fails to do is in what is found.
    pub(super) fn take(&self, cancel: &Cancel) -> Result<Reckoning, LoadError> {
        let mut session = LoadSession::open(&self.spec)?;
        let stop = StopRule::Count { requests: 1, at_most: AT_MOST };
        let slice = SliceSpec { drain_timeout: Duration::ZERO, ..SliceSpec::new(Schedule::Closed, 1, stop) };
        let sample = session.drive(&slice, None, None, cancel, &mut |_| {})?;
        Ok(Reckoning::of(&sample.clock_samples, sample.messages.received, clock::epoch()))
    }
}
