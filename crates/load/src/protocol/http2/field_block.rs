//! The begin of a header block: which pseudo-headers it has. They come first, and the `h2` crate sees to that. So only the
//! first fields are looked at, and none is decoded.

/// `:status` in HPACK's Huffman code, and the 7 bits of its colon.
const HUFFMAN_STATUS: &[u8] = &[0xb8, 0x84, 0x8d, 0x36, 0xa3];
const HUFFMAN_COLON: u8 = 0x5c;
/// Fields that are looked at: an update of the table, a status, and what follows them.
const MOST_FIELDS: usize = 4;

/// The pseudo-headers at the begin of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PseudoHeaders {
    /// There is a `:status`.
    pub(super) has_status: bool,
    /// There is a `:status` that is known not to be 1xx.
    pub(super) is_final: bool,
    /// There is one that only requests have, such as `:path`.
    pub(super) has_request: bool,
}

/// The name of a field, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldName {
    Status,
    OfRequest,
    /// In the dynamic table: a status or an ordinary field. A field of requests is refused before it gets there.
    Dynamic,
    Ordinary,
}

impl PseudoHeaders {
    /// Reads the first fields of a block, as far as they are here.
    ///
    /// # Source
    /// RFC 7541, section 6.
    pub(super) fn of(mut block: &[u8]) -> Self {
        let mut found = Self::default();
        for _ in 0..MOST_FIELDS {
            let Some(&first) = block.first() else { break };
            let field = match first {
                // The static table has no status 1xx.
                0x80.. => integer(&mut block, 7).map(|index| (name_at(index), true)),
                0x40..0x80 => literal(&mut block, 6),
                0x20..0x40 if integer(&mut block, 5).is_some() => continue,
                _ => literal(&mut block, 4),
            };
            match field {
                Some((FieldName::Status, is_final)) => {
                    found.has_status = true;
                    found.is_final |= is_final;
                }
                Some((FieldName::OfRequest, _)) => found.has_request = true,
                Some((FieldName::Dynamic, _)) => {}
                Some((FieldName::Ordinary, _)) | None => break,
            }
        }
        found
    }
}

/// The name of an entry of the tables.
///
/// # Source
/// RFC 7541, appendix A.
const fn name_at(index: usize) -> FieldName {
    match index {
        1..=7 => FieldName::OfRequest,
        8..=14 => FieldName::Status,
        0 | 15..=61 => FieldName::Ordinary,
        _ => FieldName::Dynamic,
    }
}

/// Reads a literal field: its name, and whether its value does not begin with 1. `None` if it is not whole.
fn literal(block: &mut &[u8], prefix_bits: u32) -> Option<(FieldName, bool)> {
    let name = match integer(block, prefix_bits)? {
        0 => name_of(string(block)?),
        index => name_at(index),
    };
    let (is_huffman, value) = string(block)?;
    let begins_with_one = value.first().is_some_and(|byte| if is_huffman { byte >> 3 == 1 } else { *byte == b'1' });
    Some((name, !begins_with_one))
}

fn name_of((is_huffman, text): (bool, &[u8])) -> FieldName {
    let is_pseudo =
        text.first().is_some_and(|byte| if is_huffman { byte >> 1 == HUFFMAN_COLON } else { *byte == b':' });
    let status = if is_huffman { HUFFMAN_STATUS } else { b":status" };
    match (is_pseudo, text == status) {
        (false, _) => FieldName::Ordinary,
        (true, true) => FieldName::Status,
        (true, false) => FieldName::OfRequest,
    }
}

/// Reads a string: whether it is in Huffman code, and its bytes.
fn string<'a>(block: &mut &'a [u8]) -> Option<(bool, &'a [u8])> {
    let is_huffman = block.first()? & 0x80 != 0;
    let length = integer(block, 7)?;
    let (text, rest) = block.split_at_checked(length)?;
    *block = rest;
    Some((is_huffman, text))
}

/// Reads an integer whose first byte has this many bits of it.
///
/// # Source
/// RFC 7541, section 5.1.
fn integer(block: &mut &[u8], prefix_bits: u32) -> Option<usize> {
    let (&first, mut rest) = block.split_first()?;
    let mask = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(first) & mask;
    let mut shift = 0;
    let mut goes_on = value == mask;
    while goes_on {
        let (&byte, behind) = rest.split_first().filter(|_| shift < 28)?;
        value += usize::from(byte & 0x7f) << shift;
        shift += 7;
        goes_on = byte & 0x80 != 0;
        rest = behind;
    }
    *block = rest;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: PseudoHeaders = PseudoHeaders { has_status: false, is_final: false, has_request: false };
    const FINAL: PseudoHeaders = PseudoHeaders { has_status: true, is_final: true, ..NONE };
    const INTERIM: PseudoHeaders = PseudoHeaders { is_final: false, ..FINAL };
    const OF_REQUEST: PseudoHeaders = PseudoHeaders { has_request: true, ..FINAL };

    #[test]
    fn pseudo_headers_are_found_in_every_form() {
        for (block, expected) in [
            (&b"\x88"[..], FINAL),
            (b"\x8e\x0f\x2f\x01a", FINAL),
            (b"\x48\x03200", FINAL),
            (b"\x08\x03103", INTERIM),
            (b"\x48\x82\x10\x01", FINAL),
            (b"\x48\x82\x08\x05", INTERIM),
            (b"\x00\x07:status\x03200", FINAL),
            (b"\x10\x07:status\x03100", INTERIM),
            (b"\x00\x85\xb8\x84\x8d\x36\xa3\x03200", FINAL),
            (b"\x20\x88", FINAL),
            (b"\x3f\xe1\x1f\x88", FINAL),
            (b"\xbe", NONE),
            (b"\xbe\x84", PseudoHeaders { has_request: true, ..NONE }),
            (b"\x88\x84", OF_REQUEST),
            (b"\x84\x88", OF_REQUEST),
            (b"\x88\x44\x01/", OF_REQUEST),
            (b"\x88\x00\x05:path\x01/", OF_REQUEST),
            (b"\x88\x00\x84\xb9\x58\xd3\x3f\x01/", OF_REQUEST),
            (b"\x88\x00\x03x-a\x01b", FINAL),
            (b"\x00\x03x-a\x01b\x88", NONE),
            (b"\x88\x00\x05:pa", FINAL),
            (b"\xff\xff\xff\xff\xff\xff\xff", NONE),
            (b"", NONE),
        ] {
            assert_eq!(PseudoHeaders::of(block), expected, "{}", block.escape_ascii());
        }
    }
}
