//! An agent. It reads orders from a pipe and writes reports to another: it makes its share of a load with the same sessions as
//! tare without agents, or runs servers. The thread that reads the orders answers pings at any time.

mod load;
mod servers;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tare_load::Cancel;
use tare_run::load::LoadJob;
use tare_run::machine_state::machine_facts;
use tare_sut::jdk::Jdk;
use tare_sys::affinity::allowed_cpus;
use tare_sys::clock::{self, Nanos};
use tare_sys::threads;

use self::load::AgentGenerator;
use self::servers::{AgentHost, work_folder};
use crate::protocol::{
    AgentShare, Answer, ClockReading, Greeting, LONGEST_ORDER, LONGEST_REPORT, LoadCommand, MachineFacts, Order,
    ProtocolError, Report, Task, Version, encode_frame, read_frame,
};

/// Makes the job of a command line for an agent with this share, or says in one sentence why it cannot.
pub type BuildJob<'a> = &'a mut dyn FnMut(&LoadCommand, &AgentShare) -> Result<LoadJob, String>;

/// Serves one coordinator until its orders end, also after the last report. Another thread calls `on_end` when the orders end or
/// cannot be read. Then nobody waits for reports, and the load ends.
pub fn serve_agent<W: Write + Send + 'static>(
    orders: impl Read + Send + 'static,
    reports: W,
    host: &str,
    build: BuildJob<'_>,
    on_end: impl FnOnce(Result<(), ProtocolError>) + Send + 'static,
) -> Result<(), ProtocolError> {
    let reports = Arc::new(Reports(Mutex::new(reports)));
    let cancelled = Arc::new(AtomicBool::new(false));
    let (outbox, orders_of_agent) = channel();
    let coordinator = Coordinator { reports: reports.clone(), cancelled, orders: orders_of_agent };
    let cancel = coordinator.cancel();
    threads::spawn("orders", move || {
        let read = read_orders(orders, &reports, &cancel, &outbox);
        cancel.cancel();
        if let Err(error @ (ProtocolError::TooLong { .. } | ProtocolError::Undecodable(_))) = &read {
            // This fails if the coordinator is gone, and it needs no report then.
            let _ = reports.send(&Report::Failed(error.to_string()));
        }
        // Its servers end with this process.
        let _ = std::fs::remove_dir_all(work_folder());
        on_end(read);
    })?;
    coordinator.greet(host)?;
    coordinator.follow_orders(build)
}

/// The pipe of reports, which two threads write to.
struct Reports<W>(Mutex<W>);

impl<W: Write> Reports<W> {
    fn send(&self, report: &Report) -> Result<(), ProtocolError> {
        let frame = encode_frame(report, LONGEST_REPORT)?;
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(pipe.write_all(&frame).and_then(|()| pipe.flush())?)
    }
}

/// Reads orders until they end. Answers pings and stop orders itself, and passes the others on.
fn read_orders(
    mut pipe: impl Read,
    reports: &Reports<impl Write>,
    cancel: &Cancel,
    orders: &Sender<Order>,
) -> Result<(), ProtocolError> {
    let mut next = read_frame(&mut pipe, LONGEST_ORDER)?;
    if next.is_none() {
        return Err(ProtocolError::NoOrders);
    }
    while let Some(order) = next {
        match order {
            Order::Ping { number } => {
                let (monotonic_ns, unix_ns) = (clock::now().0, clock::wall_unix_ns());
                reports.send(&Report::Clock(ClockReading { number, monotonic_ns, unix_ns }))?;
            }
            Order::Stop => cancel.cancel(),
            order => {
                if orders.send(order).is_err() {
                    return Ok(());
                }
            }
        }
        next = read_frame(&mut pipe, LONGEST_ORDER)?;
    }
    Ok(())
}

struct Coordinator<W> {
    reports: Arc<Reports<W>>,
    /// Raised by a Stop, and when the orders end.
    cancelled: Arc<AtomicBool>,
    orders: Receiver<Order>,
}

impl<W: Write> Coordinator<W> {
    /// Sends the version first, so that the coordinator can name it. After a refusal it waits until that has been read.
    fn greet(&self, host: &str) -> Result<(), ProtocolError> {
        let theirs = match self.orders.recv() {
            Ok(Order::Hello(theirs)) => theirs,
            Ok(_) => return Err(ProtocolError::WrongPhase("an order before Hello")),
            Err(_) => return Err(ProtocolError::WrongPhase("the end of all orders")),
        };
        self.reports.send(&Report::Greeting(Greeting { version: Version::own(), host: host.to_owned() }))?;
        if theirs != Version::own() {
            self.reports.send(&Report::Failed(ProtocolError::Version(theirs).to_string()))?;
            while self.orders.recv().is_ok() {}
        }
        Ok(())
    }

    /// Carries out tasks until the orders end, and stays after the last answer, which `kubectl attach` could lose.
    fn follow_orders(&self, build: BuildJob<'_>) -> Result<(), ProtocolError> {
        let mut generator = AgentGenerator::new(&self.cancelled, build);
        let mut servers = None;
        while let Ok(order) = self.orders.recv() {
            let Order::Task { number, task } = order else {
                return Err(ProtocolError::WrongPhase("an order that is no task"));
            };
            let answer = match task {
                Task::Describe { java } => machine_of_agent(java.as_deref()).map(Answer::Facts),
                Task::Load(task) => generator.execute(task, self).map_err(|error| error.to_string()),
                Task::Servers(task) => servers.get_or_insert_with(|| AgentHost::new(&self.cancelled)).execute(task),
            };
            match self.reports.send(&Report::Answer { number, answer }) {
                Err(ProtocolError::TooLongToSend { bytes, limit }) => {
                    let answer = Err(format!(
                        "its answer takes {bytes} bytes, and at most {limit} are sent; if that is the body of a response, let \
                         the scenario state its length, expect.body = {{ bytes = N }}"
                    ));
                    self.reports.send(&Report::Answer { number, answer })?;
                }
                sent => sent?,
            }
        }
        Ok(())
    }

    fn cancel(&self) -> Cancel {
        Cancel::from(Arc::clone(&self.cancelled))
    }

    /// Waits for the order to begin and returns the start. Any other order, and the end of all, cancels the load.
    fn wait_for_begin(&self) -> Nanos {
        match self.orders.recv() {
            Ok(Order::Begin { start_ns }) => Nanos(start_ns),
            _ => {
                self.cancel().cancel();
                clock::now()
            }
        }
    }
}

/// What an agent says of its machine. `java` is the home of the JDK to use, where one is named.
fn machine_of_agent(java: Option<&Path>) -> Result<MachineFacts, String> {
    // `client port server port`, of the connection that this agent was started over.
    let connection = std::env::var("SSH_CONNECTION").ok();
    Ok(MachineFacts {
        sections: machine_facts(),
        cpus: allowed_cpus().map_err(|error| error.to_string())?,
        jdk: Jdk::find_suitable(0, java).ok().map(|jdk| jdk.major),
        ssh_address: connection.and_then(|all| all.split(' ').nth(2)?.parse().ok()),
    })
}
