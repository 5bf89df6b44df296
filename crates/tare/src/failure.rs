//! How tare ends: exit codes, and errors in words.

use std::process::ExitCode;

use tare_load::LoadError;
use tare_plan::PlanError;
use tare_report::clean::sanitize_lines;
use tare_run::RunError;
use tare_sut::SutError;
use thiserror::Error;

/// What the flags ask for cannot be, whatever the machine: what is wrong, and what would be right.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct WrongUsage(pub String);

pub fn wrong_usage(text: impl Into<String>) -> anyhow::Error {
    WrongUsage(text.into()).into()
}

/// Refuses the first of these flags that is given: the error goes on with `why`, and says what would be right.
pub fn refuse_given(flags: &[(&str, bool)], why: &str) -> anyhow::Result<()> {
    let given = flags.iter().find(|(_, is_given)| *is_given);
    given.map_or(Ok(()), |(flag, _)| Err(wrong_usage(format!("{flag} {why}"))))
}

/// How a sub-command ended that did what it could, with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done = 0,
    /// Something that a run needs is not there, or an output could not be written.
    Missing = 1,
    /// Done, but a cell is void, a check failed, or a limit of `tare check` is exceeded.
    Failed = 3,
    /// `tare check`: no limit is exceeded, and not all are judged.
    Undecided = 4,
    /// The user stopped it; what was there has been reported.
    Interrupted = 130,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome as u8)
    }
}

/// An error with its flag replaced by the argument of a command without that flag. `arguments` are pairs of both.
pub fn with_argument_names(mut error: PlanError, arguments: &[(&str, &str)]) -> PlanError {
    if let PlanError::Value { origin, .. } | PlanError::NoMatch { origin, .. } = &mut error
        && let Some((_, argument)) = arguments.iter().find(|(flag, _)| *flag == origin.as_str())
    {
        *origin = (*argument).to_owned();
    }
    error
}

/// Whether Ctrl-C came before there was anything to report.
pub fn is_cancelled(error: &anyhow::Error) -> bool {
    let is_cancelled = |error: &SutError| matches!(error, SutError::Cancelled { .. });
    match error.downcast_ref() {
        Some(RunError::Interrupted) => true,
        Some(RunError::Server(error)) => is_cancelled(error),
        _ => error.downcast_ref().is_some_and(is_cancelled),
    }
}

/// 2 for a suite, a name, a value or requests that cannot be used; 130 after Ctrl-C; 1 for every other error.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    if is_cancelled(error) {
        return Outcome::Interrupted.into();
    }
    let is_wrong_load = |error: &LoadError| matches!(error, LoadError::Spec { .. } | LoadError::Input { .. });
    let is_wrong = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<PlanError>()
            || cause.is::<WrongUsage>()
            || cause.downcast_ref().is_some_and(is_wrong_load)
            || match cause.downcast_ref() {
                Some(RunError::Plan(_)) => true,
                Some(RunError::Load(error)) => is_wrong_load(error),
                _ => false,
            }
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
    sanitize_lines(&words)
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    #[test]
    fn an_error_names_the_argument_of_its_own_command() {
        let names = [("--servers", "SERVER"), ("--baseline", "--against")];
        let said = |origin: &str| {
            let error = PlanError::Value { origin: origin.to_owned(), message: "wrong".to_owned() };
            with_argument_names(error, &names).to_string()
        };
        assert_eq!([said("--servers"), said("--baseline")], ["SERVER: wrong", "--against: wrong"]);
        assert_eq!(said("my.toml: [run] servers"), "my.toml: [run] servers: wrong");
    }

    #[test]
    fn wrong_usage_and_failures_have_codes_of_their_own() {
        let input = || LoadError::Input { place: "a.csv".to_owned(), what: "empty".to_owned(), remedy: String::new() };
        let plan = || PlanError::Empty("all left out".to_owned());
        let died = || LoadError::WorkerDied;
        let cancelled = || SutError::Cancelled { server: "a".to_owned() };
        for (error, code) in [
            (wrong_usage("leave it out"), 2),
            (wrong_usage("leave it out").context("no load was made"), 2),
            (plan().into(), 2),
            (Err::<(), _>(plan()).context("the suite").unwrap_err(), 2),
            (RunError::Plan(PlanError::value("-c 9", "too many")).into(), 2),
            (input().into(), 2),
            (RunError::Load(input()).into(), 2),
            (died().into(), 1),
            (RunError::Load(died()).into(), 1),
            (anyhow!("no server"), 1),
            (RunError::Interrupted.into(), 130),
            (cancelled().into(), 130),
            (Err::<(), _>(RunError::Server(cancelled())).context("a build").unwrap_err(), 130),
        ] {
            assert_eq!(format!("{:?}", exit_code(&error)), format!("{:?}", ExitCode::from(code)), "{error}");
        }
    }
}
