//! What makes a load: the generator of this process, or a fleet of agents. Both are driven and recorded alike.

use serde::{Deserialize, Serialize};
use tare_load::{Cancel, LoadSession, MessageTally, Watched};
use tare_record::{AgentRecord, EventRecord};

use super::job::LoadJob;
use crate::error::RunError;

/// What a load is made with, as its record states it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equipment {
    /// The agents; empty where this process makes the load.
    pub agents: Vec<String>,
    pub load_cpus: String,
    pub congestion: String,
    pub keeps_cpus_awake: String,
    pub sending: String,
}

/// What a load shows while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum Observed<'a> {
    Load(Watched<'a>),
    /// What all agents have done so far, lost ones too.
    Agents(&'a [AgentRecord]),
}

pub type OnObserved<'a> = &'a mut dyn FnMut(Observed<'_>);

/// What is known of a load once it is over, besides its parts.
#[derive(Debug, Default)]
pub struct MadeLoad {
    /// Whether it ended before its time.
    pub is_cut_short: bool,
    /// The last word on the server's clock.
    pub messages: MessageTally,
    pub agents: Vec<AgentRecord>,
    pub events: Vec<EventRecord>,
}

pub trait LoadSource {
    fn equipment(&self, job: &LoadJob) -> Equipment;

    /// Makes the load of a job, or what of it is possible until `cancel`, and shows `observer` one part after another.
    fn make_load(&mut self, job: &LoadJob, cancel: &Cancel, observer: OnObserved<'_>) -> Result<MadeLoad, RunError>;
}

impl LoadSource for LoadSession {
    fn equipment(&self, job: &LoadJob) -> Equipment {
        Equipment {
            agents: Vec::new(),
            load_cpus: job.plan.load_cpus.clone(),
            congestion: self.congestion.as_deref().unwrap_or("none").to_owned(),
            keeps_cpus_awake: if self.keeps_cpus_awake { "yes" } else { "no" }.to_owned(),
            sending: job.slice.sending.to_string(),
        }
    }

    fn make_load(&mut self, job: &LoadJob, cancel: &Cancel, observer: OnObserved<'_>) -> Result<MadeLoad, RunError> {
        let mut show = |watched: Watched<'_>| observer(Observed::Load(watched));
        let whole = self.run_watched(&job.slice, Some(job.part_length()), cancel, None, &mut show)?;
        Ok(MadeLoad { is_cut_short: whole.cancelled, messages: whole.messages, ..MadeLoad::default() })
    }
}
