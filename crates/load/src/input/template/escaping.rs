//! Escapes a value so that the text around it keeps its meaning.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

/// What cannot stand in the target of a request: blanks, control characters, and what begins a fragment, which is never
/// sent.
const TARGET: &AsciiSet = &CONTROLS.add(b' ').add(b'#');
/// Unreserved characters of RFC 3986.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Escaping {
    /// Not at all.
    #[default]
    None,
    /// Percent-encoded only where a request line demands it, so that a value may be a whole path.
    Target,
    /// Percent-encoded except for letters, digits and `-._~`: one part of a path, a query or a form.
    Url,
    /// As the inside of a JSON string.
    Json,
    /// As the inside of a JSON string, percent-encoded as for [`Escaping::Target`].
    JsonInTarget,
    /// For between the quotes of a name in a part of a form.
    Quoted,
}

impl Escaping {
    /// The filter after a bar: `{{name|url}}`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "url" => Some(Self::Url),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    pub(crate) fn write(self, value: &str, out: &mut Vec<u8>) {
        match self {
            Self::None => out.extend_from_slice(value.as_bytes()),
            Self::Target => encode(value.as_bytes(), TARGET, out),
            Self::Url => encode(value.as_bytes(), UNRESERVED, out),
            Self::Json => out.extend_from_slice(inside_json(value).as_bytes()),
            Self::Quoted => out.extend(quote(value.as_bytes())),
            Self::JsonInTarget => encode(inside_json(value).as_bytes(), TARGET, out),
        }
    }
}

/// As browsers and curl escape the name of a field or a file.
pub(crate) fn quote(text: &[u8]) -> Vec<u8> {
    let escaped = |byte: &u8| match byte {
        b'"' => b"%22".to_vec(),
        b'\r' => b"%0D".to_vec(),
        b'\n' => b"%0A".to_vec(),
        other => vec![*other],
    };
    text.iter().flat_map(escaped).collect()
}

fn inside_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

pub(crate) fn url_encode(text: &[u8]) -> Vec<u8> {
    percent_encode(text, UNRESERVED).flat_map(str::bytes).collect()
}

fn encode(value: &[u8], set: &'static AsciiSet, out: &mut Vec<u8>) {
    percent_encode(value, set).for_each(|piece| out.extend_from_slice(piece.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_for_where_they_stand() {
        for (escaping, expected) in [
            (Escaping::None, "a/b?c=d&é \"\n#"),
            (Escaping::Target, "a/b?c=d&%C3%A9%20\"%0A%23"),
            (Escaping::Url, "a%2Fb%3Fc%3Dd%26%C3%A9%20%22%0A%23"),
            (Escaping::Json, "a/b?c=d&é \\\"\\n#"),
            (Escaping::Quoted, "a/b?c=d&é %22%0A#"),
            (Escaping::JsonInTarget, "a/b?c=d&%C3%A9%20\\\"\\n%23"),
        ] {
            let mut out = Vec::new();
            escaping.write("a/b?c=d&é \"\n#", &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
