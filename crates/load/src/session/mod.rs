//! The public interface: a session holds worker threads and their connections, and runs slices on them.

mod clock_probe;
mod opening;
mod spec;
mod user_setup;
mod worker_thread;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tare_sample::SliceSample;
use tare_sys::clock::{self, Nanos};
use tare_sys::limits;
use tare_sys::socket::{CONGESTION_REMEDY, SocketOptions, congestion_in_use};
use tare_sys::wakefulness::Wakefulness;

use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::input::request::UserSetup;
use crate::input::template::UserValues;
use crate::protocol::Protocol;
use crate::protocol::tls::Security;
use crate::recorder::server_clock::ClockModel;
use crate::recorder::slice::{SliceSpec, WorkerSlice};
use crate::schedule::Share;
use crate::session::user_setup::{ReadyUsers, set_up_users};
use crate::session::worker_thread::{WorkerOrder, WorkerReport, WorkerThread};
use crate::worker::Setup;

use self::clock_probe::ClockProbe;
use self::opening::Watcher;
pub use self::opening::{Opening, Watched};
pub use self::spec::SessionSpec;

/// Open files in addition to the connections: of the pollers, files of the kernel, and some for the caller.
const SPARE_FILES: u64 = 32;
/// Delay between the order and the start of a slice, so that all workers begin at the same time.
const START_MARGIN: Duration = Duration::from_micros(300);

/// Worker threads with their connections, kept open from slice to slice.
pub struct LoadSession {
    workers: Vec<WorkerThread>,
    share: Share,
    connections: usize,
    /// The congestion control algorithm of the session's sockets; `None` for Unix sockets, and where the kernel does not
    /// say.
    pub congestion: Option<String>,
    /// Whether CPUs are kept from deep sleep while a slice runs. This needs permission to write `/dev/cpu_dma_latency`.
    /// Without it, wake-ups add to latencies at low load, tens of microseconds on some machines.
    pub keeps_cpus_awake: bool,
    /// How many users could not be set up, and why, in one sentence; `None` if all could.
    pub missing_users: Option<String>,
    clock_probe: Option<ClockProbe>,
}

impl LoadSession {
    /// Sets the users up, if they have a set-up, and starts the workers. A missing server is no error of the session,
    /// which opens no connection yet. Users whose set-up fails take no part, and count as connection events of the
    /// first slice.
    ///
    /// # Errors
    /// When the specification is contradictory, no user could be set up, or a worker cannot be started.
    pub fn open(spec: &SessionSpec) -> Result<Self, LoadError> {
        Self::open_for(spec, None)
    }

    /// As [`open`](Self::open), for a user that has been set up, if there is one.
    fn open_for(spec: &SessionSpec, user: Option<UserValues>) -> Result<Self, LoadError> {
        spec.check()?;
        let (setup, mut requests) = UserSetup::encode(&spec.host(), &spec.requests)?;
        if requests.is_empty() {
            return Err(spec_error("a session without requests", "give at least one whose weight is not 0"));
        }
        if matches!(spec.protocol, Protocol::Exchange | Protocol::Push { .. }) && !requests.opens_alike() {
            return Err(spec_error(
                "a WebSocket of several paths or headers, or with variables in them",
                "give all requests the same path and headers; what they send may differ",
            ));
        }
        if !matches!(spec.protocol, Protocol::Http2 { .. }) && requests.has_calls() {
            return Err(spec_error("calls of gRPC over HTTP/1.1", "speak HTTP/2 with the server"));
        }
        if matches!(spec.protocol, Protocol::Events { .. }) && requests.checks_bodies() {
            return Err(spec_error("a check of the body of a stream of events", "check its status and its headers"));
        }
        if requests.follow() > 0 && !matches!(spec.protocol, Protocol::Http1 { .. } | Protocol::Http2 { .. }) {
            return Err(spec_error(
                "redirects of WebSockets or of streams of events",
                "follow none, and give the last URL",
            ));
        }
        let security = spec.tls.as_ref().map(|tls| Security::new(tls, spec.protocol)).transpose()?;
        let options = SocketOptions { congestion: spec.congestion.clone() };
        let congestion = spec.target.tcp_address().map(|address| congestion_towards(&address, &options)).transpose()?;
        let keeps_cpus_awake = Wakefulness::keep_awake().is_ok();
        let own_connections = spec.own_part_of(spec.connections);
        raise_open_file_limit(own_connections)?;
        let ready = match (user, &setup) {
            (Some(user), _) => ReadyUsers { values: vec![user], ..ReadyUsers::default() },
            (None, Some(setup)) => set_up_users(spec, setup, own_connections)?,
            (None, None) => ReadyUsers::default(),
        };
        if let Some(setup) = setup.filter(|_| ready.have_cookies()) {
            requests = setup.encode_load(&spec.host(), true)?;
        }
        let ReadyUsers { values, mut failed } = ready;
        // A worker without a connection would have nothing to do. A set-up without a ready user has failed.
        let least_connections = if values.is_empty() { own_connections } else { values.len() };
        let cpus: Vec<usize> = spec.cpus.iter().take(least_connections).collect();
        // After many failures the others are not tried.
        let missing = own_connections - values.len();
        let failed_example = failed.iter().next().map(|(_, tally)| tally.example.clone());
        let clock_probe = ClockProbe::of(spec, values.first().cloned());
        let targets = spec.targets();
        let mut workers = Vec::with_capacity(cpus.len());
        for (worker, cpu) in cpus.iter().enumerate() {
            let setup = Setup {
                targets: Arc::clone(&targets),
                options: options.clone(),
                security: security.clone(),
                protocol: spec.protocol,
                base: spec.base().into(),
                requests: requests.clone(),
                timeout: spec.timeout,
                connect_timeout: spec.connect_timeout,
                share: spec.share.of_worker(worker, cpus.len()),
                // Dealt out in turn, as connections are.
                users: values.iter().skip(worker).step_by(cpus.len()).cloned().collect(),
                failed_users: std::mem::take(&mut failed),
            };
            workers.push(WorkerThread::start(*cpu, setup)?);
        }
        let (share, connections) = (spec.share, spec.connections);
        let missing_users = failed_example.map(|example| {
            format!("{missing} of {own_connections} users could not be set up and take no part: {example}")
        });
        Ok(Self { workers, share, connections, congestion, keeps_cpus_awake, clock_probe, missing_users })
    }

