//! Names as users type them: globs over what exists, the nearest name to a misspelt one, and regular expressions.

use globset::Glob;
use regex::Regex;
pub use tare_units::nearest_name;

use crate::PlanError;

/// Every known name that some pattern matches, in the order of `known`, each once. Patterns are globs (`http4s.*`,
/// `*.Tapir`); a plain name matches itself. Errors: [`PlanError::NoMatch`] for a pattern that matches nothing,
/// [`PlanError::Value`] for one that is no glob.
pub fn select_names(
    origin: &str,
    kind: &'static str,
    patterns: &[String],
    known: &[String],
) -> Result<Vec<String>, PlanError> {
    let mut chosen = vec![false; known.len()];
    for pattern in patterns {
        let wrong = |error: globset::Error| PlanError::value(origin, format!("\"{pattern}\" is not a glob: {error}"));
        let glob = Glob::new(pattern).map_err(wrong)?.compile_matcher();
        let matching: Vec<usize> = (0..known.len()).filter(|index| glob.is_match(&known[*index])).collect();
        if matching.is_empty() {
            return Err(no_match_error(origin, kind, pattern, known));
        }
        matching.into_iter().for_each(|index| chosen[index] = true);
    }
    Ok(known.iter().zip(chosen).filter(|(_, is)| *is).map(|(name, _)| name.clone()).collect())
}

fn no_match_error(origin: &str, kind: &'static str, pattern: &str, known: &[String]) -> PlanError {
    let suggestion = match nearest_name(pattern, known.iter().map(String::as_str)) {
        Some(near) => format!("; did you mean \"{near}\"?"),
        None if pattern.ends_with(".toml") => "; a suite file follows --suite, or tare run directly".to_owned(),
        None => String::new(),
    };
    PlanError::NoMatch {
        origin: origin.to_owned(),
        kind,
        pattern: pattern.to_owned(),
        suggestion,
        known: list_nearest(pattern, known),
    }
}

/// What is wrong with a regular expression; `None` for a right one.
pub(crate) fn wrong_expression(pattern: &str) -> Option<String> {
    // The library shows the position on several lines. The last one says what is wrong.
    let error = Regex::new(pattern).err()?.to_string();
    let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
    Some(format!("\"{pattern}\" is not a regular expression: {why}"))
}

/// The most names that an error lists.
const LISTED: usize = 8;

/// All names if they are few, else those nearest to `typed`.
fn list_nearest(typed: &str, known: &[String]) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    if known.len() <= LISTED {
        return known.join(", ");
    }
    let lower = typed.to_lowercase();
    let mut near: Vec<&str> = known.iter().map(String::as_str).collect();
    near.sort_by_key(|name| strsim::damerau_levenshtein(&lower, &name.to_lowercase()));
    near.truncate(LISTED);
    format!("{}, … (tare list shows all {})", near.join(", "), known.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<String> {
        ["http4s.Vanilla", "http4s.Tapir", "netty.Vanilla"].map(str::to_owned).to_vec()
    }

    #[test]
    fn globs_keep_the_order_of_what_exists_and_name_each_once() {
        let found = select_names("-s", "server", &["*.Vanilla".into(), "http4s.*".into()], &known()).unwrap();
        assert_eq!(found, known());
    }

    #[test]
    fn a_pattern_without_a_match_lists_what_there_is() {
        let error = select_names("-s", "server", &["http4s.Tapr".into()], &known()).unwrap_err().to_string();
        assert_eq!(
            error,
            "-s: no server matches \"http4s.Tapr\"; did you mean \"http4s.Tapir\"?; there are: http4s.Vanilla, http4s.Tapir, netty.Vanilla"
        );
    }

    #[test]
    fn a_suite_file_in_place_of_a_server_names_its_option() {
        let error = select_names("SERVER", "server", &["suites/a.toml".into()], &known()).unwrap_err().to_string();
        assert!(error.contains("a suite file follows --suite, or tare run directly"), "{error}");
    }

    #[test]
    fn of_many_names_the_nearest_are_listed() {
        let known: Vec<String> = (10..50).map(|number| format!("server{number}")).collect();
        let error = select_names("-s", "server", &["sever17".into()], &known).unwrap_err().to_string();
        assert!(error.contains("there are: server17, ") && error.ends_with("(tare list shows all 40)"), "{error}");
        assert!(error.len() < 200, "{error}");
    }
}
