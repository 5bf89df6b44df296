//! Commands that people write in one line, split into words as a shell does.

use tare_plan::PlanError;

/// The words of a command, at least one: quotes and backslashes keep blanks, as in a shell, and no variable is
/// replaced. `origin` is the flag or the key that has the command.
pub fn command_words(origin: &str, command: &str) -> Result<Vec<String>, PlanError> {
    let unclosed = || format!("the command {command} has a quote that is not closed; close it, or escape it with \\");
    let words = shell_words::split(command).map_err(|_| PlanError::value(origin, unclosed()))?;
    if words.is_empty() {
        let message = "the command is empty; write for example './my-server --port {port}'";
        return Err(PlanError::value(origin, message));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks_as_in_a_shell() {
        for (command, words) in [
            ("./own --port {port}", &["./own", "--port", "{port}"][..]),
            ("'./my own' -p  {port}", &["./my own", "-p", "{port}"]),
            ("sh -c \"exec './my own' $PORT\"", &["sh", "-c", "exec './my own' $PORT"]),
            ("./my\\ own ''", &["./my own", ""]),
        ] {
            assert_eq!(command_words("--baseline", command).unwrap(), words, "{command}");
        }
    }

    #[test]
    fn a_quote_that_is_not_closed_and_no_word_at_all_are_refused() {
        for (command, says) in [("sh -c 'exec x", "a quote that is not closed"), ("  ", "the command is empty")] {
            let error = command_words("--baseline", command).unwrap_err().to_string();
            assert!(error.starts_with("--baseline: ") && error.contains(says), "{error}");
        }
    }
}
