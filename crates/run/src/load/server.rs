//! The server of a load, if it runs on this machine: what it uses in each interval, and how its stops divide requests.

use tare_load::SliceSample;
use tare_plan::load_plan::{LoadModel, ServerProcess};
use tare_plan::{LoadPlan, PlanError};
use tare_record::{EventKind, EventRecord, IntervalDivision, KnownStops, LatencyParts, Phase, ServerUse};
use tare_sys::affinity::CpuSet;
use tare_sys::procfs::process::{self, Stat};

use crate::scenario::readings::{divided_by, has_huge_bodies};
use crate::server_host::ServerId;
use crate::server_host::local::running_server::{RunningServer, RunningServers};
use crate::server_host::local::watch::{Watch, WatchOrder};

const SERVER: ServerId = ServerId(0);

/// The server of a load, watched while the load goes on. What was changed in it is undone when this is dropped.
pub struct WatchedServer {
    pid: u32,
    servers: RunningServers,
    /// Absent only while one follows another.
    watch: Option<Watch>,
    answers: u64,
    is_scored: bool,
    /// `None` where the requests cannot be divided.
    division: Option<IntervalDivision>,
    pub(super) events: Vec<EventRecord>,
}

impl WatchedServer {
    /// Watches a process, with its children, under a load. A JVM is asked to log its stops.
    pub fn attach(found: &ServerProcess, plan: &LoadPlan) -> Result<Self, PlanError> {
        let pid = found.pid;
        let refused = |message: String| PlanError::value("--server", message);
        let gone = || refused(format!("there is no process {pid}; ps -e lists those that run"));
        let (user, own) = (process::user_of(pid).ok_or_else(gone)?, process::user_of(std::process::id()));
        if own.is_some_and(|own| own != 0 && own != user) {
            return Err(refused(format!("process {pid} is that of user {user}; run tare as that user, or as root")));
        }
        let (server, refusal) = RunningServer::attach(pid).map_err(|_| gone())?;
        let undivided = undivided(plan, server.tells_stops());
        let mut watched = Self {
            pid,
            servers: RunningServers::from([(SERVER, server)]),
            watch: None,
            answers: 0,
            is_scored: false,
            division: undivided.is_none().then(|| IntervalDivision::new(plan.timeout.0)),
            events: Vec::new(),
        };
        if let Some(refusal) = refusal {
            watched.report_unknown_stops(format!("the JVM of process {pid} does not tell them: {refusal}"));
        }
        if let Some(reason) = undivided {
            watched.report_unknown_stops(reason);
        }
        watched.begin_watch();
        Ok(watched)
    }

    /// Begins to count anew: the load is about to begin, or its warm-up has not ended.
    pub(super) fn restart(&mut self) {
        self.end_watch();
        self.begin_watch();
    }

    pub(super) fn note_part(&mut self, part: &SliceSample) {
        self.answers += part.completed_in_slice;
        self.is_scored |= part.window_ns > 0;
        match &mut self.watch {
            Some(watch) if self.is_scored => watch.look_at_jvm(SERVER, &mut self.servers),
            _ => self.restart(),
        }
        self.note_requests(part);
    }

    fn note_requests(&mut self, part: &SliceSample) {
        if part.trace.len() as u64 != part.offered {
            self.give_up(|| {
                "an interval has too many requests to keep the times of each; shorten it with --interval".to_owned()
            });
        }
        let Some(division) = &mut self.division else { return };
        division.add(&part.trace);
        if division.is_full() {
            let stops = self.servers.get_mut(&SERVER).map_or(KnownStops::Untold, RunningServer::take_stops);
            self.note_stops(stops);
            self.division.iter_mut().for_each(IntervalDivision::end_piece);
        }
    }

    /// What the server used in the interval that has just ended, whose load this is.
    pub(super) fn end_interval(&mut self, load: &SliceSample) -> ServerUse {
        let answers = self.answers;
        let used = self.end_watch();
        self.division.iter_mut().for_each(IntervalDivision::end_interval);
        self.begin_watch();
        let has_ended = !Stat::of_process(self.pid).is_ok_and(|stat| stat.is_alive());
        let is_told = self.events.iter().any(|event| matches!(event.kind, EventKind::ServerEnded { .. }));
        if has_ended && !is_told {
            let end = format!("process {} ended, so its CPU and its stops are not known from then on", self.pid);
            self.events.push(EventRecord::new(EventKind::ServerEnded { end }));
        }
        divided_by(used, answers, !has_huge_bodies(load))
    }

    pub(super) fn end_division(&mut self) {
        self.division.iter_mut().for_each(IntervalDivision::end_piece);
    }

    /// How the requests of the interval before the last one divide, or after [`Self::end_division`] those of the last
    /// one, and whether no runtime told the stops.
    pub(super) fn take_parts(&mut self) -> Option<(LatencyParts, bool)> {
        let division = self.division.as_mut()?;
        Some((division.take_whole(), !division.are_stops_told()))
    }

    fn begin_watch(&mut self) {
        let order = WatchOrder {
            servers: vec![SERVER],
            phase: Phase::Measure,
            meter_cpus: None,
            // The load knows neither its cores nor who else may use them.
            counted_cpus: CpuSet::default(),
        };
        self.watch = Some(Watch::begin(&mut self.servers, &order));
        self.answers = 0;
    }

