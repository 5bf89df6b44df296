//! Names as parts of file names.

/// `name` with every character replaced by `_` that a file name should not hold.
pub(crate) fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_@".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn separators_and_spaces_are_replaced() {
        for (name, expected) in [
            ("http4s.Tapir@1.9.11", "http4s.Tapir@1.9.11"),
            ("http4s.Vanilla (again)", "http4s.Vanilla__again_"),
            ("../a/b", ".._a_b"),
        ] {
            assert_eq!(file_name(name), expected);
        }
    }
}
