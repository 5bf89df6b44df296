//! How tare ends: exit codes, and errors in words.

use std::process::ExitCode;

use tare_plan::PlanError;
use tare_run::RunError;

/// How a sub-command ended that did what it could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Done,
    /// Done, but a cell is void or a check failed.
    Void,
    /// `tare check`: a limit is exceeded.
    Regressed,
    /// `tare check`: no limit is exceeded, and not all are judged.
    Undecided,
    /// Something that a run needs is not there.
    Missing,
    /// Done, but an output could not be written.
    Unwritten,
    /// The user stopped it; what was there has been reported.
    Interrupted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Done => 0,
            Outcome::Missing | Outcome::Unwritten => 1,
            Outcome::Void | Outcome::Regressed => 3,
            Outcome::Undecided => 4,
            Outcome::Interrupted => 130,
        })
    }
}

/// 2 for a suite, a name or a value that cannot be used, as for wrong flags; 130 after Ctrl-C; 1 for every other error.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    if matches!(error.downcast_ref(), Some(RunError::Interrupted)) {
        return Outcome::Interrupted.into();
    }
    let is_wrong = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<PlanError>() || matches!(cause.downcast_ref(), Some(RunError::Plan { .. }))
    };
    let is_wrong_usage = error.chain().any(is_wrong);
    ExitCode::from(if is_wrong_usage { 2 } else { 1 })
}

/// An error with its causes, each said once: libraries' errors already contain what lies beneath them.
pub fn error_text(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if words.is_empty() {
            words = text;
        } else if !words.contains(&text) {
            words = format!("{words}: {text}");
        }
    }
    words
}
