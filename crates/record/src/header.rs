//! The header of a record: its kind, its plan, its time, its machine, and the program.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tare_plan::{LoadPlan, Plan};

use crate::environment::Environment;

/// Written before anything is measured. `P` is the plan: of a run, or of a load ([`LoadHeader`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHeader<P = Plan> {
    /// `2026-11-20-1`; `load` for a load.
    pub id: String,
    /// Wall clock at the start, nanoseconds since 1970 UTC.
    pub started_unix_ns: u64,
    /// Program and arguments as typed, without secrets.
    pub command: Vec<String>,
    /// Version of tare.
    pub tare_version: String,
    /// Git revision of the working directory, if it has one.
    pub git_revision: Option<String>,
    /// SHA-256 of the plan, in hex.
    pub plan_hash: String,
    /// The plan.
    pub plan: P,
    /// Facts about the machine.
    pub environment: Environment,
}

/// The header of a load.
pub type LoadHeader = RunHeader<LoadPlan>;

impl<P> RunHeader<P> {
    /// The same header with another plan.
    fn replace_plan<Q>(self, plan: Q) -> RunHeader<Q> {
        RunHeader {
            id: self.id,
            started_unix_ns: self.started_unix_ns,
            command: self.command,
            tare_version: self.tare_version,
            git_revision: self.git_revision,
            plan_hash: self.plan_hash,
            plan,
            environment: self.environment,
        }
    }
}

/// The header of a record of either kind, as it is written. The JSON field `kind` is `weighed` (a run) or `load`.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum HeaderRef<'a> {
    /// A run: servers compared with one another.
    #[serde(rename = "weighed")]
    Run(&'a RunHeader),
    /// One load on one URL.
    Load(&'a LoadHeader),
}

/// The header of a record of either kind, as it is read.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordHeader {
    /// A run: servers compared with one another.
    Run(Box<RunHeader>),
    /// One load on one URL.
    Load(Box<LoadHeader>),
}

impl<'de> Deserialize<'de> for RecordHeader {
    /// Reads the header of any version. Before version 5 there was no `kind`, and a load had the plan of a run: here it
    /// gets the header of a load.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            #[serde(rename = "weighed")]
            Run,
            Load,
        }
        fn read<T: DeserializeOwned, E: Error>(value: Value) -> Result<T, E> {
            serde_json::from_value(value).map_err(E::custom)
        }
        let mut value = Value::deserialize(deserializer)?;
        let kind = value.as_object_mut().and_then(|fields| fields.remove("kind"));
        match kind.map(read::<Kind, D::Error>).transpose()? {
            Some(Kind::Run) => Ok(Self::Run(Box::new(read(value)?))),
            Some(Kind::Load) => Ok(Self::Load(Box::new(read(value)?))),
            None => {
                let header: RunHeader = read(value)?;
                Ok(match LoadPlan::from_old_plan(&header.plan) {
                    Some(plan) => Self::Load(Box::new(header.replace_plan(plan))),
                    None => Self::Run(Box::new(header)),
                })
            }
        }
    }
}
