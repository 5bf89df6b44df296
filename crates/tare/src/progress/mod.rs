//! What is going on, on standard error: of a run and of a load. A terminal has lines that are redrawn; elsewhere a plain line is
//! printed at times.

mod load;
mod picture;
mod run;

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tare_analysis::format::grouped;

use crate::console::print_marked;

pub use load::LoadView;
pub use run::RunView;

/// Without a terminal, a line at most this often, unless something has been decided.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// The lines of a terminal that are redrawn; they go when it is dropped.
#[derive(Debug)]
struct Screen {
    /// None without a terminal.
    bar: Option<ProgressBar>,
}

impl Screen {
    /// Lines of this template, where standard error is a terminal.
    fn new(template: &str, styled: impl FnOnce(ProgressStyle) -> ProgressStyle) -> Self {
        let style = || ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar =
            || ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8)).with_style(styled(style()));
        Self { bar: std::io::stderr().is_terminal().then(bar) }
    }

    fn is_terminal(&self) -> bool {
        self.bar.is_some()
    }

    fn set_message(&self, text: String) {
        self.bar.iter().for_each(|bar| bar.set_message(text.clone()));
    }

    /// Prints a line that stays, behind a mark that may have a colour.
    fn print_above(&self, mark: &str, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| print_marked(mark, text)),
            None => print_marked(mark, text),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// A text in at most `width` columns.
fn cut(text: &str, width: usize) -> String {
    console::truncate_str(text, width, "…").into_owned()
}

/// How far the connections are that a load waits for.
fn opening_text(open: usize, of: usize) -> String {
    format!("opening connections  {} of {}", grouped(open as u64), grouped(of as u64))
}
