//! Quotes that a line for curl may have, and that splitting as a shell does not know.

/// The line with `$'…'`, in which browsers write what has special characters, as plain quotes.
pub(super) fn with_plain_quotes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '$') if letters.peek() == Some(&'\'') => {
                letters.next();
                plain.push('\'');
                plain.push_str(&ansi_text(&mut letters).replace('\'', r"'\''"));
                plain.push('\'');
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None | Some('"'), '\\') => {
                plain.push(letter);
                plain.extend(letters.next());
                continue;
            }
            _ => {}
        }
        plain.push(letter);
    }
    plain
}

/// The text of `$'…'` up to its closing quote, with its escapes undone.
fn ansi_text(letters: &mut impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        let escaped = match letter {
            '\'' => break,
            '\\' => letters.next(),
            _ => {
                text.push(letter);
                continue;
            }
        };
        let mut of_digits = |count: usize| {
            let digits: String = letters.by_ref().take(count).collect();
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}')
        };
        text.extend(match escaped {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('u') => Some(of_digits(4)),
            Some('x') => Some(of_digits(2)),
            other => other,
        });
    }
    text
}
