//! An agent. It reads orders from a pipe and writes reports to another. It makes its share of a load with the same session as
//! `tare load`, or runs servers. The thread that reads the orders answers pings at any time.

mod load;
mod servers;

use std::cell::Cell;
use std::io::{Read, Write};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crate::{
    AgentFacts, Assignment, ClockReading, Done, Failure, Greeting, Hello, LONGEST_ORDER, OpenConnections, Order,
    OrderKind, PROTOCOL, PackedSample, ProtocolError, Ready, ReportKind, RunOrder, encode_frame, pack_sample,
    read_frame,
};
use tare_load::{Cancel, LoadSession, Share, SliceSample, Watched};
use tare_sys::affinity::allowed_cpus;
use tare_sys::clock::{self, Nanos};

use self::load::AgentGenerator;
use self::servers::{AgentHost, work_folder};
use crate::link::order_handler::{OrderHandler, answer_order};
use tare_run::load::is_whole_pod;
use tare_run::load::{LoadJob, LoadSource};

/// Makes the job of an assignment, or says in one sentence why it cannot.
pub type BuildJob<'a> = &'a mut dyn FnMut(&Assignment) -> Result<LoadJob, String>;

/// Serves one coordinator until its orders end, also after the last report. Another thread calls `on_end` when the orders end or
/// cannot be read. Then nobody waits for reports, and the load ends.
///
/// # Errors
/// When the other side does not keep to the protocol, or does not read.
pub fn serve_agent<W: Write + Send + 'static>(
    orders: impl Read + Send + 'static,
    reports: W,
    host: &str,
    build: BuildJob<'_>,
    on_end: impl FnOnce(Result<(), ProtocolError>) + Send + 'static,
) -> Result<(), ProtocolError> {
    let reports = Reports(Arc::new(Mutex::new(reports)));
    let cancelled = Arc::new(AtomicBool::new(false));
    let cancel = Cancel::from(Arc::clone(&cancelled));
    let (outbox, inbox) = channel();
    let reader = OrderReader { reports: reports.clone(), cancel: cancel.clone(), orders: outbox };
    Builder::new().name("orders".to_owned()).spawn(move || {
        let read = reader.read_orders(orders);
        // Its servers end with this process.
        let _ = std::fs::remove_dir_all(work_folder());
        on_end(read);
    })?;
    let agent = Agent { reports, cancel, cancelled, orders: inbox };
    match agent.follow_orders(host, build) {
        Err(AgentEnd::Failed(reason)) => agent.reports.send(ReportKind::Failed(Failure { reason }))?,
        Err(AgentEnd::Protocol(error)) => return Err(error),
        Ok(()) => {}
    }
    agent.wait_for_end_of_orders();
    Ok(())
}

/// Why an agent ends early.
enum AgentEnd {
    /// The coordinator gets the reason.
    Failed(String),
    /// The pipes cannot be used, so the coordinator gets no reason.
    Protocol(ProtocolError),
}

impl From<ProtocolError> for AgentEnd {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

/// The pipe of reports, which two threads write to.
struct Reports<W>(Arc<Mutex<W>>);

impl<W> Clone for Reports<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Write> Reports<W> {
    fn send(&self, report: ReportKind) -> Result<(), ProtocolError> {
        let frame = encode_frame(&crate::Report::from(report))?;
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(pipe.write_all(&frame).and_then(|()| pipe.flush())?)
    }
}

/// Reads orders. Answers pings and stop orders itself, and passes the others on.
struct OrderReader<W> {
    reports: Reports<W>,
    cancel: Cancel,
    orders: Sender<OrderKind>,
}

impl<W: Write> OrderReader<W> {
    /// Reads until the orders end; then the load ends too. Sends an error to the coordinator if its pipe still works.
    fn read_orders(&self, pipe: impl Read) -> Result<(), ProtocolError> {
        let read = self.dispatch_orders(pipe);
        self.cancel.cancel();
        if let Err(
            error @ (ProtocolError::TooLong { .. } | ProtocolError::Undecodable(_) | ProtocolError::UnknownKind),
        ) = &read
        {
            // This fails if the coordinator is gone, and it needs no report then.
            let _ = self.reports.send(ReportKind::Failed(Failure { reason: error.to_string() }));
        }
        read
    }

    fn dispatch_orders(&self, mut pipe: impl Read) -> Result<(), ProtocolError> {
        let mut next = read_frame(&mut pipe, LONGEST_ORDER)?;
        if next.is_none() {
            return Err(ProtocolError::NoOrders);
        }
        while let Some(Order { kind }) = next {
            match kind.ok_or(ProtocolError::UnknownKind)? {
                OrderKind::Ping(ping) => {
                    let (monotonic_ns, unix_ns) = (clock::now().0, clock::wall_unix_ns());
                    let number = ping.number;
                    self.reports.send(ReportKind::Clock(ClockReading { number, monotonic_ns, unix_ns }))?;
                }
                OrderKind::Stop(_) => self.cancel.cancel(),
                kind => {
                    if self.orders.send(kind).is_err() {
                        return Ok(());
                    }
                }
            }
            next = read_frame(&mut pipe, LONGEST_ORDER)?;
        }
        Ok(())
    }
}

struct Agent<W> {
    reports: Reports<W>,
    cancel: Cancel,
    /// The flag of `cancel`.
    cancelled: Arc<AtomicBool>,
    orders: Receiver<OrderKind>,
}

impl<W: Write> Agent<W> {
    fn follow_orders(&self, host: &str, build: BuildJob<'_>) -> Result<(), AgentEnd> {
        let OrderKind::Hello(hello) = self.next_order()? else { return Err(wrong_phase("an order before Hello")) };
        self.greet(&hello, host)?;
        match self.next_order()? {
            OrderKind::Assign(assignment) => self.make_share(&assignment, build),
            OrderKind::Servers(order) => self.handle_run_orders(AgentHost::new(&self.cancelled), order),
            OrderKind::Load(order) => self.handle_run_orders(AgentGenerator::new(&self.cancelled), order),
            _ => Err(wrong_phase("an order before the assignment")),
        }
    }