    /// Number of worker threads. A slice has at least one connection for each of them.
    pub const fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Whether the offset of the server's clock is estimated, before and after each slice.
    pub const fn estimates_clock(&self) -> bool {
        self.clock_probe.is_some()
    }

    /// Opens missing connections, runs one slice and drains it.
    ///
    /// Returns after at most `connect_timeout` + the stop rule's longest time + `drain_timeout`; when cancelled, within
    /// 0.1 s plus a drain of at most 0.5 s. Both grow by 5 ms for every 32 missing connections, the steps in which they
    /// are opened. A server that opens some connections within each `connect_timeout` is given twelve of them. The
    /// estimate of a server's clock takes 20 messages or 6 s, before and after the slice.
    ///
    /// # Errors
    /// When the specification is contradictory or a worker has failed. Failures of the server are in the sample.
    pub fn run(&mut self, slice: &SliceSpec, cancel: &Cancel) -> Result<SliceSample, LoadError> {
        self.run_watched(slice, None, cancel, None, &mut |_| {})
    }

    /// As [`run`](Self::run), with reports to a watcher: the progress of opening connections, if that takes long, and
    /// the sample of each time of length `every`. These parts add up to the returned sample. A request belongs to the
    /// part in which it *ended*, so the drain has parts too, with windows of zero length.
    ///
    /// `start` says when the slice starts, on the monotonic clock, if that is not at once. It is asked when the
    /// connections are open, and may wait.
    pub fn run_watched(
        &mut self,
        slice: &SliceSpec,
        every: Option<Duration>,
        cancel: &Cancel,
        start: Option<&mut dyn FnMut() -> Nanos>,
        watcher: Watcher<'_>,
    ) -> Result<SliceSample, LoadError> {
        if every.is_some_and(|every| every.is_zero()) {
            return Err(spec_error("intervals of no length", "give at least a millisecond"));
        }
        self.check_slice(slice)?;
        let before = self.probe_clock(cancel)?;
        let mut sample = self.run_with_clock(slice, Some(before), every, cancel, start, watcher)?;
        // After a cancellation, do not wait for more messages.
        let is_over = before.epoch.is_none() || (self.clock_probe.is_some() && cancel.is_cancelled());
        // An error leaves the estimate unconfirmed: the slice has been measured.
        let after = if is_over { None } else { self.probe_clock(cancel).ok() };
        let whole = after.map_or(before, |after| before.confirmed_by(&after));
        let whole = whole.widened_by(&sample.clock_samples);
        whole.write_to(&mut sample.messages);
        Ok(sample)
    }

    fn probe_clock(&self, cancel: &Cancel) -> Result<ClockModel, LoadError> {
        self.clock_probe.as_ref().map_or_else(
            || Ok(ClockModel::own_clock(clock::wall_clock_epoch())),
            |clock_probe| clock_probe.measure(cancel),
        )
    }

