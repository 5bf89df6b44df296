//! Intent: a suite file, the flags and what is known of the servers become one explicit [`Plan`].
//!
//! This crate is pure. It reads text that others have loaded, and never a clock, a file or a socket.

pub mod body;
pub mod condition;
pub mod contract;
pub mod document;
pub mod earlier;
pub mod engine;
pub mod error;
pub mod estimate;
mod group;
pub mod group_order;
pub mod inventory;
pub mod load_plan;
pub mod names;
pub mod options;
pub mod plan;
pub mod profile;
pub mod push;
pub mod ratio_limit;
pub mod resolve;
pub mod server_scheduling;
mod setting;
pub mod settings;
mod slice_kind;
pub mod slo;
pub mod suite;
pub mod turn;

pub use error::PlanError;
pub use load_plan::LoadPlan;
pub use plan::Plan;
pub use tare_sample::ServerClock;
