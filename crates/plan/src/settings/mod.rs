//! The settings of a run. From the rows of `table.rs` come [`Options`] (the settings of a suite), the flags and the
//! help of `tare run` and `tare profile`, the list that `--dry-run` prints, and docs/SETTINGS.md. A new setting takes
//! two edits: its row, and the field of [`crate::Plan`] that the row fills.

mod define;
mod resolver;
mod row;
mod table;
mod value;

pub use row::{Flag, Section, SettingInfo, Switch};
pub use table::{Options, all_settings};
pub use value::SettingValue;

pub(crate) use resolver::Known;
pub(crate) use table::resolve_settings;
