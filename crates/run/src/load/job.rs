//! A load that is ready to begin: its plan, and the session and slice of the generator that follow from it.

use std::time::Duration;

use tare_load::{Schedule, Sending, SessionSpec, SliceSpec, Stages, StopRule};
use tare_plan::load_plan::{Arrivals, LoadModel, LoadPlan, LoadStage, LoadStop, Protocol};
use tare_plan::plan::SliceKind;

/// The most requests of a worker in one part whose times are kept, where they are to be divided.
const MOST_TRACED: usize = 1_000_000;
const LONGEST_PART: Duration = Duration::from_millis(500);
const SHORTEST_PART: Duration = Duration::from_millis(100);
const PARTS: u32 = 40;
/// The longest time of a stream that nothing else would end, in timeouts.
const LONGEST_IN_TIMEOUTS: u32 = 6;

#[derive(Debug)]
pub struct LoadJob {
    pub plan: LoadPlan,
    pub session: SessionSpec,
    pub slice: SliceSpec,
}

impl LoadJob {
    /// Fits the generator to a plan. `session` brings the target, the requests and the cores; `is_spinning` keeps the
    /// generator awake between requests, unless the plan sends in ticks.
    pub fn new(plan: LoadPlan, session: SessionSpec, is_spinning: bool) -> Self {
        let session = SessionSpec {
            protocol: plan.protocol,
            connections: plan.connections as usize,
            timeout: plan.timeout.0,
            connect_timeout: plan.connect_timeout.0,
            server_clock: plan.server_clock,
            ..session
        };
        let sending = match plan.model {
            LoadModel::Open { tick: Some(tick), .. } => Sending::Tick(tick.0),
            _ if is_spinning => Sending::Spinning,
            _ => Sending::Exact,
        };
        let slice = SliceSpec {
            sending,
            discard_head: plan.warmup.0,
            longest_push: longest_push(&plan),
            drain_timeout: plan.timeout.0,
            seed: plan.seed,
            // A worker makes fewer in one part.
            trace: if plan.server.is_some() { MOST_TRACED } else { 0 },
            ..SliceSpec::new(schedule(&plan.model), plan.connections as usize, stop_rule(&plan))
        };
        Self { plan, session, slice }
    }

    pub(super) fn slice_kind(&self) -> SliceKind {
        match self.plan.model {
            LoadModel::Open { arrivals: Arrivals::Poisson, .. } => SliceKind::Poisson,
            LoadModel::Open { arrivals: Arrivals::Even, .. } => SliceKind::Fixed,
            LoadModel::Closed | LoadModel::ClosedStages { .. } => SliceKind::Saturating,
        }
    }

    /// Time between two parts that the generator hands over while it runs.
    pub(super) fn part_length(&self) -> Duration {
        let part = match self.slice.stop {
            StopRule::Duration(span) => span / PARTS,
            StopRule::Count { .. } => LONGEST_PART / 2,
        };
        part.clamp(SHORTEST_PART, LONGEST_PART).min(self.plan.interval.0)
    }
}

fn stop_rule(plan: &LoadPlan) -> StopRule {
    match plan.stop {
        LoadStop::Duration { span } => StopRule::Duration(span.0 + plan.warmup.0),
        LoadStop::Requests { count, at_most } => {
            StopRule::Count { requests: count, at_most: at_most.0 + plan.warmup.0 }
        }
    }
}

/// How long a stream may last that nothing else would end: `-n` without `-d` and `--messages`.
fn longest_push(plan: &LoadPlan) -> Option<Duration> {
    let is_endless = matches!(plan.stop, LoadStop::Requests { at_most: LoadStop::NO_LIMIT, .. })
        && matches!(plan.protocol, Protocol::Events { messages: None, .. });
    is_endless.then(|| plan.timeout.0 * LONGEST_IN_TIMEOUTS)
}

fn schedule(model: &LoadModel) -> Schedule {
    match model {
        LoadModel::Closed => Schedule::Closed,
        LoadModel::ClosedStages { stages } => Schedule::ClosedStages { users: course(0.0, stages) },
        LoadModel::Open { per_s, stages, arrivals, .. } => {
            Schedule::Open { rate_per_s: course(*per_s, stages), arrivals: *arrivals }
        }
    }
}

fn course(from: f64, stages: &[LoadStage]) -> Stages {
    stages.iter().fold(Stages::starting_at(from), |course, stage| course.then(stage.to, stage.over.0))
}

#[cfg(test)]
pub(super) mod tests {
    use tare_load::{RequestSpec, Target};
    use tare_plan::ServerClock;
    use tare_units::Span;

    use super::*;

    fn plan(model: LoadModel, stop: LoadStop, protocol: Protocol) -> LoadPlan {
        LoadPlan {
            url: "http://127.0.0.1:80/".to_owned(),
            request: "GET /".to_owned(),
            requests: 1,
            checks: 0,
            feeds: Vec::new(),
            setup: None,
            model,
            think: None,
            stop,
            warmup: Span::from_secs(2),
            connections: 8,
            protocol,
            tls: None,
            timeout: Span::from_secs(10),
            connect_timeout: Span::from_secs(5),
            load_cpus: "1".to_owned(),
            server: None,
            server_clock: ServerClock::Same,
            interval: Span::from_millis(250),
            seed: 7,
            conditions: Vec::new(),
            settings: Vec::new(),
        }
    }

