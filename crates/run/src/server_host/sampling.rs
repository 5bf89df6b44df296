//! Samplers of servers: which one to attach.

use serde::{Deserialize, Serialize};
use tare_plan::profile::ProfileEvent;
use tare_sut::SutError;

use crate::server_host::local::server_id::ServerId;

/// A sampler to be attached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SamplingOrder {
    pub server: ServerId,
    pub event: ProfileEvent,
    /// Name of the sampler's own file, without its ending.
    pub file_name: String,
}

pub(super) fn process_not_visible() -> SutError {
    let remedy = "let tare start it, with a command in a suite file";
    SutError::sampler("profile a server that runs elsewhere", "its process cannot be seen", remedy)
}

/// The error for the end of a profile that was not begun.
pub fn no_sampler_attached() -> SutError {
    SutError::sampler("end a profile", "no sampler was attached", "please report this")
}
