//! Measures the offset of a remote server's clock: a short slice with one user before and after the scored slice.

use std::time::Duration;

use tare_sample::ServerClock;
use tare_sys::clock;

use super::LoadSession;
use super::spec::SessionSpec;
use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::input::template::UserValues;
use crate::protocol::Protocol;
use crate::recorder::server_clock::{ClockModel, is_own_clock};
use crate::recorder::slice::SliceSpec;
use crate::schedule::stop_rule::StopRule;
use crate::schedule::{Schedule, Share};

/// Messages that a probe receives, and the longest time it waits for them.
const MESSAGES: u64 = 20;
const AT_MOST: Duration = Duration::from_secs(6);

/// A probe of the server's clock: the session with one user that it opens.
#[derive(Debug)]
pub(super) struct ClockProbe {
    spec: SessionSpec,
    /// The values of that user, if users have a set-up. Nobody is set up for a probe.
    user: Option<UserValues>,
}

impl ClockProbe {
    /// `None` where no probe is needed: the server uses this machine's clock, or pushes no messages.
    pub(super) fn of(spec: &SessionSpec, user: Option<UserValues>) -> Option<Self> {
        let Protocol::Push { period, .. } = spec.protocol else { return None };
        if is_own_clock(spec.server_clock, &spec.target) {
            return None;
        }
        let protocol = Protocol::Push { period, messages: Some(MESSAGES) };
        let one_user = SessionSpec { protocol, connections: 1, share: Share::WHOLE, ..spec.clone() };
        Some(Self { spec: SessionSpec { server_clock: ServerClock::Same, ..one_user }, user })
    }

    /// Receives some messages and sends a ping between each two. Failures of the server leave the model without an epoch.
    pub(super) fn measure(&self, cancel: &Cancel) -> Result<ClockModel, LoadError> {
        let mut session = LoadSession::open_for(&self.spec, self.user.clone())?;
        let stop = StopRule::Count { requests: 1, at_most: AT_MOST };
        let slice = SliceSpec { drain_timeout: Duration::ZERO, ..SliceSpec::new(Schedule::Closed, 1, stop) };
        let sample = session.run_with_clock(&slice, None, None, cancel, None, &mut |_| {})?;
        Ok(ClockModel::of(&sample.clock_samples, sample.messages.received, clock::wall_clock_epoch()))
    }
}
