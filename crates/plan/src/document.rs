//! TOML text to typed values, with errors that name file, line, key and the nearest key that would be right.

use serde::de::DeserializeOwned;

use crate::PlanError;
use crate::names::nearest_name;

/// Reads `text` as a `T`; `file` is only used to name the place of an error. Errors: [`PlanError::Document`] with the
/// 1-based line for bad syntax, an unknown key or a wrong type.
pub fn parse_document<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, PlanError> {
    toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let key = || key_before(text, span.start).map_or_else(String::new, |key| format!("{key}: "));
        let message = match error.message().split_once(", expected ") {
            Some((wrong, expected)) if wrong.starts_with("invalid ") => {
                format!("{}{wrong}, expected {}", key(), describe_in_toml_terms(expected))
            }
            // What a value says of itself begins with its text.
            _ if error.message().starts_with('"') => format!("{}{}", key(), error.message().trim()),
            _ if error.message() == "duplicate key" => {
                format!("{} is there twice; remove one", text.get(span.clone()).unwrap_or("a key"))
            }
            _ => explain_serde_message(error.message()),
        };
        PlanError::Document { file: file.to_owned(), line: line_of(text, span.start), message }
    })
}

/// The key whose value, or whose list, begins at `offset`.
fn key_before(text: &str, offset: usize) -> Option<&str> {
    let (before, between) = text.get(..offset)?.rsplit_once('=')?;
    let between = between.trim_start();
    let is_key = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    let key = before.trim_end().rsplit(|character| !is_key(character)).next()?;
    (!key.is_empty() && (between.is_empty() || between.starts_with('['))).then_some(key)
}

/// What serde expects, as it is written in a file.
fn describe_in_toml_terms(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list, such as [\"one\", \"two\"]",
        "a string" => "a text in quotes",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number without quotes that is not too large",
        "a boolean" => "true or false",
        "a map" => "a table",
        _ => expected,
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

/// What other tools call a key. `data` is nearer to `path`.
const OTHER_WORDS: [(&str, &str); 6] =
    [("data", "body"), ("json", "body"), ("payload", "body"), ("content", "body"), ("url", "path"), ("uri", "path")];

/// Turns serde's "unknown field" into a question with the nearest key; other messages pass unchanged.
fn explain_serde_message(message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown field `") else { return message.trim().replace('\n', " ") };
    let mut quoted = rest.split('`');
    let unknown = quoted.next().unwrap_or_default();
    // serde writes: unknown field `x`, expected one of `a`, `b` — every second piece is a name.
    let known: Vec<&str> = quoted.skip(1).step_by(2).collect();
    let of_other_tools = OTHER_WORDS.into_iter().find(|(word, key)| *word == unknown && known.contains(key));
    match of_other_tools.map(|(_, key)| key).or_else(|| nearest_name(unknown, known.iter().copied())) {
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
    fn the_error_of_an_unknown_key_names_its_line_and_the_nearest_key() {
        let error = parse_document::<Sample>("suites/my.toml", "\n\nscenarois = []\n").unwrap_err();
        assert_eq!(error.to_string(), "suites/my.toml:3: unknown key \"scenarois\"; did you mean \"scenarios\"?");
    }

    #[test]
    fn the_words_of_other_tools_are_understood_where_they_have_a_key() {
        let request = |key: &str| {
            let text = format!("[scenarios.Post.request]\npath = \"/\"\n{key} = \"x\"\n");
            parse_document::<crate::suite::Suite>("a.toml", &text).unwrap_err().to_string()
        };
        for (word, key) in [("data", "body"), ("json", "body"), ("payload", "body"), ("url", "path"), ("bdoy", "body")]
        {
            assert_eq!(request(word), format!("a.toml:3: unknown key \"{word}\"; did you mean \"{key}\"?"));
        }
        let error = parse_document::<Sample>("a.toml", "data = []\n").unwrap_err();
        assert_eq!(error.to_string(), "a.toml:1: unknown key \"data\"; known here: scenarios");
    }

    #[test]
    fn a_wrong_type_is_named_with_its_line() {
        let error = parse_document::<Sample>("a.toml", "# first\nscenarios = 3\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.toml:2: scenarios: invalid type: integer `3`, expected a list, such as [\"one\", \"two\"]"
        );
        let error = parse_document::<Sample>("a.toml", "scenarios = [\"a=b\",\n 3]\n").unwrap_err();
        assert_eq!(error.to_string(), "a.toml:2: invalid type: integer `3`, expected a text in quotes");
        let error = parse_document::<crate::settings::Options>("a.toml", "users = \"many\"").unwrap_err();
        assert_eq!(error.to_string(), "a.toml:1: users: \"many\" is not a whole number from 0 to 4294967295");
        let error = parse_document::<Sample>("a.toml", "scenarios = []\nscenarios = []\n").unwrap_err();
        assert_eq!(error.to_string(), "a.toml:2: scenarios is there twice; remove one");
    }

    #[test]
    fn broken_syntax_is_named_with_its_line() {
        let error = parse_document::<Sample>("a.toml", "scenarios = [\n\"a\"\n").unwrap_err();
        assert!(error.to_string().starts_with("a.toml:"), "{error}");
    }
}
