//! A worker thread as seen by its session: orders go in, reports come out, and nothing else is shared.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use tare_sample::SliceSample;
use tare_sys::affinity::{CpuSet, ignore_unavailable, pin_current_thread};
use tare_sys::clock::{self, MonotonicClock};
use tare_sys::poll::Poller;
use tare_sys::procfs::backlog::{self, Backlog};
use tare_sys::readiness::ReadinessPoller;
use tare_sys::uring::UringPoller;

use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::recorder::slice::WorkerSlice;
use crate::schedule::Share;
use crate::session::poller::PollerKind;
use crate::worker::{Setup, Worker};

/// The session's end of a worker thread.
pub(crate) struct Remote {
    orders: Option<Sender<Order>>,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<()>>,
    share: Share,
}

/// What a session orders a worker to do.
pub(crate) enum Order {
    Prepare { in_use: usize, cancel: Cancel },
    Run(WorkerSlice),
}

/// A worker's report on an order.
pub(crate) enum Report {
    /// During preparation: the number of open connections, and whether more are being opened.
    Open { connections: usize, goes_on: bool },
    /// A part of the sample; more follow.
    Part(SliceSample),
    /// The end of the order: the rest of the sample, or an error.
    Last(Result<SliceSample, LoadError>),
}

impl Remote {
    /// Starts the thread. When this returns, the thread is pinned, where that can be done, and has its poller.
    pub(crate) fn start(cpu: usize, poller: PollerKind, setup: Setup) -> Result<Self, LoadError> {
        let failed = |reason: String| LoadError::Worker { cpu, reason };
        let share = setup.share;
        let (orders, inbox) = channel();
        let (outbox, reports) = channel();
        let thread = Builder::new()
            .name(format!("tare-load-{cpu}"))
            .spawn(move || match poller {
                PollerKind::Readiness => serve(ReadinessPoller::new, cpu, setup, &inbox, &outbox),
                PollerKind::Uring => serve(UringPoller::new, cpu, setup, &inbox, &outbox),
            })
            .map_err(|error| failed(error.to_string()))?;
        let remote = Self { orders: Some(orders), reports, thread: Some(thread), share };
        // The first report says whether the thread is pinned and has its poller.
        match remote.report() {
            Report::Open { .. } | Report::Part(_) | Report::Last(Ok(_)) => Ok(remote),
            Report::Last(Err(error)) => Err(error),
        }
    }

    pub(crate) fn order(&self, order: Order) -> Result<(), LoadError> {
        let orders = self.orders.as_ref().ok_or(LoadError::WorkerDied)?;
        orders.send(order).map_err(|_| LoadError::WorkerDied)
    }

    pub(crate) fn report(&self) -> Report {
        self.reports.recv().unwrap_or(Report::Last(Err(LoadError::WorkerDied)))
    }

    /// This worker's share of that many connections. The shares differ by one at most.
    pub(crate) fn part_of(&self, connections: usize) -> usize {
        self.share.part_of(connections as u64) as usize
    }

    /// Lets the thread end after its current order.
    pub(crate) fn dismiss(&mut self) {
        self.orders = None;
    }

    /// Waits for the end of a thread that has been dismissed.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A worker that panicked has already said so on stderr.
            let _ = thread.join();
        }
    }
}

/// The main function of a worker thread: one last report per order, until the session is dropped.
fn serve<P: Poller>(
    open: fn() -> io::Result<P>,
    cpu: usize,
    setup: Setup,
    inbox: &Receiver<Order>,
    outbox: &Sender<Report>,
) {
    let failed = |reason: String| LoadError::Worker { cpu, reason };
    // If the kernel refuses, sends leave less precisely, and send lag shows by how much.
    let _ = clock::sharpen_timers();
    let poller = ignore_unavailable(pin_current_thread(&CpuSet::from_indices([cpu])))
        .map_err(|error| failed(error.to_string()))
        .and_then(|()| open().map_err(|error| failed(error.to_string())));
    let backlog = setup.target.tcp_address().map_or_else(|| Box::new(|| None) as Backlog, backlog::backlog_reader);
    let mut worker = match poller {
        Ok(poller) => Worker::new(poller, MonotonicClock, setup, backlog),
        Err(error) => {
            let _ = outbox.send(Report::Last(Err(error)));
            return;
        }
    };
    // If the session is gone, the next line notices it.
    let tell = |report| drop(outbox.send(report));
    let mut report = Report::Last(Ok(SliceSample::default()));
    // Both channels end with the session.
    while outbox.send(report).is_ok() {
        report = match inbox.recv() {
            Ok(Order::Prepare { in_use, cancel }) => {
                let open = |connections, goes_on| Report::Open { connections, goes_on };
                let prepared = worker.prepare(in_use, &cancel, &mut |connections| tell(open(connections, true)));
                prepared.map_or_else(|error| Report::Last(Err(error)), |connections| open(connections, false))
            }
            Ok(Order::Run(slice)) => Report::Last(worker.run(&slice, &mut |part| tell(Report::Part(part)))),
            Err(_) => return,
        };
    }
}
