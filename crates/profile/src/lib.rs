//! Stacks in, summary out: what share of a program's CPU, or of what it allocates, each of its frames has. Pure: making the
//! stacks is `tare-sut`'s, keeping them `tare-record`'s, saying what they mean `tare-report`'s.
//!
//! The usual way through: text → [`Stacks`] per fork → [`usage::Usage`] per fork → [`over_forks`] with intervals → [`causes`].

pub mod causes;
pub mod collapsed;
pub mod error;
pub mod export;
pub mod flame;
pub mod frame;
pub mod over_forks;
pub mod stacks;
pub mod usage;

pub use error::ProfileError;
pub use flame::FlameTree;
pub use frame::{Frame, FrameKind};
pub use stacks::{FrameId, Stack, Stacks};
pub use usage::Usage;
