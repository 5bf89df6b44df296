//! This machine, wherever in a run it stands: its cores, and what else happens on it.

pub(crate) mod generator;
pub mod machine_state;
pub(crate) mod named_cores;
