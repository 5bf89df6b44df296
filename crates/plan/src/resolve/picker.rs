//! One setting at a time: flag, else suite, else default, listed with its source and its meaning.

use super::Inputs;
use crate::PlanError;
use crate::duration::Span;
use crate::engine::Engine;
use crate::options::{ForkCovers, Percent, RateOption, WarmupOption};
use crate::plan::{Setting, Source};
use crate::server_clock::ServerClock;
use crate::slo::{Curve, LoadBy};

/// Collects the settings as they are picked.
pub(super) struct Picker<'a> {
    pub inputs: &'a Inputs<'a>,
    /// Of the list: where the settings to come stand.
    pub section: &'static str,
    pub list: Vec<Setting>,
}

/// Picks one key of [`crate::options::Options`].
macro_rules! pick {
    ($picker:ident, $key:ident, $default:expr, $meaning:expr) => {{
        let inputs = $picker.inputs;
        $picker.pick(stringify!($key), &inputs.flags.$key, &inputs.suite.run.$key, $default, $meaning)
    }};
}
pub(super) use pick;

impl Picker<'_> {
    /// What flag or suite say; the default where neither does.
    pub fn pick<T: Shown + Clone>(
        &mut self,
        key: &str,
        flag: &Option<T>,
        suite: &Option<T>,
        default: T,
        meaning: &str,
    ) -> T {
        let (value, source) = match (flag, suite) {
            (Some(value), _) => (value.clone(), Source::Flag),
            (None, Some(value)) => (value.clone(), Source::Suite),
            (None, None) => (default, Source::Default),
        };
        self.note(key, value.shown(), source, meaning);
        value
    }

    /// Lists a setting.
    pub fn note(&mut self, key: &str, value: String, source: Source, meaning: &str) {
        self.list.push(Setting {
            section: self.section.to_owned(),
            key: key.to_owned(),
            value,
            source,
            meaning: meaning.to_owned(),
        });
    }

    /// Refuses a value that has been picked, where it means nothing.
    ///
    /// # Errors
    /// [`PlanError::Value`], which names the place that the value came from.
    pub fn check(&self, key: &str, holds: bool, message: &str) -> Result<(), PlanError> {
        if holds { Ok(()) } else { Err(self.refuse(key, message)) }
    }

    /// The error for a value that has been picked for `key`; it names the flag or the suite file that the value came from.
    pub fn refuse(&self, key: &str, message: &str) -> PlanError {
        let source = self.list.iter().rev().find(|setting| setting.key == key).map(|setting| setting.source);
        let origin = match source {
            Some(Source::Suite) => format!("{}: [run] {key}", self.inputs.suite.file),
            _ => format!("--{}", key.replace('_', "-")),
        };
        PlanError::Value { origin, message: message.to_owned() }
    }
}

/// A value as people would write it.
pub(super) trait Shown {
    fn shown(&self) -> String;
}

macro_rules! shown_by_display {
    ($($kind:ty),*) => { $(impl Shown for $kind { fn shown(&self) -> String { self.to_string() } })* };
}
shown_by_display!(u32, u64, f64, bool, String, Span, RateOption, Curve);

impl Shown for Percent {
    fn shown(&self) -> String {
        format!("{}%", (self.0 * 1e6).round() / 1e4)
    }
}

impl Shown for WarmupOption {
    fn shown(&self) -> String {
        match self {
            Self::Steady => "steady".into(),
            Self::Fixed(span) => span.to_string(),
        }
    }
}

impl Shown for ForkCovers {
    fn shown(&self) -> String {
        self.name().into()
    }
}

impl Shown for Vec<Engine> {
    fn shown(&self) -> String {
        let names: Vec<&str> = self.iter().map(|engine| engine.name()).collect();
        if names.is_empty() { "none".into() } else { names.join(" ") }
    }
}

impl Shown for ServerClock {
    fn shown(&self) -> String {
        self.name().into()
    }
}

impl Shown for LoadBy {
    fn shown(&self) -> String {
        self.name().into()
    }
}

impl Shown for Vec<String> {
    fn shown(&self) -> String {
        self.join(" ")
    }
}
