//! The plan of one load on one URL (`tare load`): what is sent, how fast, over which connections, and when it ends.

use std::fmt;

use serde::{Deserialize, Serialize};
pub use tare_sample::Arrivals;
use tare_sample::ServerClock;

use crate::condition::Condition;
pub use crate::plan::{Protocol, TlsTrust};
use crate::plan::{Setting, hash_of};
use tare_units::Span;

/// One load on one URL, with nothing optional left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadPlan {
    /// The URL under load; the first of several.
    pub url: String,
    /// Method and path of the request; of several, `GET /path and 2 more`.
    pub request: String,
    /// Number of different requests that take turns.
    pub requests: u32,
    /// Number of checks that each answer must pass; without one of the status, 200 to 299 is right.
    pub checks: u32,
    /// Files whose columns fill the variables of requests.
    pub feeds: Vec<String>,
    /// The file with what each user sent once before the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    pub model: LoadModel,
    /// How long a user of a closed loop thinks before its next request, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Span>,
    pub stop: LoadStop,
    /// Time at the start that is not scored.
    pub warmup: Span,
    /// Users of a closed loop, or connections of an open one.
    pub connections: u32,
    pub protocol: Protocol,
    /// Which server certificates are accepted; `None` without TLS.
    pub tls: Option<TlsTrust>,
    /// A request without an answer after this time has failed.
    pub timeout: Span,
    /// A connection that is not open after this time has failed.
    pub connect_timeout: Span,
    /// Cores of the generator, such as `1` or `2-3`.
    pub load_cpus: String,
    /// The process of this machine whose use and stops are shown, with its children.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerProcess>,
    pub server_clock: ServerClock,
    pub interval: Span,
    pub seed: u64,
    /// Conditions on which the load fails (`--fail-if`).
    pub conditions: Vec<Condition>,
    pub settings: Vec<Setting>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// The file name of its program.
    pub name: String,
    pub pid: u32,
}

/// As people read it: `java (process 4711)`.
impl fmt::Display for ServerProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

/// How requests are offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadModel {
    /// Closed loop: each user sends its next request after the answer to the last.
    Closed,
    /// Closed loop whose number of users changes in straight lines, from none.
    ClosedStages { stages: Vec<LoadStage> },
    /// Open loop: requests leave on a schedule.
    Open {
        /// Requests per second at the start.
        per_s: f64,
        /// Changes of the rate in straight lines, in requests per second; empty for a constant rate.
        stages: Vec<LoadStage>,
        arrivals: Arrivals,
        /// Requests leave together at multiples of this time.
        tick: Option<Span>,
    },
}

/// One straight line in the course of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadStage {
    /// Level at its end.
    pub to: f64,
    pub over: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadStop {
    /// After a scored time, which follows the warm-up.
    Duration { span: Span },
    /// After a number of requests; with pushed messages, of users who have read all of theirs. Requests of the warm-up
    /// do not count, messages and users do. It ends after a time in any case, which follows the warm-up.
    Requests { count: u64, at_most: Span },
}

impl LoadStop {
    /// The longest time of a load that has a number of requests and no duration: a server may never answer.
    pub const NO_LIMIT: Span = Span::from_secs(24 * 3600);
}

impl LoadPlan {
    /// SHA-256 of what determines the measurement, in hex.
    pub fn hash(&self) -> String {
        let copy = Self { settings: Vec::new(), conditions: Vec::new(), ..self.clone() };
        hash_of(&copy)
    }

    pub fn sends_events(&self) -> bool {
        matches!(self.protocol, Protocol::Events { .. })
    }

    /// Time between two pushed messages; `None` where the server only answers.
    pub fn push_period(&self) -> Option<Span> {
        match self.protocol {
            Protocol::Push { period, .. } => Some(period),
            _ => None,
        }
    }
}
