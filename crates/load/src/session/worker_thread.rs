//! The session's end of a worker thread: it sends orders and receives reports. Nothing else is shared.

use std::error::Error;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use tare_sample::SliceSample;
use tare_sys::affinity::{CpuSet, pin_current_thread};
use tare_sys::clock::{self, MonotonicClock};
use tare_sys::procfs::backlog::{self, Backlog};
use tare_sys::readiness::ReadinessPoller;
use tare_sys::threads;

use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::recorder::slice::WorkerSlice;
use crate::schedule::Share;
use crate::worker::{Setup, Worker};

pub(crate) struct WorkerThread {
    orders: Sender<WorkerOrder>,
    reports: Receiver<WorkerReport>,
    /// It ends after its current order when the channel of orders is closed.
    pub(crate) thread: JoinHandle<()>,
    share: Share,
    /// The most connections: one for each user that was set up, and any number without a set-up.
    most: usize,
}

/// A worker in its thread.
type ThreadWorker = Worker<ReadinessPoller, MonotonicClock>;

pub(crate) enum WorkerOrder {
    Prepare { in_use: usize, cancel: Cancel },
    Run(Box<WorkerSlice>),
}

pub(crate) enum WorkerReport {
    /// During preparation: the number of open connections, and whether more are being opened.
    Open { connections: usize, goes_on: bool },
    /// A part of the sample; more follow.
    Part(SliceSample),
    /// The end of the order: the rest of the sample, or an error.
    Last(Result<SliceSample, LoadError>),
}

impl WorkerThread {
    /// Starts the thread. When this returns, the thread is pinned, where that can be done, and has its poller.
    pub(crate) fn start(cpu: usize, setup: Setup) -> Result<Self, LoadError> {
        let share = setup.share;
        let most = if setup.users.is_empty() { usize::MAX } else { setup.users.len() };
        let (orders, inbox) = channel();
        let (outbox, reports) = channel();
        let begun = threads::spawn(&format!("tare-load-{cpu}"), move || match open_worker(cpu, setup) {
            Ok(worker) => serve(worker, &inbox, &outbox),
            Err(error) => drop(outbox.send(WorkerReport::Last(Err(error)))),
        });
        let thread = begun.map_err(|error| {
            let remedy = "raise the limit of processes (ulimit -u, or pids of a container), or use fewer threads (-t)";
            LoadError::unavailable(format!("cannot start the load worker on CPU {cpu}: {error}"), remedy)
        })?;
        let thread = Self { orders, reports, thread, share, most };
        // The first report shows whether the thread is pinned and has its poller.
        match thread.wait_for_report() {
            WorkerReport::Open { .. } | WorkerReport::Part(_) | WorkerReport::Last(Ok(_)) => Ok(thread),
            WorkerReport::Last(Err(error)) => Err(error),
        }
    }

    pub(crate) fn send_order(&self, order: WorkerOrder) -> Result<(), LoadError> {
        self.orders.send(order).map_err(|_| LoadError::WorkerDied)
    }

    pub(crate) fn wait_for_report(&self) -> WorkerReport {
        self.reports.recv().unwrap_or(WorkerReport::Last(Err(LoadError::WorkerDied)))
    }

    /// This worker's share of that many connections.
    pub(crate) fn part_of(&self, connections: usize) -> usize {
        (self.share.part_of(connections as u64) as usize).min(self.most)
    }
}

fn failed_start(cpu: usize, error: &dyn Error) -> LoadError {
    LoadError::Worker { cpu, reason: error.to_string() }
}

/// Pins the calling thread and gives it its poller.
fn open_worker(cpu: usize, setup: Setup) -> Result<ThreadWorker, LoadError> {
    // If the kernel refuses, sends leave less precisely, and send lag shows by how much.
    let _ = clock::sharpen_timers();
    pin_current_thread(&CpuSet::from_indices([cpu])).map_err(|error| failed_start(cpu, &error))?;
    let poller = ReadinessPoller::new().map_err(|error| failed_start(cpu, &error))?;
    let backlog = setup.targets[0].tcp_address().map_or_else(|| Box::new(|| None) as Backlog, backlog::backlog_reader);
    Ok(Worker::new(poller, MonotonicClock, setup, backlog))
}

/// The main function of a worker thread: one last report per order, until the session is dropped.
fn serve(mut worker: ThreadWorker, inbox: &Receiver<WorkerOrder>, outbox: &Sender<WorkerReport>) {
    // If the session is gone, the next line notices it.
    let send = |report| drop(outbox.send(report));
    let mut report = WorkerReport::Last(Ok(SliceSample::default()));
    // Both channels end with the session.
    while outbox.send(report).is_ok() {
        report = match inbox.recv() {
            Ok(WorkerOrder::Prepare { in_use, cancel }) => {
                let open = |connections, goes_on| WorkerReport::Open { connections, goes_on };
                let prepared = worker.prepare(in_use, &cancel, &mut |connections| send(open(connections, true)));
                prepared.map_or_else(|error| WorkerReport::Last(Err(error)), |connections| open(connections, false))
            }
            Ok(WorkerOrder::Run(slice)) => {
                WorkerReport::Last(worker.run(&slice, &mut |part| send(WorkerReport::Part(part))))
            }
            Err(_) => return,
        };
    }
}