    fn end_watch(&mut self) -> ServerUse {
        let Some(watch) = self.watch.take() else { return ServerUse::default() };
        let mut used = watch.end(&mut self.servers, 0).pop().unwrap_or_default();
        self.note_stops(std::mem::take(&mut used.stops));
        used
    }

    fn note_stops(&mut self, new: KnownStops) {
        match new {
            KnownStops::Spans(stops) => self.division.iter_mut().for_each(|division| division.tell(&stops)),
            KnownStops::Unreadable => self.give_up(|| EventKind::stops_unreadable().text()),
            KnownStops::Untold => {}
        }
    }

    fn give_up(&mut self, reason: impl Fn() -> String) {
        if self.division.take().is_some() {
            self.report_unknown_stops(reason());
        }
    }

    fn report_unknown_stops(&mut self, reason: String) {
        self.events.push(EventRecord::new(EventKind::StopsUnknown { reason }));
    }
}

/// Why the requests of a load cannot be divided; `None` if they can. `is_told` says whether the server tells its stops.
fn undivided(plan: &LoadPlan, is_told: bool) -> Option<String> {
    if plan.sends_events() || plan.push_period().is_some() {
        return Some("latency is divided where the server answers requests, and here it sends by itself".to_owned());
    }
    if matches!(plan.model, LoadModel::Open { tick: Some(_), .. }) {
        return Some(
            "requests that wait for their tick look like those of a generator that stalls; leave out --tick".to_owned(),
        );
    }
    let is_closed = !matches!(plan.model, LoadModel::Open { .. });
    (is_closed && !is_told).then(|| {
        "this server does not tell them, and users who wait for answers send nothing by which a silence is seen; give a rate with -r"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use tare_plan::load_plan::{Arrivals, Protocol};
    use tare_units::Span;

    use super::*;
    use crate::load::job::tests::{HTTP, TEN_SECONDS, job, open};

    fn plan(model: LoadModel, protocol: Protocol) -> LoadPlan {
        job(model, TEN_SECONDS, protocol).plan
    }

    fn at_a_rate() -> LoadPlan {
        plan(open(Vec::new(), Arrivals::Even, None), HTTP)
    }

    fn own_process() -> ServerProcess {
        ServerProcess { name: "test".to_owned(), pid: std::process::id() }
    }

    #[test]
    fn a_load_is_divided_where_stops_are_told_or_silences_can_be_seen() {
        let push = Protocol::Push { period: Span::from_millis(100), messages: None };
        for (plan, is_told, words) in [
            (at_a_rate(), false, None),
            (plan(LoadModel::Closed, HTTP), true, None),
            (plan(LoadModel::Closed, HTTP), false, Some("give a rate with -r")),
            (plan(open(Vec::new(), Arrivals::Even, Some(Span::from_millis(1))), HTTP), true, Some("leave out --tick")),
            (plan(LoadModel::Closed, push), true, Some("here it sends by itself")),
        ] {
            let reason = undivided(&plan, is_told);
            assert_eq!(reason.is_some(), words.is_some(), "{reason:?}");
            assert!(words.is_none_or(|words| reason.is_some_and(|reason| reason.contains(words))));
        }
    }

    #[test]
    fn what_a_process_uses_counts_from_the_end_of_the_warm_up() {
        let mut server = WatchedServer::attach(&own_process(), &at_a_rate()).unwrap();
        let part =
            |window_ns, answers| SliceSample { window_ns, completed_in_slice: answers, ..SliceSample::default() };
        server.note_part(&part(0, 500));
        server.note_part(&part(1_000, 7));
        server.note_part(&part(0, 2));
        let used = server.end_interval(&part(1_000, 509));
        assert_eq!(used.cpu.map(|cpu| cpu.requests), Some(9), "the drain counts, the warm-up does not");
        assert!(used.rss_bytes.is_some_and(|bytes| bytes > 0));
        server.note_part(&part(1_000, 5));
        assert_eq!(server.end_interval(&part(1_000, 5)).cpu.map(|cpu| cpu.requests), Some(5));
    }

    #[test]
    fn requests_whose_times_are_not_all_known_are_divided_no_more() {
        let mut server = WatchedServer::attach(&own_process(), &at_a_rate()).unwrap();
        server.note_part(&SliceSample::default());
        assert_eq!(server.take_parts(), Some((LatencyParts::default(), true)));
        for _ in 0..2 {
            server.note_part(&SliceSample { offered: 1, ..SliceSample::default() });
            assert_eq!(server.take_parts(), None);
        }
        let reasons: Vec<String> = server.events.into_iter().map(|event| event.text).collect();
        assert!(reasons.len() == 1 && reasons[0].contains("--interval"), "{reasons:?}");
    }

    #[test]
    fn a_process_that_is_gone_is_refused() {
        let gone = ServerProcess { name: "gone".to_owned(), pid: (1 << 22) + 1 };
        let error = WatchedServer::attach(&gone, &at_a_rate()).err().unwrap().to_string();
        assert_eq!(error, "--server: there is no process 4194305; ps -e lists those that run");
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let ends = ServerProcess { name: "sleep".to_owned(), pid: child.id() };
        let mut server = WatchedServer::attach(&ends, &at_a_rate()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        for _ in 0..2 {
            assert_eq!(server.end_interval(&SliceSample::default()).cpu, None);
        }
        assert_eq!(server.events.len(), 1, "it ends once");
    }
}
