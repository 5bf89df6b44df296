//! What differs between two records, or two servers of one, and what records of several machines say together: for a terminal and
//! as Markdown.

mod machines;
mod markdown;
mod text;

pub use machines::{render_machines, render_machines_markdown};
pub(crate) use markdown::environment_markdown;
pub use markdown::render_markdown;
pub(crate) use text::environment_table;
pub use text::render;
