//! What is going on, on standard error: lines of a terminal that are redrawn, or elsewhere a plain line at times.

mod load;
mod picture;
mod run;

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub use load::LoadView;
pub use run::RunView;

/// Without a terminal, a line at most this often, unless something has been decided.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// Lines that are redrawn until they are dropped; hidden without a terminal.
fn redrawn_lines(template: &str, styled: impl FnOnce(ProgressStyle) -> ProgressStyle) -> ProgressBar {
    let is_shown = std::io::stderr().is_terminal();
    let target = if is_shown { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::with_draw_target(None, target).with_style(styled(style))
}

fn cut(text: &str, width: usize) -> String {
    console::truncate_str(text, width, "…").into_owned()
}
