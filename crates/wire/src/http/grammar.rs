//! The characters of tokens and of field values.

/// Whether the text is a token: a method, the name of a field, the name of a chunk extension (RFC 9110, section 5.6.2).
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

pub(crate) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The number that these decimal digits make. `parse` alone would also accept a leading plus.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// Whether the byte may be in the value of a field: no control character except the tab (RFC 9110, section 5.5).
pub const fn is_field_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// Whether the byte is optional white space (OWS).
pub(crate) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
