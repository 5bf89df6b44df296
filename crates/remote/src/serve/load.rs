//! The agent's side of a load: its share of the turns of a run, or of the load of a command line. It uses the same sessions as
//! tare without agents.

use std::cell::Cell;
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, MessageTally, Share, SliceSample, Watched};
use tare_run::RunError;
use tare_run::load::{LoadJob, LoadSource, allow_connections, generator_cpus, is_whole_pod, pod_generator_cpus};
use tare_run::load_host::{OwnLoad, RunLoad, SessionOrder};
use tare_run::machine_state::disturbances;
use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::clock::{self, Nanos};

use super::{BuildJob, Coordinator};
use crate::protocol::{
    AgentCores, AgentShare, Answer, DrivenShare, Equipped, LoadCommand, LoadTask, LoadTotals, Report, pack_sample,
};

pub(super) struct AgentGenerator<'a> {
    share: AgentShare,
    sessions: OwnLoad,
    command: Option<(LoadJob, LoadSession)>,
    build: BuildJob<'a>,
    cancelled: Arc<AtomicBool>,
}

impl<'a> AgentGenerator<'a> {
    /// The whole load is its share until it gets another. `cancelled` ends a load early, and `build` makes that of a command line.
    pub(super) fn new(cancelled: &Arc<AtomicBool>, build: BuildJob<'a>) -> Self {
        let sessions = OwnLoad::new(CpuSet::from_indices([]), Share::WHOLE, Cancel::from(Arc::clone(cancelled)));
        let share = AgentShare { agents: 1, ..AgentShare::default() };
        Self { share, sessions, command: None, build, cancelled: Arc::clone(cancelled) }
    }

    pub(super) fn execute(
        &mut self,
        task: LoadTask,
        coordinator: &Coordinator<impl Write>,
    ) -> Result<Answer, Box<dyn Error>> {
        Ok(match task {
            LoadTask::Share(share) => {
                self.share = share;
                Answer::Done
            }
            LoadTask::Disturbances => Answer::Disturbances(disturbances(&self.cpus_for(1)?, &self.cancelled)),
            LoadTask::Verify(order) => Answer::Verified(order.carry_out(&Cancel::from(Arc::clone(&self.cancelled)))),
            LoadTask::OpenSessions(sessions) => {
                self.open_sessions(sessions)?;
                Answer::Opened(self.sessions.most_workers())
            }
            LoadTask::OpenCommand(command) => self.open_command(&command)?,
            LoadTask::DriveTurn { server, load } => {
                let sample = self.sessions.drive(server, &load, &mut |_| {})?;
                let begun = Nanos(sample.start_ns);
                let sample = pack_sample(sample, begun.0);
                Answer::Driven(DrivenShare { sample, begun_ns_ago: clock::now().since(begun) })
            }
            LoadTask::DriveCommand { every_ns } => self.drive_command(Duration::from_nanos(every_ns), coordinator)?,
            LoadTask::Close => {
                self.sessions.close();
                self.command = None;
                Answer::Done
            }
        })
    }

    fn part(&self) -> Share {
        Share { worker: self.share.agent as usize, workers: self.share.agents.max(1) as usize }
    }

    /// The cores of a generator with this many connections. A worker without a connection would have nothing to do.
    fn cpus_for(&self, connections: u32) -> Result<CpuSet, RunError> {
        let AgentCores { load_cpus, pod_cpus, before_on_node } = &self.share.cores;
        let cpus = match (load_cpus.as_str(), pod_cpus) {
            ("", 0) => generator_cpus(None, None, connections)?,
            ("", pod_cpus) => pod_generator_cpus(*pod_cpus, *before_on_node, connections)?,
            (list, _) => generator_cpus(Some(list), None, connections)?,
        };
        Ok(CpuSet::from_indices(cpus.iter().take(connections.max(1) as usize)))
    }

    fn open_sessions(&mut self, sessions: Vec<SessionOrder>) -> Result<(), RunError> {
        let own = |session: &SessionOrder| self.part().part_of(session.connections.into()) as u32;
        allow_connections(sessions.iter().map(own).sum())?;
        let cpus = self.cpus_for(sessions.iter().map(own).max().unwrap_or(1))?;
        self.sessions = OwnLoad::new(cpus, self.part(), Cancel::from(Arc::clone(&self.cancelled)));
        self.sessions.open(sessions)
    }

    fn open_command(&mut self, command: &LoadCommand) -> Result<Answer, Box<dyn Error>> {
        let mut job = (self.build)(command, &self.share)?;
        job.session.share = self.part();
        let session = LoadSession::open(&job.session)?;
        let equipment = session.equipment(&job);
        let pod_cpus = self.share.cores.pod_cpus;
        let shares_cpus = pod_cpus > 0 && allowed_cpus().is_ok_and(|cpus| !is_whole_pod(&cpus, pod_cpus));
        self.command = Some((job, session));
        Ok(Answer::Equipped(Equipped { equipment, shares_cpus }))
    }

    fn drive_command(&mut self, every: Duration, coordinator: &Coordinator<impl Write>) -> Result<Answer, RunError> {
        let unprepared = || RunError::NotPrepared("the load of a command line".to_owned());
        // Its connections close with its end: other agents may go on for longer.
        let (job, mut session) = self.command.take().ok_or_else(unprepared)?;
        let (begin, cancel) = (Cell::new(Nanos::ZERO), coordinator.cancel());
        let send = |report| {
            // If nobody reads, the answer to the task cannot be sent either, and the agent ends.
            if coordinator.reports.send(&report).is_err() {
                cancel.cancel();
            }
        };
        let mut start = || {
            send(Report::Ready);
            begin.set(coordinator.wait_for_begin());
            begin.get()
        };
        let mut watch = |watched: Watched<'_>| match watched {
            Watched::Opening(opening) => send(Report::Opening(opening)),
            Watched::Interval(part) => send(Report::Sample(pack_sample(part.clone(), begin.get().0))),
            _ => {}
        };
        let whole = session.run_watched(&job.slice, Some(every), &cancel, Some(&mut start), &mut watch)?;
        let SliceSample { offered, ok, failed, completed, messages, .. } = whole;
        let MessageTally { clock, clock_within_ns, .. } = messages;
        Ok(Answer::Ended(LoadTotals { offered, ok, failed, completed, clock, clock_within_ns }))
    }
}
