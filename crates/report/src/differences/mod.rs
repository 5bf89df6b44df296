//! What differs between two records, or two servers of one, and what records of several machines say together: for a terminal and
//! as Markdown.

mod machines;
mod records;

pub use machines::{render_machines, render_machines_markdown};
pub(crate) use records::environment;
pub use records::{render, render_markdown};
