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
    // In UTF-16, because browsers escape an emoji as its two halves.
    let mut text: Vec<u16> = Vec::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\\' => match letters.next() {
                Some(kind @ ('u' | 'x')) => {
                    let digits: String = letters.by_ref().take(if kind == 'u' { 4 } else { 2 }).collect();
                    text.push(u16::from_str_radix(&digits, 16).unwrap_or(0xFFFD));
                    continue;
                }
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            },
            plain => plain,
        };
        text.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16_lossy(&text)
}
