//! Runs over time, for a terminal and as a page.

mod page;
mod text;

pub use page::render_page;
pub use text::render;
