//! The terminal: colours that switch off, durations as people read them, the one place that prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{IsTerminal, Write};
use std::time::Duration;

use tare_report::format::grouped;

use crate::args::Color;

/// Whether standard output takes colours.
pub fn stdout_colored(color: Color) -> bool {
    colored(color, std::io::stdout().is_terminal())
}

/// Whether standard error takes colours.
pub fn stderr_colored(color: Color) -> bool {
    colored(color, std::io::stderr().is_terminal())
}

fn colored(color: Color, terminal: bool) -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && !no_color,
    }
}

/// Prints to standard output. A reader that has gone (`| head`) is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
    let _ = std::io::stdout().flush();
}

/// Prints a line to standard error.
pub fn note(text: &str) {
    eprintln!("{text}");
}

/// ✓ or ✗.
pub fn mark(good: bool, colored: bool) -> String {
    let (mark, code) = if good { ("✓", "32") } else { ("✗", "31") };
    paint(colored, code, mark)
}

/// Text in a colour of the terminal's palette, where colours are on.
pub fn paint(colored: bool, code: &str, text: &str) -> String {
    if colored { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// The width of the terminal, 100 columns where there is none.
pub fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.or_else(|| console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns))).unwrap_or(100)
}

/// `1:48`, or `2 h 05 min` when it is long.
pub fn clock(duration: Duration) -> String {
    let secs = duration.as_secs();
    if secs >= 3600 { human_duration(duration) } else { format!("{}:{:02}", secs / 60, secs % 60) }
}

/// `40 s`, `3 min 40 s`, `2 h 05 min`.
pub fn human_duration(duration: Duration) -> String {
    let secs = duration.as_secs_f64().round() as u64;
    match secs {
        0..60 => format!("{secs} s"),
        60..3600 if secs.is_multiple_of(60) => format!("{} min", secs / 60),
        60..3600 => format!("{} min {} s", secs / 60, secs % 60),
        _ => format!("{} h {:02} min", secs / 3600, secs / 60 % 60),
    }
}

/// How far the connections are that a load waits for.
pub fn opening(open: usize, of: usize) -> String {
    format!("opening connections  {} of {}", grouped(open as u64), grouped(of as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_people_read_them() {
        for (secs, text) in [(0, "0 s"), (40, "40 s"), (220, "3 min 40 s"), (240, "4 min"), (7500, "2 h 05 min")] {
            assert_eq!(human_duration(Duration::from_secs(secs)), text);
        }
        assert_eq!(clock(Duration::from_secs(108)), "1:48");
    }
}
