//! Record to answers: everything that a report says is computed here, and nothing here writes a form. Depends on no crate that
//! measures, so that old records have answers on any machine.
//!
//! [`summarize()`] answers for a run, [`load::summarize`] for a load, [`differences`] for two runs, [`history`] for many, and
//! [`stop`] says when a run may stop. What they answer is in [`summary`].

pub mod attribution;
pub mod cell;
mod compare;
pub mod differences;
pub mod earlier;
mod evidence;
pub mod forecast;
pub mod format;
pub mod history;
mod limits;
pub mod load;
pub mod profile;
pub mod run_info;
pub mod stop;
mod summarize;
pub mod summary;
pub mod words;

pub use compare::recorded_forks;
pub use format::{rfc3339, utc};
pub use profile::summarize_with;
pub use summarize::summarize;
pub use summary::Summary;
pub use tare_plan::Currency;
