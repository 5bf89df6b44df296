//! Parses text with `{{variables}}`. A backslash before the braces makes them literal.

use super::{Escaping, Scope, Template};
use crate::error::LoadError;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

impl Template {
    /// Parses `text`; `place` names it in errors. Fails when a variable is not closed, is unknown, or has a wrong
    /// argument. The error names the character.
    pub(crate) fn parse(place: &str, text: &str, scope: &mut Scope<'_>) -> Result<Self, LoadError> {
        let mut template = Self::default();
        let mut rest = text;
        while let Some(open) = rest.find(OPEN) {
            let before = &rest[..open];
            let inside = &rest[open + OPEN.len()..];
            if let Some(before) = before.strip_suffix('\\') {
                template.push_text(before.as_bytes());
                template.push_text(OPEN.as_bytes());
                rest = inside;
                continue;
            }
            template.push_text(before.as_bytes());
            let offset = text.len() - rest.len() + open;
            let wrong = |what: &str, remedy: &str| {
                let character = text[..offset].chars().count() + 1;
                LoadError::input(&format!("{place}, character {character}"), what, remedy)
            };
            let Some(close) = inside.find(CLOSE) else {
                return Err(wrong("`{{` without `}}`", "close the variable, or write \\{{ for the braces themselves"));
            };
            let (name, escaping) = filter(&inside[..close]);
            let escaping = escaping.map_or(Ok(Escaping::None), |filter| {
                let unknown = || wrong(&format!("there is no filter `{filter}`"), "use |url or |json, or none");
                Escaping::named(filter).ok_or_else(unknown)
            })?;
            let variable = scope.resolve(name).map_err(|(what, remedy)| wrong(&what, &remedy))?;
            template.push_value(variable, escaping);
            rest = &inside[close + CLOSE.len()..];
        }
        template.push_text(rest.as_bytes());
        Ok(template)
    }
}

/// A variable, and the filter after its bar.
fn filter(inside: &str) -> (&str, Option<&str>) {
    match inside.split_once('|') {
        Some((name, filter)) => (name.trim(), Some(filter.trim())),
        None => (inside.trim(), None),
    }
}
