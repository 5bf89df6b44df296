//! Intent: a suite file, the flags and what is known of the servers become one explicit [`Plan`]. This crate is pure.
//! It reads text that others have loaded, and never a clock, a file or a socket.

pub mod agent_place;
pub mod choices;
pub mod condition;
pub mod contract;
pub mod currency;
pub mod document;
pub mod earlier;
pub mod error;
pub mod estimate;
pub mod inventory;
pub mod load_plan;
pub mod names;
pub mod plan;
pub mod profile;
pub mod resolve;
pub mod settings;
pub mod slo;
pub mod suite;
pub mod turn;

pub use choices::{Engine, ForkCovers, GroupOrder, PriorUse, SchedulingPolicy, SliceKind};
pub use currency::{Currency, LatencyFigure, ratio_limit};
pub use error::PlanError;
pub use load_plan::LoadPlan;
pub use plan::Plan;
pub use tare_sample::ServerClock;
