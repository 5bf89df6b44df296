//! The header of a record: its kind, its plan, its time, its machine, and the program.

use serde::{Deserialize, Serialize};
use tare_plan::{LoadPlan, Plan};

use crate::environment::Environment;

/// Written before anything is measured. `P` is the plan: of a run, or of a load ([`LoadHeader`]).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHeader<P = Plan> {
    /// `2026-11-20-1`; `load` for a load.
    pub id: String,
    /// Wall clock at the start, nanoseconds since 1970 UTC.
    pub started_unix_ns: u64,
    /// Program and arguments as typed, without secrets.
    pub command: Vec<String>,
    pub tare_version: String,
    pub git_revision: Option<String>,
    /// SHA-256 of the plan, in hex.
    pub plan_hash: String,
    pub plan: P,
    pub environment: Environment,
}

pub type LoadHeader = RunHeader<LoadPlan>;

/// The header of a record of either kind. The JSON field `kind` is `weighed` (a run) or `load`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecordHeader<R = Box<RunHeader>, L = Box<LoadHeader>> {
    /// A run: servers compared with one another.
    #[serde(rename = "weighed")]
    Run(R),
    Load(L),
}

/// The same, as it is written.
pub(crate) type HeaderRef<'a> = RecordHeader<&'a RunHeader, &'a LoadHeader>;
