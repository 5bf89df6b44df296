//! What differs between two records, or two servers of one, for a terminal and as Markdown.

mod markdown;
mod text;

pub use markdown::render_markdown;
pub(crate) use text::environment_table;
pub use text::render;
