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
    SutError::Sampler {
        doing: "profile a server that runs elsewhere".to_owned(),
        said: "its process cannot be seen".to_owned(),
        remedy: "let tare start it, with a command in a suite file".to_owned(),
    }
}

/// The error for the end of a profile that was not begun.
pub fn no_sampler_attached() -> SutError {
    SutError::Sampler {
        doing: "end a profile".to_owned(),
        said: "no sampler was attached".to_owned(),
        remedy: "please report this".to_owned(),
    }
}
