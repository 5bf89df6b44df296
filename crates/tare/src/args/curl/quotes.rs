//! Quotes that a line for curl may have, and that splitting as a shell does not know.

use regex::{Captures, Regex};

/// The line with `$'…'`, in which browsers write what has special characters, as plain quotes.
pub(super) fn with_plain_quotes(line: &str) -> String {
    // Inside other quotes, and behind a backslash, it means itself.
    let quotes = Regex::new(r#"(?s)'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\$'((?:[^'\\]|\\.)*)'"#);
    let plain = |found: &Captures<'_>| match found.get(1) {
        Some(text) => shell_words::quote(&ansi_text(text.as_str())).into_owned(),
        None => found[0].to_owned(),
    };
    quotes.map_or_else(|_| line.to_owned(), |quotes| quotes.replace_all(line, plain).into_owned())
}

/// The text inside `$'…'`, with its escapes undone.
fn ansi_text(quoted: &str) -> String {
    let letters = Regex::new(r"(?s)\\u([[:xdigit:]]{4})|\\x([[:xdigit:]]{2})|\\?(.)");
    // In UTF-16, because browsers escape an emoji as its two halves.
    let mut text: Vec<u16> = Vec::new();
    for found in letters.iter().flat_map(|letters| letters.captures_iter(quoted)) {
        match (found.get(1).or(found.get(2)), &found[0]) {
            (Some(digits), _) => text.push(u16::from_str_radix(digits.as_str(), 16).unwrap_or(0xFFFD)),
            (None, r"\n") => text.push(u16::from(b'\n')),
            (None, r"\r") => text.push(u16::from(b'\r')),
            (None, r"\t") => text.push(u16::from(b'\t')),
            (None, _) => text.extend(found[3].encode_utf16()),
        }
    }
    String::from_utf16_lossy(&text)
}
