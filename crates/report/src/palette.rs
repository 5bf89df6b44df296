//! Colours of the terminal. They add to the words and never replace them; files, pipes and `NO_COLOR` get none.

use anstyle::{AnsiColor, Style};

use tare_analysis::summary::VerdictKind;

/// The meaning of a piece of text, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A difference on the bad side.
    Worse,
    /// A difference on the good side.
    Better,
    Undecided,
    /// A result that must not be used.
    Void,
    /// A check that passed, a comparison that is decided.
    Passed,
    Warning,
    Failed,
    Chart,
    Head,
    Quiet,
    Plain,
}

impl From<VerdictKind> for Tone {
    fn from(verdict: VerdictKind) -> Self {
        match verdict {
            VerdictKind::Worse => Self::Worse,
            VerdictKind::Better | VerdictKind::NoMaterialDifference => Self::Better,
            VerdictKind::Inconclusive | VerdictKind::NoInterval => Self::Undecided,
            VerdictKind::Void => Self::Void,
        }
    }
}

/// The colours of all output: those of the sixteen that a terminal lets its user choose, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    colored: bool,
}

impl Palette {
    pub const fn new(colored: bool) -> Self {
        Self { colored }
    }

    /// `text` in the colour of `tone`.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        let style = match tone {
            Tone::Plain => return text.to_owned(),
            // Yellow and blue can be distinguished by those who cannot distinguish red from green.
            Tone::Worse | Tone::Warning => colour(AnsiColor::Yellow),
            Tone::Better => colour(AnsiColor::Blue),
            Tone::Undecided | Tone::Quiet => Style::new().dimmed(),
            // Both follow a mark whose shape says the same.
            Tone::Passed => colour(AnsiColor::Green),
            Tone::Failed => colour(AnsiColor::Red),
            Tone::Chart => colour(AnsiColor::Cyan),
            Tone::Void => colour(AnsiColor::Red).bold(),
            Tone::Head => Style::new().bold(),
        };
        if self.colored && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
