//! TOML text to typed values, with errors that name file, line, key and the nearest key that would be right.

use serde::de::DeserializeOwned;

use crate::PlanError;
use crate::names::nearest_name;

/// Reads `text` as a `T`; `file` is only used to name the place of an error.
///
/// # Errors
/// [`PlanError::Document`] with the 1-based line for bad syntax, an unknown key or a wrong type.
pub fn parse_document<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, PlanError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        PlanError::Document { file: file.to_owned(), line, message: friendly(error.message()) }
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// Turns serde's "unknown field" into a question with the nearest key; other messages pass unchanged.
fn friendly(message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown field `") else { return message.trim().replace('\n', " ") };
    let mut quoted = rest.split('`');
    let unknown = quoted.next().unwrap_or_default();
    // serde writes: unknown field `x`, expected one of `a`, `b` — every second piece is a name.
    let known: Vec<&str> = quoted.skip(1).step_by(2).collect();
    match nearest_name(unknown, known.iter().copied()) {
        Some(near) => format!("unknown key \"{unknown}\"; did you mean \"{near}\"?"),
        None => format!("unknown key \"{unknown}\"; known here: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[allow(dead_code)]
        scenarios: Vec<String>,
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_its_neighbour() {
        let error = parse_document::<Sample>("suites/my.toml", "\n\nscenarois = []\n").unwrap_err();
        assert_eq!(error.to_string(), "suites/my.toml:3: unknown key \"scenarois\"; did you mean \"scenarios\"?");
    }

    #[test]
    fn a_wrong_type_is_named_with_its_line() {
        let error = parse_document::<Sample>("a.toml", "# first\nscenarios = 3\n").unwrap_err();
        assert!(error.to_string().starts_with("a.toml:2: invalid type"), "{error}");
    }

    #[test]
    fn broken_syntax_is_named_with_its_line() {
        let error = parse_document::<Sample>("a.toml", "scenarios = [\n\"a\"\n").unwrap_err();
        assert!(error.to_string().starts_with("a.toml:"), "{error}");
    }
}
