//! What differs between two records, two servers of one or two loads, and what records of several machines say together: for a
//! terminal and as Markdown.

mod loads;
mod machines;
mod records;

use crate::clean::escape_markdown;
use crate::markdown::section;
use crate::palette::Tone;
use crate::text::{Sheet, Style};

/// A comparison in words and tables, before it has a form.
pub struct ComparisonText {
    /// What is compared: `2026-11-20-1 → 2026-11-20-2`.
    title: String,
    /// What it comes to, or why a side of it is doubtful.
    answers: Vec<String>,
    notes: Vec<String>,
    sheets: Vec<Sheet>,
}

pub fn render(compared: impl Into<ComparisonText>, style: &Style) -> String {
    let ComparisonText { title, answers, notes, sheets } = compared.into();
    let paragraph = |tone, text: String| style.paragraph(tone, &text, 4);
    let mut out = paragraph(Tone::Head, format!("tare compare · {title}")) + "\n";
    out.extend(answers.iter().map(|answer| paragraph(Tone::Head, format!("  {answer}")) + "\n"));
    out.extend(notes.iter().map(|note| paragraph(Tone::Quiet, format!("  {note}"))));
    out + &sheets.iter().map(|sheet| sheet.text(style)).collect::<String>()
}

/// For a pull request or the notes of a release.
pub fn render_markdown(compared: impl Into<ComparisonText>) -> String {
    let ComparisonText { title, answers, notes, sheets } = compared.into();
    let mut out = format!("**tare compare · {}**\n\n", escape_markdown(&title));
    out.extend(answers.iter().map(|answer| format!("{}\n\n", escape_markdown(answer))));
    out.extend(notes.iter().map(|note| format!("- {}\n", escape_markdown(note))));
    out + &sheets.iter().map(section).collect::<String>()
}
