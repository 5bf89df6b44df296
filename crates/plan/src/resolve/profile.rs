//! Profiling starts: flags of `tare profile`, before the suite's `[profile]`, before defaults.

use super::Inputs;
use crate::PlanError;
use crate::names::wrong_expression;
use crate::plan::{Setting, Source};
use crate::profile::{Profile, ProfileEvent, ProfileOptions};
use tare_units::{Span, distinct};

/// Starts enough for an interval that says something; each costs a warm-up.
const FORKS: u32 = 3;
/// Ten thousand samples of a server that is half busy.
const SPAN: Span = Span::from_secs(20);

/// What will be profiled, if flags or suite ask for it, with its settings.
pub(super) fn resolve(inputs: &Inputs<'_>, list: &mut Vec<Setting>) -> Result<Option<Profile>, PlanError> {
    let none = ProfileOptions::default();
    let (flags, suite) = match (inputs.profile, &inputs.suite.profile) {
        (None, None) => return Ok(None),
        (flags, suite) => (flags.unwrap_or(&none), suite.as_ref().unwrap_or(&none)),
    };
    let events = choose_value(&flags.events, &suite.events, vec![ProfileEvent::Cpu, ProfileEvent::Alloc]);
    let forks = choose_value(&flags.forks, &suite.forks, FORKS);
    let span = choose_value(&flags.span, &suite.span, SPAN);
    let focus = choose_value(&flags.focus, &suite.focus, inputs.inventory.focus.clone());
    let check = |key: &str, flag: &str, source: Source, holds: bool, message: &str| {
        let of_suite = || format!("{}: [profile] {key}", inputs.suite.file);
        let origin = if source == Source::Suite { of_suite() } else { flag.to_owned() };
        if holds { Ok(()) } else { Err(PlanError::value(origin, message)) }
    };
    let is_fit = Span::from_millis(100) <= span.0 && span.0 <= Span::from_secs(600);
    check("events", "--event", events.1, !events.0.is_empty(), "name at least one of cpu, alloc, wall, lock")?;
    check("forks", "--forks", forks.1, (1..=1000).contains(&forks.0), "write 1 to 1000 profiled starts")?;
    check("span", "--span", span.1, is_fit, "write 100ms to 10m")?;
    let flag_of_focus = if focus.1 == Source::Default { "servers/catalog.toml: focus" } else { "--focus" };
    let wrong = wrong_expression(&focus.0);
    check("focus", flag_of_focus, focus.1, wrong.is_none(), &wrong.unwrap_or_default())?;
    let names = distinct(events.0.iter().map(|event| event.name()));
    for (key, value, source, meaning) in [
        ("events", names.join(" "), events.1, "what is sampled, one after another"),
        ("forks", forks.0.to_string(), forks.1, "profiled starts of each server, none of them scored"),
        ("span", span.0.to_string(), span.1, "how long each event is sampled in each of them"),
        ("focus", focus.0.clone(), focus.1, "frames whose share is reported, as a regular expression"),
    ] {
        list.push(Setting::new("profile", key, value, source, meaning));
    }
    Ok(Some(Profile { events: distinct(events.0), forks: forks.0, span: span.0, focus: focus.0 }))
}

fn choose_value<T: Clone>(flag: &Option<T>, suite: &Option<T>, default: T) -> (T, Source) {
    match (flag, suite) {
        (Some(value), _) => (value.clone(), Source::Flag),
        (None, Some(value)) => (value.clone(), Source::Suite),
        (None, None) => (default, Source::Default),
    }
}
