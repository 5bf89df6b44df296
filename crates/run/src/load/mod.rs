//! One load on one URL (`tare load`): from its plan to its record.

mod drive;
mod header;
mod intervals;
mod job;
mod outlook;
mod process;
mod server;
mod source;

pub use crate::machine::generator::{allow_connections, generator_cpus, is_whole_pod, pod_generator_cpus};
pub use drive::{DrivenLoad, drive_load};
pub use header::load_header;
pub use job::LoadJob;
pub use process::{find_process, may_answer, server_is_elsewhere};
pub use server::WatchedServer;
pub use source::{Equipment, LoadSource, MadeLoad, Observed, OnObserved};
