//! The settings of a run, in one table (`table.rs`): one row for each setting.
//!
//! A row says the key, the type, the help sentence, the default, the checks, the flag and the field of the plan that it fills.
//! From the rows come [`Options`] (the settings of a suite), the flags and the help of `tare run` and
//! `tare profile`, the list that `--dry-run` prints, and docs/SETTINGS.md.
//!
//! A new setting takes two edits: its row in `table.rs`, and the field of [`crate::Plan`] that the row fills.

mod define;
mod flag;
mod resolver;
mod row;
mod table;
mod value;

pub use flag::{Flag, Section, SettingInfo, Switch};
pub use table::{Options, all_settings};
pub use value::SettingValue;

pub(crate) use resolver::Known;
pub(crate) use table::resolve_settings;
