//! Names as parts of file names.

use std::fmt::Write as _;

/// A file name for a name of any letters. Two names never have the same one: what a file name should not hold is percent-encoded.
pub fn file_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b".-_@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn every_name_has_a_file_name_of_its_own() {
        for (name, expected) in [
            ("http4s.Tapir@1.9.11", "http4s.Tapir@1.9.11"),
            ("http4s.Vanilla (again)", "http4s.Vanilla%20%28again%29"),
            ("../a/b", "..%2Fa%2Fb"),
            ("a%2Fb", "a%252Fb"),
            ("käse", "k%C3%A4se"),
        ] {
            assert_eq!(file_name(name), expected);
        }
    }
}
