//! The inputs of a run in addition to its plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_plan::contract::Contract;
use tare_record::RunRecord;
use tare_record::checkpoint::ComparisonState;

use crate::load_host::LoadMachines;
use crate::prepare::Launches;
use crate::server_host::ServerMachine;

/// Whether each comparison may stop, and how it stands, by what has been recorded so far.
pub type ReasonsToStop<'a> = dyn Fn(&RunRecord) -> Vec<ComparisonState> + 'a;

pub struct RunInputs<'a> {
    /// How each variant is started.
    pub launches: &'a Launches,
    /// The machine of the servers, where that is another one.
    pub host: Option<&'a dyn ServerMachine>,
    /// The agents that make the load; `None` where this process does.
    pub agents: Option<&'a dyn LoadMachines>,
    /// What the catalog's servers must answer.
    pub contract: &'a Contract,
    /// Folder for the servers' logs.
    pub logs: &'a Path,
    /// Folder for the samplers' own files.
    pub profiles: &'a Path,
    /// Set by Ctrl-C: the run ends, and its record keeps what was measured.
    pub cancelled: Arc<AtomicBool>,
    /// Program of the built-in server of known delays, for the self-test before the first fork; `None` skips the test.
    pub reference: Option<PathBuf>,
    /// Says after the rounds of each scenario, and after each fork, whether the comparisons may stop.
    pub reasons_to_stop: &'a ReasonsToStop<'a>,
}
