//! The terminal: colours that switch off, and the one place that prints.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

use clap::ValueEnum;
use tare_record::EventLevel;
use tare_report::clean::sanitize_lines;
use tare_report::palette::Tone;
use tare_report::text::Style;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

pub fn stdout_colored(color: Color) -> bool {
    colored(color, io::stdout().is_terminal())
}

pub fn report_style(color: Color) -> Style {
    Style { colored: stdout_colored(color), width: terminal_width() }
}

pub fn stderr_colored(color: Color) -> bool {
    colored(color, io::stderr().is_terminal())
}

fn colored(color: Color, terminal: bool) -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && !no_color,
    }
}

/// Why standard output could not be written, the first time that it could not.
static STDOUT_FAILURE: OnceLock<String> = OnceLock::new();

/// Prints to standard output. A failure is kept for the end of the program, so that files are still written.
pub fn print_text(text: &str) {
    let mut stdout = io::stdout();
    keep_stdout_failure(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// Keeps why standard output could not be written. A reader that has gone (`| head`) is no failure.
pub fn keep_stdout_failure(printed: io::Result<()>) {
    if let Some(error) = printed.err().filter(|error| error.kind() != ErrorKind::BrokenPipe) {
        let _ = STDOUT_FAILURE.set(error.to_string());
    }
}

/// Whether the file of a flag means standard output.
pub fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// Why standard output could not be written; `None` if it could, or if its reader has gone.
pub fn stdout_failure() -> Option<&'static str> {
    STDOUT_FAILURE.get().map(String::as_str)
}

/// Prints lines to standard error. What files, servers or arguments have in them moves no cursor.
pub fn print_note(text: &str) {
    print_marked("", text);
}

/// Prints lines to standard error behind a mark of our own, which may have a colour. Where nobody reads them any more,
/// as after the end of `2>&1 | head` or of a terminal, nothing else is lost.
pub fn print_marked(mark: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{mark}{}", sanitize_lines(text));
}

/// ✓ or ✗.
pub fn check_mark(good: bool, colored: bool) -> String {
    let (tone, mark) = if good { (Tone::Passed, "✓") } else { (Tone::Failed, "✗") };
    tone.paint(colored, mark)
}

/// The mark of an event: ✓, ! or ✗.
pub fn event_mark(level: EventLevel, colored: bool) -> String {
    match level {
        EventLevel::Info => check_mark(true, colored),
        EventLevel::Warning => Tone::Warning.paint(colored, "!"),
        EventLevel::Error => check_mark(false, colored),
    }
}

/// The width of the terminal, 100 columns where there is none.
pub fn terminal_width() -> usize {
    let from_environment = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    from_environment
        .or_else(|| console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns)))
        .unwrap_or(100)
}

/// The width of the terminal on standard error in columns, 80 without one.
pub fn stderr_width() -> usize {
    usize::from(console::Term::stderr().size().1)
}