    /// Runs a slice. Stamps are read by `server_clock`; without one, the slice is a probe of that clock.
    fn run_with_clock(
        &mut self,
        slice: &SliceSpec,
        server_clock: Option<ClockModel>,
        every: Option<Duration>,
        cancel: &Cancel,
        start: Option<&mut dyn FnMut() -> Nanos>,
        watcher: Watcher<'_>,
    ) -> Result<SliceSample, LoadError> {
        // If the kernel refuses, latencies grow, and the session reports it.
        let _awake = Wakefulness::keep_awake();
        self.prepare(slice, cancel, watcher)?;
        // By default the earliest for which all workers get their order in time.
        let start = start.map_or_else(|| clock::now() + START_MARGIN, |start| start());
        for worker in &self.workers {
            let (spec, cancel) = (slice.clone(), cancel.clone());
            let slice = WorkerSlice { spec, start, server_clock, every, cancel };
            worker.send_order(WorkerOrder::Run(Box::new(slice)))?;
        }
        let sample = self.collect(&mut |part| {
            if let Some(model) = server_clock {
                model.write_to(&mut part.messages);
            }
            if every.is_some() {
                watcher(Watched::Interval(part));
                part.trace = Vec::new();
            }
        })?;
        Ok(SliceSample { tick_ns: slice.sending.tick_ns(), ..sample })
    }

    /// Waits for every worker, even after a failure, so that all are idle at the next order. Each worker has one part for
    /// each period, so parts of the same period are added.
    fn collect(&self, on_part: &mut dyn FnMut(&mut SliceSample)) -> Result<SliceSample, LoadError> {
        let mut working: Vec<&WorkerThread> = self.workers.iter().collect();
        let (mut whole, mut failure) = (None, None);
        while !working.is_empty() {
            let mut round = None;
            working.retain(|worker| match worker.wait_for_report() {
                WorkerReport::Part(part) => {
                    add_to(&mut round, part, SliceSample::merge);
                    true
                }
                // A late report of the preparation.
                WorkerReport::Open { .. } => true,
                WorkerReport::Last(last) => {
                    match last {
                        Ok(part) => add_to(&mut round, part, SliceSample::merge),
                        Err(error) => failure = failure.take().or(Some(error)),
                    }
                    false
                }
            });
            if let Some(mut round) = round {
                on_part(&mut round);
                add_to(&mut whole, round, SliceSample::append);
            }
        }
        failure.map_or(whole.ok_or(LoadError::WorkerDied), Err)
    }

    fn check_slice(&self, slice: &SliceSpec) -> Result<(), LoadError> {
        let own_connections = self.share.part_of(slice.connections as u64) as usize;
        if own_connections < self.workers.len() || slice.connections > self.connections {
            let (workers, most) = (self.workers.len(), self.connections);
            return Err(spec_error(
                &format!("a slice of {} connections over {workers} workers", slice.connections),
                &format!("use at least {workers} and at most the session's {most}"),
            ));
        }
        if let Some((what, remedy)) = slice.schedule.contradiction() {
            return Err(spec_error(what, remedy));
        }
        let users = slice.schedule.users();
        if users > slice.connections {
            let what = format!("stages of up to {users} users over {} connections", slice.connections);
            return Err(spec_error(&what, &format!("use at least {users} connections")));
        }
        if slice.discard_head > slice.stop.longest_time() {
            return Err(spec_error(
                "a discarded head longer than the slice",
                "discard less, or let the slice last longer",
            ));
        }
        Ok(())
    }
}

impl Drop for LoadSession {
    fn drop(&mut self) {
        // Close all channels of orders first, so that the threads end at the same time.
        let threads: Vec<_> = self.workers.drain(..).map(|worker| worker.thread).collect();
        // A worker that panicked has already said so on stderr.
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

fn add_to(sum: &mut Option<SliceSample>, sample: SliceSample, add: fn(&mut SliceSample, &SliceSample)) {
    match sum {
        None => *sum = Some(sample),
        Some(sum) => add(sum, &sample),
    }
}

/// Raises the limit of open files as far as the session needs, so that no slice runs out of them.
fn raise_open_file_limit(connections: usize) -> Result<(), LoadError> {
    let needed = limits::count_open_files() + connections as u64 + SPARE_FILES;
    let allowed = limits::raise_open_files(needed);
    if allowed >= needed {
        return Ok(());
    }
    let what = format!("{needed} open files are needed and {allowed} are allowed");
    Err(LoadError::unavailable(what, &format!("raise the limit (ulimit -n {needed}) or use fewer connections")))
}

fn congestion_towards(address: &SocketAddr, options: &SocketOptions) -> Result<String, LoadError> {
    congestion_in_use(address, options).map_err(|error| {
        let algorithm = options.congestion.as_deref().unwrap_or("the kernel's default");
        LoadError::unavailable(format!("congestion control \"{algorithm}\" cannot be used: {error}"), CONGESTION_REMEDY)
    })
}

fn spec_error(what: &str, remedy: &str) -> LoadError {
    LoadError::Spec { what: what.to_owned(), remedy: remedy.to_owned() }
}
