//! THE worker loop. Load models, stop rules, pollers and clocks are values handed to it.
//! A worker shares no mutable state; what it books becomes the sample of its slice.

mod core;
mod demand;
mod events;
mod exchanges;
mod layers;
mod pace;
mod pushes;
mod returned;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_cancel;
#[cfg(test)]
mod tests_pace;
#[cfg(test)]
mod tests_pipeline;
#[cfg(test)]
mod tests_requests;
#[cfg(test)]
mod tests_sending;
#[cfg(test)]
mod tests_sounding;
#[cfg(test)]
mod tests_spinning;
#[cfg(test)]
mod tests_truth;
#[cfg(test)]
mod tests_websocket;
mod upkeep;
mod watch;
mod window;

use std::sync::Arc;
use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::Poller;
use tare_sys::socket::{SocketOptions, Target};

use self::core::Core;
use self::layers::Layers;
use self::watch::Rest;
use crate::cancel::Cancel;
use crate::channel::{Channel, Security, Tls};
use crate::error::LoadError;
use crate::protocol::Protocol;
use crate::request::RequestSet;
use crate::sample::SliceSample;
use crate::schedule::{Schedule, Share};
use crate::sending::Sending;
use crate::stamps::Stamps;
use crate::stop_rule::StopRule;
use tare_sys::procfs::backlog::Backlog;

/// How often preparation says how far it is, and for how long it says nothing.
const OPENING_TOLD_EVERY: Duration = Duration::from_millis(250);

/// What stays the same over all slices of a session.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) target: Target,
    pub(crate) options: SocketOptions,
    /// `None` for plain text.
    pub(crate) security: Option<Security>,
    pub(crate) protocol: Protocol,
    /// Scheme and authority of the server: `http://127.0.0.1:8080`.
    pub(crate) base: Arc<str>,
    pub(crate) requests: RequestSet,
    pub(crate) timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) share: Share,
}

/// One slice, as one worker is to run it.
#[derive(Clone, Debug)]
pub(crate) struct WorkerSlice {
    pub(crate) start: Nanos,
    pub(crate) schedule: Schedule,
    pub(crate) sending: Sending,
    pub(crate) stamps: Stamps,
    pub(crate) stop: StopRule,
    pub(crate) discard_head: Duration,
    pub(crate) drain_timeout: Duration,
    pub(crate) seed: u64,
    /// How often to hand over what has been booked; `None` for once, at the end.
    pub(crate) every: Option<Duration>,
    pub(crate) trace: usize,
    pub(crate) cancel: Cancel,
}

/// One thread's part of a session: a poller, its connections, and the loop over them.
pub(crate) struct Worker<P, C> {
    poller: P,
    tls: Option<Tls>,
    core: Core<C>,
    backlog: Backlog,
}

impl<P: Poller, C: Clock> Worker<P, C> {
    pub(crate) fn new(poller: P, clock: C, setup: Setup, backlog: Backlog) -> Self {
        let tls = setup.security.as_ref().map(|security| Tls::new(security.of_worker()));
        Self { poller, tls, core: Core::new(clock, setup), backlog }
    }

    /// Opens what is missing of the first `in_use` connections, step by step, and waits until each has been opened or
    /// has failed, as long as it gets on. What is then left is opened in the slice, at the same pace. `on_open` is given
    /// how many are open, again and again where that takes long; what is returned is how many are open in the end.
    pub(crate) fn prepare(
        &mut self,
        in_use: usize,
        cancel: &Cancel,
        on_open: &mut dyn FnMut(usize),
    ) -> Result<usize, LoadError> {
        self.core.begin_preparation(in_use);
        // Connections that ended since the last slice say so now, and not as errors of the next one.
        self.wait(Rest::Look)?;
        let latest = self.core.now() + self.core.longest_preparation();
        let (mut open, mut deadline) = (self.core.open_connections(), self.core.preparation_deadline());
        let mut tell_at = self.core.now() + OPENING_TOLD_EVERY;
        loop {
            let now = self.core.now();
            let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
            self.core.open_missing(&mut io, now, &mut self.backlog);
            if self.core.is_prepared() || cancel.is_cancelled() {
                break;
            }
            if now >= deadline {
                // A server that is slow to greet (a JVM that has just begun, and two thousand WebSockets) is waited for.
                let before = std::mem::replace(&mut open, self.core.open_connections());
                if open <= before || now >= latest {
                    break;
                }
                deadline = self.core.preparation_deadline().min(latest);
            }
            if now >= tell_at {
                tell_at = now + OPENING_TOLD_EVERY;
                on_open(self.core.open_connections());
            }
            let wake_at = self.core.next_step(now).min(deadline);
            self.wait(Rest::Sleep(wake_at))?;
        }
        Ok(self.core.open_connections())
    }

    /// Runs one slice to the end of its drain. The parts that `on_part` was given and the one returned add up to it.
    pub(crate) fn run(
        &mut self,
        slice: &WorkerSlice,
        on_part: &mut dyn FnMut(SliceSample),
    ) -> Result<SliceSample, LoadError> {
        self.core.begin_slice(slice);
        loop {
            let now = self.core.wake();
            let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
            self.core.tick(&mut io, now, slice.cancel.is_cancelled());
            if self.core.is_finished(now) {
                break;
            }
            self.core.part(now).into_iter().for_each(&mut *on_part);
            let rest = self.core.rest(now);
            self.wait(rest)?;
        }
        let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
        Ok(self.core.end_slice(&mut io))
    }

    fn wait(&mut self, rest: Rest) -> Result<(), LoadError> {
        let deadline = match rest {
            Rest::Sleep(until) => until,
            Rest::Look => Nanos::ZERO,
        };
        let mut layers = Layers { core: &mut self.core, tls: self.tls.as_mut() };
        self.poller.wait(Some(deadline), &mut layers).map_err(LoadError::Wait)
    }
}
