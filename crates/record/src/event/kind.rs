//! The kinds of events, each with its facts.

use serde::{Deserialize, Serialize};

use crate::figure::read_number;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventLevel {
    #[default]
    Info,
    /// The figures can be used with care.
    Warning,
    /// Figures are missing or void.
    Error,
}

/// The self-test's measurement of answers with a known delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTestFigures {
    /// Delay of every answer of the reference server.
    pub planted_ns: u64,
    /// Median service time.
    pub p50_ns: u64,
    /// 99th percentile of service time.
    pub p99_ns: u64,
    pub send_lag_p99_ns: u64,
    pub offered: u64,
    pub failed: u64,
}

/// How long the latency of each server is measured in each fork, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyPlan {
    /// The first fork (1-based) with latency; 0 in older records, in which all forks have it.
    #[serde(default)]
    pub first_fork: u32,
    /// Windows of each server in each such fork.
    pub windows: u32,
    /// Length of one.
    #[serde(deserialize_with = "read_number")]
    pub window_s: f64,
    /// Requests per second of each server.
    #[serde(deserialize_with = "read_number")]
    pub rate_per_s: f64,
    /// The server that needs the longest time.
    pub server: String,
    /// How often it collects garbage at this rate; absent where it is not known to collect.
    pub collects_every_s: Option<f64>,
    /// The time that it needs for enough collections and requests. The windows are shorter where the plan allows less.
    #[serde(deserialize_with = "read_number")]
    pub needed_s: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum EventKind {
    /// Servers and generator run on the same cores, each a list such as `0,2-3`.
    SharedCores { server_cpus: String, load_cpus: String },
    /// They run on hardware threads of the same physical cores.
    SharedPhysicalCores { server_cpus: String, load_cpus: String },
    /// The CPU governor, such as `powersave`, changes the CPU frequency.
    CpuGovernor { governor: String },
    /// Other programs use a core of the run for this share (0 to 1) of its time.
    BusyCore {
        cpu: usize,
        #[serde(deserialize_with = "read_number")]
        busy_share: f64,
    },
    /// Tasks waited for a CPU for this share (0 to 1) of the time when the run began.
    CpuPressure {
        #[serde(deserialize_with = "read_number")]
        waiting_share: f64,
    },
    /// The hypervisor takes this share (0 to 1) of the time of a core; of all cores without a number.
    StolenTime {
        cpu: Option<usize>,
        #[serde(deserialize_with = "read_number")]
        stolen_share: f64,
    },
    /// The CPU quota of the container, in cores, is less than those of the run.
    CpuQuota {
        #[serde(deserialize_with = "read_number")]
        cores: f64,
    },
    /// The generator measured the planted delays correctly.
    SelfTestPassed(SelfTestFigures),
    /// The generator measured the planted delays wrongly.
    SelfTestFailed(SelfTestFigures),
    /// JVMs run without the hiccup meter.
    MeterMissing { reason: String },
    /// tare did not start this server.
    ExternalServer,
    /// This machine cannot run the server.
    ServerUnavailable { reason: String },
    /// The server did not start or did not become ready.
    ServerNotStarted { reason: String },
    /// An answer of the server differs, maybe it is known how, from the contract or from that of its baseline.
    ContractMismatch {
        server: String,
        /// The suite that has the server, quoted for a shell; empty for one of the catalog, and in older records.
        #[serde(default)]
        suite_file: String,
        check: String,
        difference: Option<String>,
    },
    /// The server sends other headers than its baseline.
    HeadersDiffer { differences: Vec<String> },
    /// The process of the server ended during the run: `exited with code 1`, `killed by signal 9`.
    ServerEnded { end: String },
    /// The process of the server is stopped (SIGSTOP).
    ServerSuspended,
    /// No request of a slice was answered as expected; what was wrong with most answers is empty where it is unknown.
    NoAnswers {
        #[serde(default)]
        failure: String,
    },
    /// The server was started again after it failed in the scenario before.
    ServerRestarted,
    /// A file of a server's program is not what it was when the run began.
    ProgramChanged { file: String },
    /// The windows of latency that the first fork of a scenario has fixed for all.
    LatencyPlanned(LatencyPlan),
    /// It is not known when the server stood still.
    StopsUnknown { reason: String },
    /// The budget ended before the first fork of a group.
    GroupNotMeasured {
        /// What was left of the budget; this and the next are 0 in older records.
        #[serde(default)]
        left_s: u64,
        /// What a fork of this group takes.
        #[serde(default)]
        needed_s: u64,
    },
    /// The run was interrupted and went on later. The slices of the step that was cut short were measured again; a copy
    /// of the record, by its file name, has them.
    RunResumed { cut_slices: usize, copy: Option<String> },
    /// A sampler did not work.
    ProfileFailed { reason: String },
    /// A load ended after this scored time, because all requests and connections, so many, had failed.
    GivenUp { after_ns: u64, failures: u64 },
    /// Requests had no answer when the load stopped.
    RequestsCutOff { requests: u64 },
    /// An agent, such as `ssh://bench1`, was lost while it made load.
    AgentLost {
        agent: String,
        reason: String,
        /// End of what it reported, in seconds since the start of the load.
        from_s: u64,
        /// When its loss was noticed, in the same unit.
        noticed_s: Option<u64>,
        left: u32,
        /// Agents at the start.
        of: u32,
        /// Requests per second that were asked for; `None` where no constant rate was.
        asked_per_s: Option<f64>,
    },
    /// An agent of a run was late in a turn of load, or stood still. Reported once per agent, for its first such turn.
    AgentDisturbed { agent: String, reason: String },
    /// How far apart the agents of a run began its scored turns of load, from the first agent to the last: median and
    /// 99th percentile, with the differences in the network delay of the answers. Of a resumed run, the later turns.
    AgentsBegan { turns: u64, median_ns: u64, p99_ns: u64 },
    /// tare itself failed.
    TareFailed { error: String },
    /// A kind that this version of tare does not know. The record's title and text describe it.
    #[default]
    #[serde(other)]
    Other,
}

