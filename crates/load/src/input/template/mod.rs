//! Text with `{{variables}}`: parsed once, before any clock runs, and then filled into a buffer any number of times.

mod escaping;
#[cfg(test)]
mod tests;
mod values;
mod variable;

use crate::error::LoadError;

pub(crate) use self::escaping::{Escaping, quote, url_encode};
pub(crate) use self::values::{UserValues, Uses, Values};
pub(crate) use self::variable::{Scope, UserColumns, Variable};

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// Text and variables in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    segments: Vec<TemplateSegment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplateSegment {
    Text(Vec<u8>),
    Value(Variable, Escaping),
}

impl Template {
    /// Parses `text`, in which a backslash before braces makes them literal. Errors name `place` and the character.
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

    /// Literal text, without variables.
    pub(crate) fn literal(text: impl Into<Vec<u8>>) -> Self {
        let mut template = Self::default();
        template.push_text(&text.into());
        template
    }

    pub(crate) fn push_text(&mut self, text: &[u8]) {
        match self.segments.last_mut() {
            Some(TemplateSegment::Text(before)) => before.extend_from_slice(text),
            _ if text.is_empty() => {}
            _ => self.segments.push(TemplateSegment::Text(text.to_vec())),
        }
    }

    pub(crate) fn push_value(&mut self, variable: Variable, escaping: Escaping) {
        self.segments.push(TemplateSegment::Value(variable, escaping));
    }

    pub(crate) fn append(&mut self, other: Self) {
        for segment in other.segments {
            match segment {
                TemplateSegment::Text(text) => self.push_text(&text),
                TemplateSegment::Value(..) => self.segments.push(segment),
            }
        }
    }

    /// The whole text, if it has no variables.
    pub(crate) fn as_text(&self) -> Option<&[u8]> {
        match &self.segments[..] {
            [] => Some(&[]),
            [TemplateSegment::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = Variable> {
        self.values().map(|(variable, _)| variable)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = (Variable, Escaping)> {
        self.segments.iter().filter_map(|segment| match segment {
            TemplateSegment::Value(variable, escaping) => Some((*variable, *escaping)),
            TemplateSegment::Text(_) => None,
        })
    }

    /// Passes literal text to one function and unescaped values to the other.
    pub(crate) fn map(
        self,
        mut text: impl FnMut(&[u8]) -> Vec<u8>,
        mut escaping: impl FnMut(Escaping) -> Escaping,
    ) -> Self {
        let mut mapped = Self::default();
        for segment in self.segments {
            match segment {
                TemplateSegment::Text(bytes) => mapped.push_text(&text(&bytes)),
                TemplateSegment::Value(variable, given) => mapped.push_value(variable, escaping(given)),
            }
        }
        mapped
    }

    /// The text with a digit for each variable, to check the text around them.
    pub(crate) fn with_stand_ins(&self) -> Vec<u8> {
        let pieces = self.segments.iter().map(|segment| match segment {
            TemplateSegment::Text(text) => text.as_slice(),
            TemplateSegment::Value(..) => b"0",
        });
        pieces.collect::<Vec<_>>().concat()
    }

    /// Appends the text to `out`, with the values of the current request.
    pub(crate) fn fill(&self, values: &mut Values, out: &mut Vec<u8>) {
        for segment in &self.segments {
            match segment {
                TemplateSegment::Text(text) => out.extend_from_slice(text),
                TemplateSegment::Value(variable, escaping) => values.write(*variable, *escaping, out),
            }
        }
    }
}

fn filter(inside: &str) -> (&str, Option<&str>) {
    match inside.split_once('|') {
        Some((name, filter)) => (name.trim(), Some(filter.trim())),
        None => (inside.trim(), None),
    }
}
