//! One line of `tare doctor`.

use tare_report::palette::Tone;
use tare_report::text::wrap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckState {
    Fine,
    /// It is not there, and only some uses need it.
    Optional,
    /// Figures will be less certain.
    Doubtful,
    /// A run is not possible.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub state: CheckState,
    /// Short name; empty where `found` says it all.
    pub what: &'static str,
    pub found: String,
    pub remedy: Option<String>,
}

impl Checked {
    pub fn fine(what: &'static str, found: impl Into<String>) -> Self {
        Self { state: CheckState::Fine, what, found: found.into(), remedy: None }
    }

    pub fn new(state: CheckState, what: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into()).filter(|remedy| !remedy.is_empty());
        Self { state, what, found: found.into(), remedy }
    }

    /// A line with mark and name, and a line with the remedy.
    pub fn text(&self, colored: bool, width: usize) -> String {
        let (tone, mark) = match self.state {
            CheckState::Fine => (Tone::Passed, "✓"),
            CheckState::Optional => (Tone::Quiet, "–"),
            CheckState::Doubtful => (Tone::Warning, "!"),
            CheckState::Missing => (Tone::Failed, "✗"),
        };
        let name = if self.what.is_empty() { String::new() } else { format!("{}: ", self.what) };
        let line = wrap(&format!("  {mark} {name}{}", self.found), width, 4);
        let line = line.replacen(mark, &tone.paint(colored, mark), 1);
        let remedy = self.remedy.as_ref().map(|remedy| wrap(&format!("      {remedy}"), width, 6) + "\n");
        format!("{line}\n{}", remedy.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_names_what_was_found_and_the_remedy_below() {
        let perf = Checked::new(CheckState::Optional, "perf", "not found", "Install linux-perf.");
        assert_eq!(perf.text(false, 80), "  – perf: not found\n      Install linux-perf.\n");
        assert_eq!(Checked::fine("", "quiet").text(false, 80), "  ✓ quiet\n");
    }
}