/// Declares [`EventName`]: the name of each [`EventKind`] without its facts, and what such an event means. A row is: how much it
/// matters, whether it makes the cells that it names void, its title, and what the reader can do about it, which may be
/// nothing. For a server the title follows the name: `http4s.Tapir: did not start`.
macro_rules! event_names {
    ($($Name:ident: $level:ident, $voids:literal, $title:literal, $remedy:literal;)+) => {
        /// The name of each [`EventKind`], without its facts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum EventName {
            $($Name,)+
        }

        impl EventKind {
            /// Its name; the same text in JSON as the `name` of the kind.
            pub const fn name(&self) -> EventName {
                match self {
                    $(Self::$Name { .. } => EventName::$Name,)+
                }
            }
        }

        impl EventName {
            /// Level, whether it voids, title, and remedy.
            pub(crate) const fn meaning(self) -> (EventLevel, bool, &'static str, &'static str) {
                match self {
                    $(Self::$Name => (EventLevel::$level, $voids, $title, $remedy),)+
                }
            }
        }
    };
}

event_names! {
    SharedCores: Warning, false, "Shared cores", "Give each its own cores with --server-cpus and --load-cpus.";
    SharedPhysicalCores: Warning, false, "Shared physical cores", "Give each its own physical cores with --server-cpus and --load-cpus; lscpu -e lists them.";
    CpuGovernor: Warning, false, "CPU frequency scaling", "As root: cpupower frequency-set -g performance";
    BusyCore: Warning, false, "Busy core", "Stop the other programs (see top), or measure on other cores.";
    CpuPressure: Warning, false, "Busy machine", "Stop the other programs (see top), or measure on another machine.";
    StolenTime: Warning, false, "Stolen CPU time", "Measure on a dedicated machine, or rely on large differences only.";
    CpuQuota: Warning, false, "CPU quota", "Remove the container's limit while measuring (docker: --cpus, Kubernetes: limits.cpu).";
    SelfTestPassed: Info, false, "Self-test passed", "";
    SelfTestFailed: Warning, false, "Self-test failed", "Stop other programs, or measure on other cores or another machine.";
    MeterMissing: Warning, false, "No hiccup meter in JVMs", "Install a JDK with javac, or name one with --java.";
    ExternalServer: Info, false, "external server", "If it runs on this machine, keep it off the generator's cores (taskset, --load-cpus).";
    ServerUnavailable: Warning, true, "not available", "";
    ServerNotStarted: Error, true, "did not start", "";
    ContractMismatch: Error, true, "does not answer as it must", "";
    HeadersDiffer: Info, false, "sends other headers than its baseline", "";
    ServerEnded: Error, true, "ended during the run", "";
    ServerSuspended: Error, true, "suspended", "";
    NoAnswers: Error, true, "no valid answers", "";
    ServerRestarted: Info, false, "started again", "";
    ProgramChanged: Warning, false, "A program changed during the run", "If something built it meanwhile, run again and let it be.";
    LatencyPlanned: Info, false, "Windows of latency", "";
    StopsUnknown: Info, false, "stops are not known", "";
    GroupNotMeasured: Warning, true, "Group not measured", "Raise the budget (--budget), or measure less (-s, -m).";
    RunResumed: Info, false, "Interrupted and resumed", "";
    ProfileFailed: Warning, false, "not profiled", "";
    GivenUp: Warning, false, "Ended early", "";
    RequestsCutOff: Info, false, "Requests cut off", "";
    AgentLost: Warning, false, "Agent lost", "Use the time before it was lost, or load again. Its share went to no other agent.";
    AgentDisturbed: Warning, false, "Agent disturbed", "Stop the other programs on its machine, or let another machine make the load.";
    AgentsBegan: Info, false, "Begin of turns", "";
    TareFailed: Error, false, "tare failed", "";
    Other: Info, false, "", "";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_json_is_the_name_of_the_kind() {
        let figures =
            SelfTestFigures { planted_ns: 1, p50_ns: 2, p99_ns: 3, send_lag_p99_ns: 4, offered: 5, failed: 6 };
        for kind in [
            EventKind::BusyCore { cpu: 3, busy_share: 0.25 },
            EventKind::CpuQuota { cores: 1.5 },
            EventKind::SelfTestFailed(figures),
            EventKind::ServerSuspended,
            EventKind::Other,
        ] {
            let json = serde_json::to_value(&kind).unwrap();
            assert_eq!(json["name"], serde_json::to_value(kind.name()).unwrap());
            assert_eq!(serde_json::from_value::<EventKind>(json).unwrap(), kind);
        }
    }

    #[test]
    fn a_kind_of_a_later_version_is_read_as_other() {
        let later = serde_json::json!({"name": "thermal_throttling", "cpu": 3});
        assert_eq!(serde_json::from_value::<EventKind>(later).unwrap(), EventKind::Other);
    }
}
