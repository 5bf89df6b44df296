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
    // In UTF-16, because browsers escape an emoji as its two halves.
    let mut text: Vec<u16> = Vec::new();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            '\'' => break,
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
