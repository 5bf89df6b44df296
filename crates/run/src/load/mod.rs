//! One load on one URL (`tare load`): from its plan to its record.

mod drive;
mod generator;
mod header;
mod job;
mod placement;
mod recording;

pub use drive::{DrivenLoad, drive_load};
pub use generator::{allow_connections, generator_cpus};
pub use header::load_header;
pub use job::LoadJob;
pub use placement::server_is_elsewhere;
