//! Names as parts of file names.

use std::fmt::Write as _;

/// A file name for names of any letters. Other names never have the same one: what a file name should not hold is percent-encoded,
/// and so is the `+` that stands between two names.
pub fn file_name(names: &[&str]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "+" });
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b".-_@".contains(&byte) {
                text.push(char::from(byte));
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn all_names_have_a_file_name_of_their_own() {
        for (names, expected) in [
            (&["http4s.Tapir@1.9.11"][..], "http4s.Tapir@1.9.11"),
            (&["http4s.Vanilla (again)"], "http4s.Vanilla%20%28again%29"),
            (&["../a/b"], "..%2Fa%2Fb"),
            (&["a%2Fb"], "a%252Fb"),
            (&["käse"], "k%C3%A4se"),
            (&["Get", "a-b"], "Get+a-b"),
            (&["Get-a", "b"], "Get-a+b"),
            (&["Get+a", "b"], "Get%2Ba+b"),
        ] {
            assert_eq!(file_name(names), expected);
        }
    }
}
