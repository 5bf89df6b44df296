//! Colours of the terminal: an addition to the words, never in their place, and off altogether where they do not belong.

use anstyle::{AnsiColor, Style};

use crate::summary::VerdictKind;

/// What a piece of text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A difference on the bad side.
    Worse,
    /// A difference on the good side.
    Better,
    /// Not known yet.
    Undecided,
    /// Not to be used.
    Void,
    /// A heading.
    Head,
    /// Of second rank.
    Quiet,
    /// As it is.
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

/// Colours, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    coloured: bool,
}

impl Palette {
    /// No colours: for files, pipes and `NO_COLOR`.
    pub const PLAIN: Self = Self { coloured: false };
    /// The sixteen colours that a terminal lets its user choose.
    pub const COLOURED: Self = Self { coloured: true };

    /// `text` in the colour of `tone`.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        let style = match tone {
            Tone::Plain => return text.to_owned(),
            // Yellow and blue are told apart by those who cannot tell red from green.
            Tone::Worse => colour(AnsiColor::Yellow),
            Tone::Better => colour(AnsiColor::Blue),
            Tone::Undecided | Tone::Quiet => Style::new().dimmed(),
            Tone::Void => colour(AnsiColor::Red).bold(),
            Tone::Head => Style::new().bold(),
        };
        if self.coloured && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
