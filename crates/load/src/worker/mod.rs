//! The one worker loop. Load models, stop rules, pollers and clocks are values given to it. Workers share no state.

mod connections;
mod demand;
mod dispatcher;
mod layers;
mod pace;
mod places;
mod runner;
#[cfg(test)]
mod tests;
mod wait_policy;

use std::sync::Arc;
use std::time::Duration;

use tare_sample::{ErrorTallies, SliceSample};
use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Poller, Token};
use tare_sys::socket::{SocketOptions, Target};

use self::layers::Layers;
use self::runner::{MAX_SLEEP, SliceRunner};
use self::wait_policy::WaitMode;
use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::input::request::RequestSet;
use crate::input::template::UserValues;
use crate::protocol::Protocol;
use crate::protocol::tls::{Channel, Security, Tls};
use crate::recorder::OnPart;
use crate::recorder::slice::WorkerSlice;
use crate::schedule::Share;
use tare_sys::procfs::backlog::Backlog;

/// How often preparation reports its progress, the first time after this long.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// What stays the same over all slices of a session.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) targets: Arc<[Target]>,
    pub(crate) options: SocketOptions,
    /// `None` for plain text.
    pub(crate) security: Option<Security>,
    pub(crate) protocol: Protocol,
    /// Scheme and authority of the server: `http://127.0.0.1:8080`, or `ws://…` for WebSockets.
    pub(crate) base: Arc<str>,
    pub(crate) requests: RequestSet,
    pub(crate) timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) share: Share,
    /// What the set-up has given the user of each connection; empty without one.
    pub(crate) users: Vec<UserValues>,
    /// Why other users could not be set up. They count as connection events.
    pub(crate) failed_users: ErrorTallies,
}

impl Setup {
    /// Where a connection of this worker goes. The connections of all workers together alternate between the addresses.
    pub(crate) fn target_of(&self, token: Token) -> &Target {
        let place = token.index() * self.share.workers + self.share.worker;
        &self.targets[place % self.targets.len()]
    }
}

/// One thread's part of a session: a poller, its connections, and the loop over them.
pub(crate) struct Worker<P, C> {
    poller: P,
    tls: Option<Tls>,
    runner: SliceRunner<C>,
    backlog: Backlog,
}

impl<P: Poller, C: Clock> Worker<P, C> {
    pub(crate) fn new(poller: P, clock: C, setup: Setup, backlog: Backlog) -> Self {
        let tls = setup.security.as_ref().map(|security| Tls::new(security.of_worker()));
        Self { poller, tls, runner: SliceRunner::new(clock, setup), backlog }
    }

    /// Opens the missing ones of the first `in_use` connections, in steps, as long as the number of open ones grows.
    /// The slice opens the rest. If this takes long, `on_open` gets that number several times a second.
    pub(crate) fn prepare(
        &mut self,
        in_use: usize,
        cancel: &Cancel,
        on_open: &mut dyn FnMut(usize),
    ) -> Result<usize, LoadError> {
        self.runner.connections.begin_preparation(in_use);
        // Connections that ended since the last slice are noticed now, and are not errors of the next slice.
        self.wait(WaitMode::Poll)?;
        let begin = self.runner.now();
        let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
        self.runner.connections.close_rested(&mut io, begin);
        let connections = &self.runner.connections;
        let latest = begin + connections.longest_preparation();
        let (mut open, mut deadline) = (connections.count_open(), connections.preparation_deadline(begin));
        let mut report_at = begin + PROGRESS_EVERY;
        loop {
            let now = self.runner.now();
            let connections = &mut self.runner.connections;
            let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
            connections.open_missing(&mut io, now, &mut self.backlog);
            if connections.is_prepared() || cancel.is_cancelled() {
                break;
            }
            if now >= deadline {
                // Some servers open many WebSockets slowly, for example a JVM that has just started. Wait for them.
                let before = std::mem::replace(&mut open, connections.count_open());
                if open <= before || now >= latest {
                    break;
                }
                deadline = connections.preparation_deadline(now).min(latest);
            }
            if now >= report_at {
                report_at = now + PROGRESS_EVERY;
                on_open(connections.count_open());
            }
            let wake_at = connections.next_preparation_step(now + MAX_SLEEP).min(deadline);
            self.wait(WaitMode::Sleep(wake_at))?;
        }
        Ok(self.runner.connections.count_open())
    }

    /// Runs one slice until its drain ends. The parts given to `on_part` and the returned one add up to its sample.
    pub(crate) fn run(&mut self, slice: &WorkerSlice, on_part: OnPart<'_>) -> Result<SliceSample, LoadError> {
        self.runner.begin_slice(slice);
        loop {
            let now = self.runner.wake();
            let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
            self.runner.tick(&mut io, now, slice.cancel.is_cancelled());
            self.runner.end_periods(now, on_part);
            if self.runner.is_finished(now) {
                break;
            }
            let mode = self.runner.next_wait(now);
            self.wait(mode)?;
        }
        let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
        Ok(self.runner.end_slice(&mut io))
    }

    fn wait(&mut self, mode: WaitMode) -> Result<(), LoadError> {
        let deadline = match mode {
            WaitMode::Sleep(until) => until,
            WaitMode::Poll => Nanos::ZERO,
        };
        let mut layers = Layers { runner: &mut self.runner, tls: self.tls.as_mut() };
        self.poller.wait(Some(deadline), &mut layers).map_err(LoadError::Wait)?;
        let mut io = Channel { io: self.poller.transport(), tls: self.tls.as_mut() };
        self.runner.send_due(&mut io);
        Ok(())
    }
}
