//! The text of events: the only place that puts an [`EventKind`] into English.

use tare_units::{Unit, grouped, rate, share, single};

use super::{EventKind, LatencyPlan, SelfTestFigures};

impl EventKind {
    /// The observation with its figures, without a full stop.
    pub fn text(&self) -> String {
        match self {
            Self::SharedCores { server_cpus, load_cpus } => format!(
                "servers run on cores {server_cpus}, the generator runs on cores {load_cpus}: each takes CPU time from the other"
            ),
            Self::SharedPhysicalCores { server_cpus, load_cpus } => format!(
                "servers run on CPUs {server_cpus}, the generator runs on CPUs {load_cpus}: some are hardware threads of one physical \
                 core, and slow each other"
            ),
            Self::CpuGovernor { governor } => {
                format!("the CPU governor is \"{governor}\": the CPU frequency follows the load")
            }
            Self::BusyCore { cpu, busy_share } => format!("other programs use {} of core {cpu}", share(*busy_share)),
            Self::CpuPressure { waiting_share } => {
                format!("when the run began, tasks waited for a CPU {} of the time", share(*waiting_share))
            }
            Self::StolenTime { cpu: Some(cpu), stolen_share } => {
                format!("the hypervisor takes {} of core {cpu}", share(*stolen_share))
            }
            Self::StolenTime { cpu: None, stolen_share } => {
                format!("the hypervisor takes {} of the CPU time", share(*stolen_share))
            }
            Self::CpuQuota { cores } => format!(
                "the CPU quota of the container is {cores:.1} cores, less than the run uses: when it is used up, everything in \
                 the container stands still"
            ),
            Self::SelfTestPassed(figures) | Self::SelfTestFailed(figures) => figures.text(),
            Self::MeterMissing { reason } => format!("tare has no JVM agent: {reason}"),
            Self::ExternalServer => "tare did not start this server. Its CPU and memory are unknown, and all forks \
                 measure the same start: intervals do not show how starts differ"
                .to_owned(),
            Self::ContractMismatch { check, difference, .. } => {
                format!("{check}: {}", difference.as_deref().unwrap_or("the answer differs"))
            }
            Self::HeadersDiffer { differences } => differences.join("; "),
            Self::ServerSuspended => "a SIGSTOP stopped its process, so it cannot answer".to_owned(),
            Self::NoAnswers { failure } => {
                let why = if failure.is_empty() { String::new() } else { format!(": {failure}") };
                format!("no request of a slice was answered as expected{why}")
            }
            Self::ServerRestarted => {
                "it failed in the scenario before. From here on, a new start of it is measured".to_owned()
            }
            Self::ProgramChanged { file } => {
                format!(
                    "{file} is not what it was when the run began: starts before and after may be of different programs"
                )
            }
            Self::LatencyPlanned(plan) => plan.text(),
            Self::GroupNotMeasured { needed_s: 0, .. } => {
                "the budget ended before the first start of this group".to_owned()
            }
            Self::GroupNotMeasured { left_s, needed_s } => {
                format!("the first start of this group takes about {needed_s} s, and the budget had {left_s} s left")
            }
            Self::RunResumed { cut_slices: 0, .. } => {
                "the run was interrupted between two starts, and went on with the next one".to_owned()
            }
            Self::RunResumed { cut_slices, copy } => {
                let copy = copy.as_ref().map_or_else(String::new, |copy| format!("; {copy} has the first attempt"));
                format!(
                    "the run was interrupted in a start, which was measured again ({cut_slices} slices of it do not count{copy})"
                )
            }
            Self::GivenUp { after_ns, failures } => format!(
                "nothing succeeded in {}, and {} failed, so the rest of the load was left out. If it shall go on all the same, \
                 give --fail-if 'errors>100%'",
                time(*after_ns),
                grouped(*failures)
            ),
            Self::RequestsCutOff { requests } => format!(
                "{requests} requests had no answer when the load stopped. No figure includes them, and they may be the slowest"
            ),
            Self::AgentLost { agent, reason, from_s, noticed_s, left, of, asked_per_s } => {
                let offered = asked_per_s.map_or_else(
                    || "its share is missing".to_owned(),
                    |asked| {
                        let offered = asked * f64::from(*left) / f64::from((*of).max(1));
                        format!("offered {} of {}", grouped(offered.round() as u64), rate(asked))
                    },
                );
                let noticed = noticed_s.filter(|noticed| noticed > from_s);
                let noticed = noticed.map_or_else(String::new, |second| format!(" (noticed in second {second})"));
                format!("{agent}: {reason}. {left} of {of} agents are left: {offered} from second {from_s} on{noticed}")
            }
            Self::AgentDisturbed { agent, reason } => format!("{agent}: {reason}"),
            Self::AgentsBegan { turns, median_ns, p99_ns } => format!(
                "the agents began half of {turns} turns within {} of one another, and 99 % within {}",
                time(*median_ns),
                time(*p99_ns)
            ),
            Self::ServerUnavailable { reason }
            | Self::ServerNotStarted { reason }
            | Self::ProfileFailed { reason }
            | Self::StopsUnknown { reason } => reason.clone(),
            Self::ServerEnded { end } => end.clone(),
            Self::TareFailed { error } => error.clone(),
            Self::Other => String::new(),
        }
    }

