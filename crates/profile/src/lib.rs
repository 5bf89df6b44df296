//! From stacks to a summary: the share of each frame in a program's CPU time or allocations. The crate is pure:
//! `tare-sut` makes the stacks, `tare-record` keeps them, and `tare-report` interprets the result. The usual order:
//! text → [`Stacks`] per fork → [`usage::Usage`] per fork → [`over_forks`] with intervals → [`causes`].

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
