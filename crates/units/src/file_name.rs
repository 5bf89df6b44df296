//! Names as parts of file names.

use std::hash::{DefaultHasher, Hash, Hasher};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// All but letters, digits and what else a file name may hold.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_').remove(b'@');

/// The longest name that leaves room for an ending in the 255 bytes of a file system.
const LONGEST: usize = 200;

/// A file name for names of any letters, with a `+` between them. Other names never have the same one, because a `+` in
/// a name is percent-encoded, too; the end of a long one becomes the hash of the whole.
pub fn file_name(names: &[&str]) -> String {
    let escaped = names.iter().map(|name| utf8_percent_encode(name, ESCAPED).to_string());
    let whole = escaped.collect::<Vec<_>>().join("+");
    if whole.len() <= LONGEST {
        return whole;
    }
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    format!("{}~{:016x}", &whole[..LONGEST], hasher.finish())
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
        let long = |last: &str| file_name(&["сервер-без-промежуточного-слоя", last, "сервер-с-промежуточным-слоем"]);
        assert!(long("a").len() < 230 && long("a") != long("b"), "{}", long("a"));
    }
}