    pub(in crate::load) fn job(model: LoadModel, stop: LoadStop, protocol: Protocol) -> LoadJob {
        let target = Target::Tcp("127.0.0.1:80".parse().unwrap());
        LoadJob::new(plan(model, stop, protocol), SessionSpec::new(target, vec![RequestSpec::get("/")]), true)
    }

    pub(in crate::load) const TEN_SECONDS: LoadStop = LoadStop::Duration { span: Span::from_secs(10) };
    pub(in crate::load) const HTTP: Protocol = Protocol::Http1 { pipeline: 1 };

    pub(in crate::load) fn open(stages: Vec<LoadStage>, arrivals: Arrivals, tick: Option<Span>) -> LoadModel {
        LoadModel::Open { per_s: 1000.0, stages, arrivals, tick }
    }

    #[test]
    fn the_warm_up_comes_on_top_of_a_duration_and_of_the_limit_of_a_count() {
        let job = job(LoadModel::Closed, TEN_SECONDS, HTTP);
        assert_eq!(job.slice.stop, StopRule::Duration(Duration::from_secs(12)));
        assert_eq!(job.slice.discard_head, Duration::from_secs(2));
        let count = LoadStop::Requests { count: 7, at_most: Span::from_secs(60) };
        let counted = self::job(LoadModel::Closed, count, HTTP).slice.stop;
        assert_eq!(counted, StopRule::Count { requests: 7, at_most: Duration::from_secs(62) });
        assert_eq!((job.session.connections, job.slice.seed), (8, 7));
    }

    #[test]
    fn a_model_becomes_a_schedule_and_a_kind_of_slice() {
        let stages = vec![LoadStage { to: 64.0, over: Span::from_secs(10) }];
        let cases = [
            (LoadModel::Closed, SliceKind::Saturating, None),
            (LoadModel::ClosedStages { stages: stages.clone() }, SliceKind::Saturating, None),
            (open(Vec::new(), Arrivals::Even, None), SliceKind::Fixed, Some(1000.0)),
            (open(Vec::new(), Arrivals::Poisson, None), SliceKind::Poisson, Some(1000.0)),
            (open(stages, Arrivals::Even, None), SliceKind::Fixed, None),
        ];
        for (model, kind, rate_per_s) in cases {
            let job = job(model, TEN_SECONDS, HTTP);
            assert_eq!((job.slice_kind(), job.slice.schedule.rate_per_s()), (kind, rate_per_s), "{:?}", job.plan.model);
        }
    }

    #[test]
    fn stages_begin_at_the_rate_and_end_at_the_last_level() {
        let stages = vec![LoadStage { to: 64.0, over: Span::from_secs(10) }];
        let job = job(open(stages, Arrivals::Poisson, None), TEN_SECONDS, HTTP);
        let Schedule::Open { rate_per_s, arrivals } = &job.slice.schedule else { panic!("{:?}", job.slice.schedule) };
        let expected = Stages::starting_at(1000.0).then(64.0, Duration::from_secs(10));
        assert_eq!((rate_per_s, *arrivals), (&expected, Arrivals::Poisson));
    }

    #[test]
    fn ticks_win_over_staying_awake() {
        let tick = open(Vec::new(), Arrivals::Even, Some(Span::from_millis(1)));
        assert_eq!(job(tick, TEN_SECONDS, HTTP).slice.sending, Sending::Tick(Duration::from_millis(1)));
        assert_eq!(job(LoadModel::Closed, TEN_SECONDS, HTTP).slice.sending, Sending::Spinning);
    }

    #[test]
    fn all_that_is_pushed_is_read_where_no_number_is_given() {
        let push = Protocol::Push { period: Span::from_millis(100), messages: None };
        let stop = LoadStop::Requests { count: 8, at_most: Span::from_secs(60) };
        let job = job(LoadModel::Closed, stop, push);
        assert_eq!(job.session.protocol, push);
        assert_eq!(job.slice.stop, StopRule::Count { requests: 8, at_most: Duration::from_secs(62) });
        assert_eq!(job.part_length(), Duration::from_millis(250));
    }

    #[test]
    fn streams_have_a_longest_time_where_nothing_else_would_end_them() {
        let events = |messages| Protocol::Events { messages, streams: None };
        let of = |at_most| LoadStop::Requests { count: 5, at_most };
        let (endless, minute) = (of(LoadStop::NO_LIMIT), of(Span::from_secs(60)));
        for (stop, protocol, timeouts) in [
            (endless, events(None), Some(6)),
            (endless, events(Some(20)), None),
            (minute, events(None), None),
            (TEN_SECONDS, events(None), None),
            (endless, HTTP, None),
        ] {
            let job = job(LoadModel::Closed, stop, protocol);
            let expected = timeouts.map(|timeouts: u32| job.plan.timeout.0 * timeouts);
            assert_eq!(job.slice.longest_push, expected, "{stop:?}, {protocol:?}");
        }
    }
}
