//! Colours of the terminal. They add to the words and never replace them; files, pipes and `NO_COLOR` get none.

use anstyle::{AnsiColor, Style};

use tare_analysis::summary::VerdictKind;

/// The meaning of a piece of text, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Worse,
    Better,
    Undecided,
    Void,
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

impl Tone {
    /// `text` in its colour, one of the sixteen that a terminal lets its user choose; as it is unless `colored`.
    pub fn paint(self, colored: bool, text: &str) -> String {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        let style = match self {
            Self::Plain => return text.to_owned(),
            // Yellow and blue can be distinguished by those who cannot distinguish red from green.
            Self::Worse | Self::Warning => colour(AnsiColor::Yellow),
            Self::Better => colour(AnsiColor::Blue),
            Self::Undecided | Self::Quiet => Style::new().dimmed(),
            // Both follow a mark whose shape says the same.
            Self::Passed => colour(AnsiColor::Green),
            Self::Failed => colour(AnsiColor::Red),
            Self::Chart => colour(AnsiColor::Cyan),
            Self::Void => colour(AnsiColor::Red).bold(),
            Self::Head => Style::new().bold(),
        };
        if colored && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