    /// Handles the orders of a run until they end.
    fn handle_run_orders(&self, mut handler: impl OrderHandler, first: RunOrder) -> Result<(), AgentEnd> {
        let mut next = Some(first);
        while let Some(order) = next {
            self.reports.send(ReportKind::Run(answer_order(&mut handler, &order)))?;
            next = match self.orders.recv() {
                Ok(OrderKind::Servers(order) | OrderKind::Load(order)) => Some(order),
                _ => None,
            };
        }
        Ok(())
    }

    fn make_share(&self, assignment: &Assignment, build: BuildJob<'_>) -> Result<(), AgentEnd> {
        let mut job = build(assignment).map_err(AgentEnd::Failed)?;
        job.session.share = Share { worker: assignment.agent as usize, workers: assignment.agents.max(1) as usize };
        let mut session = LoadSession::open(&job.session).map_err(|error| AgentEnd::Failed(error.to_string()))?;
        self.reports.send(facts(&session, &job, assignment))?;
        let OrderKind::Prepare(_) = self.next_order()? else {
            return Err(wrong_phase("an order before the connections are open"));
        };
        let every = Duration::from_nanos(assignment.every_ns.max(1));
        let (begin, whole) = self.make_load(&mut session, &job, every)?;
        let whole = PackedSample { histograms: Vec::new(), ..pack_sample(&whole.pack(), begin.0) };
        Ok(self.reports.send(ReportKind::Done(Done { whole: Some(whole) }))?)
    }

    /// Sends the version first, so that the coordinator can name it even if it differs.
    fn greet(&self, hello: &Hello, host: &str) -> Result<(), AgentEnd> {
        let (version, host) = (env!("CARGO_PKG_VERSION").to_owned(), host.to_owned());
        self.reports.send(ReportKind::Greeting(Greeting { protocol: PROTOCOL, version, host }))?;
        if hello.protocol == PROTOCOL {
            return Ok(());
        }
        let (theirs, version) = (hello.protocol, hello.version.clone());
        Err(AgentEnd::Failed(ProtocolError::Version { theirs, version }.to_string()))
    }

    /// Drives the load. Returns when it began and the sum of its samples.
    fn make_load(
        &self,
        session: &mut LoadSession,
        job: &LoadJob,
        every: Duration,
    ) -> Result<(Nanos, SliceSample), AgentEnd> {
        let begin = Cell::new(Nanos::ZERO);
        let failure = Cell::new(None);
        let send = |report| {
            if let Err(error) = self.reports.send(report) {
                self.cancel.cancel();
                failure.set(Some(error));
            }
        };
        let mut start = || {
            send(ReportKind::Ready(Ready {}));
            begin.set(self.wait_for_begin());
            begin.get()
        };
        let whole = session.run_from(&job.slice, Some(every), &self.cancel, &mut start, &mut |watched| match watched {
            Watched::Opening(opening) => {
                send(ReportKind::Opening(OpenConnections { open: opening.open as u64, of: opening.of as u64 }));
            }
            Watched::Interval(part) => send(ReportKind::Sample(pack_sample(&part.clone().pack(), begin.get().0))),
            _ => {}
        });
        match (failure.take(), whole) {
            (Some(error), _) => Err(error.into()),
            (None, Ok(whole)) => Ok((begin.get(), whole)),
            (None, Err(error)) => Err(AgentEnd::Failed(error.to_string())),
        }
    }

    /// Waits for the order to begin and returns the start. If the orders end first, cancels the load, which then ends at once.
    fn wait_for_begin(&self) -> Nanos {
        match self.next_order() {
            Ok(OrderKind::Begin(begin)) => Nanos(begin.start_ns),
            _ => {
                self.cancel.cancel();
                clock::now()
            }
        }
    }

    /// Waits until the coordinator closes the pipe of orders. It has then read the last report. If the process ended before,
    /// `kubectl attach` could lose that report.
    fn wait_for_end_of_orders(&self) {
        while self.orders.recv().is_ok() {}
    }

    fn next_order(&self) -> Result<OrderKind, AgentEnd> {
        let ended = || AgentEnd::Protocol(ProtocolError::WrongPhase("the end of all orders"));
        self.orders.recv().map_err(|_| ended())
    }
}

fn facts(session: &LoadSession, job: &LoadJob, assignment: &Assignment) -> ReportKind {
    let equipment = session.equipment(job);
    ReportKind::Facts(AgentFacts {
        load_cpus: equipment.load_cpus,
        congestion: equipment.congestion,
        poller: equipment.poller,
        sending: equipment.sending,
        keeps_cpus_awake: session.keeps_cpus_awake(),
        shares_cpus: assignment.pod_cpus > 0
            && allowed_cpus().is_ok_and(|cpus| !is_whole_pod(&cpus, assignment.pod_cpus)),
    })
}

const fn wrong_phase(what: &'static str) -> AgentEnd {
    AgentEnd::Protocol(ProtocolError::WrongPhase(what))
}
