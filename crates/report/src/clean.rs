//! Text that others wrote, made harmless for a terminal, a CSV file and Markdown. What a server says is never markup.

use std::collections::HashSet;

/// One line without control characters: no escape sequence reaches a terminal, no text direction is reversed, and XML can hold
/// it. A tab becomes a space.
pub fn sanitize_line(text: &str) -> String {
    let clean = |c: char| match c {
        '\t' => ' ',
        c if is_harmless(c) => c,
        _ => '\u{FFFD}',
    };
    text.chars().map(clean).collect()
}

pub fn sanitize_lines(text: &str) -> String {
    text.lines().map(sanitize_line).collect::<Vec<_>>().join("\n")
}

/// For a Markdown table cell or paragraph: nothing in it is markup or HTML.
pub fn escape_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in sanitize_line(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

/// For a text field of a CSV file: a spreadsheet never takes it for a formula. The CSV writer quotes it.
pub fn escape_csv(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula { format!("'{text}") } else { text.to_owned() }
}

/// A file name that is not taken yet. Texts that differ only in what a file name cannot hold are numbered.
pub fn new_file_name(text: &str, taken: &mut HashSet<String>) -> String {
    let (stem, mut number) = (file_name(text), 1);
    let mut name = stem.clone();
    while !taken.insert(name.clone()) {
        number += 1;
        name = format!("{stem}-{number}");
    }
    name
}

/// Bytes of a file name without its number and its ending. A file system takes 255 of the whole.
const LONGEST_NAME: usize = 200;

/// Letters, digits, dots, dashes; everything else is a dash.
fn file_name(text: &str) -> String {
    let safe = text.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    let safe = safe.take(LONGEST_NAME).collect::<String>().trim_start_matches('.').to_owned();
    if safe.is_empty() { "unnamed".to_owned() } else { safe }
}

fn is_harmless(c: char) -> bool {
    let turns_direction = matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let is_no_character_of_xml = matches!(c, '\u{FFFE}' | '\u{FFFF}');
    !c.is_control() && !turns_direction && !is_no_character_of_xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_server_says_is_markup() {
        assert_eq!(sanitize_line("\u{1b}[31mred\u{7}\u{202E}"), "\u{FFFD}[31mred\u{FFFD}\u{FFFD}");
        assert_eq!(sanitize_lines("a\r\n\tb\u{0}"), "a\n b\u{FFFD}");
        assert_eq!(escape_markdown("<img> | `x` *y* [l](u)"), "&lt;img&gt; \\| \\`x\\` \\*y\\* \\[l\\](u)");
        assert_eq!(escape_csv("=1+1"), "'=1+1");
        assert_eq!(file_name("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_name("http4s.Tapir@1.9"), "http4s.Tapir-1.9");
        assert_eq!(file_name(".."), "unnamed");
    }

    #[test]
    fn long_names_fit_a_file_system_and_stay_apart() {
        let (mut taken, long) = (HashSet::new(), "GET /käse?".repeat(50));
        let names = [1, 2].map(|number| new_file_name(&format!("{long}{number}"), &mut taken));
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() <= 202), "{names:?}");
    }
}