    /// A JVM wrote a log of its stops that tare does not understand.
    pub fn stops_unreadable() -> Self {
        let reason = "the JVM's log of safepoints was cut, belongs to another process or has another form, so latency is not divided";
        Self::StopsUnknown { reason: reason.to_owned() }
    }

    /// What the reader can do about it; `None` if there is nothing to do.
    pub fn remedy(&self) -> Option<String> {
        let (.., remedy) = self.name().meaning();
        match self {
            Self::ContractMismatch { server, suite_file, .. } => {
                let suite = if suite_file.is_empty() { String::new() } else { format!(" --suite {suite_file}") };
                Some(format!("tare does not measure this server. Show the check with: tare verify {server}{suite}"))
            }
            Self::LatencyPlanned(plan) => plan.remedy(),
            _ => Some(remedy.to_owned()).filter(|remedy| !remedy.is_empty()),
        }
    }
}

impl LatencyPlan {
    fn span_s(&self) -> f64 {
        f64::from(self.windows) * self.window_s
    }

    /// `4 × 3 s of each server in each start, because http4s.Vanilla collects garbage every 2.3 s`.
    fn text(&self) -> String {
        let Self { first_fork, windows, window_s, rate_per_s, server, collects_every_s, .. } = self;
        let because = match collects_every_s {
            Some(every_s) => format!("{server} collects garbage every {}", seconds(*every_s)),
            None => {
                let requests = grouped((self.span_s() * rate_per_s).round() as u64);
                format!("{server}, which is not known to collect garbage, gets {requests} requests in this time")
            }
        };
        let starts =
            if *first_fork > 1 { format!("in start {first_fork} and later") } else { "in each start".to_owned() };
        format!("{windows} × {} of each server {starts}, because {because}", seconds(*window_s))
    }

    fn remedy(&self) -> Option<String> {
        // The windows may be a little shorter than was asked for, because all are equally long.
        let is_short = self.needed_s > self.span_s() * 1.01;
        let needed_s = self.needed_s.ceil();
        is_short.then(|| format!("The plan allows no more. For a steadier p99 give --latency {needed_s:.0}s."))
    }
}

/// `2.3 s`, and without decimals from ten seconds on or where there are none.
fn seconds(s: f64) -> String {
    if s >= 10.0 || (s - s.round()).abs() < 0.05 { format!("{s:.0} s") } else { format!("{s:.1} s") }
}

impl SelfTestFigures {
    fn text(&self) -> String {
        let failed = match self.failed {
            0 => String::new(),
            failed => format!("; {failed} of {} requests failed", self.offered),
        };
        format!(
            "with a planted delay of {}, tare measured p50 {} and p99 {}, with a send lag of p99 {}{failed}",
            time(self.planted_ns),
            time(self.p50_ns),
            time(self.p99_ns),
            time(self.send_lag_p99_ns)
        )
    }
}

/// `23.4 µs`: a time in nanoseconds.
fn time(ns: u64) -> String {
    single(Unit::Nanos, ns as f64)
}
