//! A worker thread as its session sees it: orders go in, reports come out, nothing else is shared.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use tare_sample::SliceSample;
use tare_sys::affinity::{CpuSet, pin_current_thread};
use tare_sys::clock::{self, MonotonicClock};
use tare_sys::epoll::EpollPoller;
use tare_sys::poll::Poller;
use tare_sys::procfs::backlog::{self, Backlog};
use tare_sys::uring::UringPoller;

use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::poller::PollerKind;
use crate::schedule::Share;
use crate::slice::WorkerSlice;
use crate::worker::{Setup, Worker};

/// The session's end of a worker thread.
pub(crate) struct Remote {
    orders: Option<Sender<Order>>,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<()>>,
    share: Share,
}

/// What a session wants of its workers.
pub(crate) enum Order {
    Prepare { in_use: usize, cancel: Cancel },
    Run(WorkerSlice),
}

/// What a worker says of an order.
pub(crate) enum Report {
    /// Of preparation: so many connections are open, and more are being opened if it goes on.
    Open { connections: usize, goes_on: bool },
    /// A part of what was ordered; more follow.
    Part(SliceSample),
    /// The rest of it, or why there is none.
    Last(Result<SliceSample, LoadError>),
}

impl Remote {
    /// Starts the thread; it is pinned and has its poller when this returns.
    pub(crate) fn start(cpu: usize, poller: PollerKind, setup: Setup) -> Result<Self, LoadError> {
        let failed = |reason: String| LoadError::Worker { cpu, reason };
        let share = setup.share;
        let (orders, inbox) = channel();
        let (outbox, reports) = channel();
        let thread = Builder::new()
            .name(format!("tare-load-{cpu}"))
            .spawn(move || match poller {
                PollerKind::Epoll => serve(EpollPoller::new, cpu, setup, &inbox, &outbox),
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

    /// This worker's part of so many connections; the parts differ by at most one.
    pub(crate) fn part_of(&self, connections: usize) -> usize {
        connections / self.share.workers + usize::from(self.share.worker < connections % self.share.workers)
    }

    /// Lets the thread end once it has done what was ordered.
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

/// The life of a worker thread: one last report per order, until the session is dropped.
fn serve<P: Poller>(
    open: fn() -> io::Result<P>,
    cpu: usize,
    setup: Setup,
    inbox: &Receiver<Order>,
    outbox: &Sender<Report>,
) {
    let failed = |reason: String| LoadError::Worker { cpu, reason };
    // Refused, it only costs precision, and send lag will show how much.
    let _ = clock::sharpen_timers();
    let poller = pin_current_thread(&CpuSet::of([cpu]))
        .map_err(|error| failed(error.to_string()))
        .and_then(|()| open().map_err(|error| failed(error.to_string())));
    let backlog = setup.target.address().map_or_else(|| Box::new(|| None) as Backlog, backlog::of);
    let mut worker = match poller {
        Ok(poller) => Worker::new(poller, MonotonicClock, setup, backlog),
        Err(error) => {
            let _ = outbox.send(Report::Last(Err(error)));
            return;
        }
    };
    // A session that has gone is noticed with the last report.
    let tell = |report| drop(outbox.send(report));
    let mut report = Report::Last(Ok(SliceSample::default()));
    // Either channel ends with the session.
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
