//! Decodes the header sections of one connection (RFC 7541, sections 5 and 6).

use super::error::{ConnectionError, ErrorCode};
use super::fields::{Meaning, Section};
use super::huffman;
use super::table::{Field, MAX_TABLE_BYTES, Table};
use crate::http::MAX_HEAD_BYTES;

const CUT: ConnectionError = ConnectionError::compression("a header section that is cut");
const NO_FIELD: ConnectionError = ConnectionError::compression("an index at which no table has a field");

/// The state of the header sections of one connection, in the order in which they come.
#[derive(Debug, Default)]
pub struct Decoder {
    table: Table,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// Passes the fields of a whole header section to `section`. Fails when it cannot be decoded or is too long. Later
    /// ones cannot be decoded either.
    pub fn decode(&mut self, mut block: &[u8], section: &mut Section) -> Result<(), ConnectionError> {
        let (mut decoded_bytes, mut may_resize) = (0, true);
        while let Some(&first) = block.first() {
            if first & 0xe0 == 0x20 {
                let max_bytes = integer(&mut block, 5)?;
                if !may_resize || max_bytes > MAX_TABLE_BYTES {
                    return Err(ConnectionError::compression("a table size that was not allowed, or not at the start"));
                }
                self.table.resize(max_bytes);
                continue;
            }
            may_resize = false;
            decoded_bytes += if first & 0x80 != 0 {
                let field = self.table.get(integer(&mut block, 7)?).ok_or(NO_FIELD)?;
                section.take(field);
                field.size()
            } else {
                self.literal(&mut block, first & 0x40 != 0, section)?
            };
            if decoded_bytes > MAX_HEAD_BYTES {
                let what = "a header section of more than 300 KiB";
                return Err(ConnectionError::new(ErrorCode::ENHANCE_YOUR_CALM, what));
            }
        }
        Ok(())
    }

    /// Reads a field that is written out, all or its value. Returns its size.
    fn literal(&mut self, block: &mut &[u8], is_added: bool, section: &mut Section) -> Result<usize, ConnectionError> {
        self.name.clear();
        self.value.clear();
        match integer(block, if is_added { 6 } else { 4 })? {
            0 => string(block, &mut self.name)?,
            index => self.name.extend_from_slice(self.table.get(index).ok_or(NO_FIELD)?.name),
        }
        string(block, &mut self.value)?;
        let field = Field { name: &self.name, value: &self.value, meaning: Meaning::of(&self.name, &self.value) };
        section.take(field);
        if is_added {
            self.table.add(field);
        }
        Ok(field.size())
    }
}

/// Reads an integer whose first byte has so many bits of it.
fn integer(block: &mut &[u8], prefix_bits: u32) -> Result<usize, ConnectionError> {
    let (first, mut rest) = block.split_first().ok_or(CUT)?;
    let mask = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(*first) & mask;
    if value == mask {
        // Four bytes more reach beyond all limits.
        for shift in [0, 7, 14, 21] {
            let (byte, after) = rest.split_first().ok_or(CUT)?;
            rest = after;
            value += usize::from(*byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                *block = rest;
                return Ok(value);
            }
        }
        return Err(ConnectionError::compression("an integer beyond all limits"));
    }
    *block = rest;
    Ok(value)
}

/// Appends a string to `out`.
fn string(block: &mut &[u8], out: &mut Vec<u8>) -> Result<(), ConnectionError> {
    let is_coded = block.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer(block, 7)?;
    let (text, rest) = block.split_at_checked(length).ok_or(CUT)?;
    *block = rest;
    if is_coded {
        return huffman::decode(text, out).ok_or(ConnectionError::compression("a string in no code"));
    }
    out.extend_from_slice(text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    /// The fields of sections that come one after another, a line each.
    fn decoded(decoder: &mut Decoder, hex: &str) -> Result<String, ConnectionError> {
        let mut section = Section::default();
        section.begin(true);
        decoder.decode(&bytes(hex), &mut section)?;
        let line = |(name, value): (&str, &[u8])| format!("{name}: {}\n", String::from_utf8_lossy(value));
        Ok(section.lines().map(line).collect())
    }

    fn all(hex: &[&str]) -> Vec<String> {
        let mut decoder = Decoder::default();
        hex.iter().map(|hex| decoded(&mut decoder, hex).unwrap()).collect()
    }

    /// Of RFC 7541, appendix C, the forms of a field that its answers do not have.
    #[test]
    fn fields_come_in_four_forms() {
        for (hex, line) in [
            ("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", "custom-key: custom-header\n"),
            ("100a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", "custom-key: custom-header\n"),
            ("000a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", "custom-key: custom-header\n"),
            ("0f1a 046e 6f6e 65", "if-none-match: none\n"),
        ] {
            assert_eq!(all(&[hex]), [line]);
        }
    }

    /// RFC 7541, appendix C.3 and C.4, the first two requests.
    #[test]
    fn sections_of_the_standard_refer_to_those_before() {
        let plain = ["8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", "8286 84be 5808 6e6f 2d63 6163 6865"];
        let coded = ["8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", "8286 84be 5886 a8eb 1064 9cbf"];
        for hex in [plain, coded] {
            let first = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n";
            assert_eq!(all(&hex), [first.to_owned(), format!("{first}cache-control: no-cache\n")]);
        }
    }

    /// RFC 7541, appendix C.5 and C.6, without the eviction from a table of 256 bytes.
    #[test]
    fn answers_of_the_standard_are_read() {
        let first = "3fe1 01 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a \
                     3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d";
        let coded = "3fe1 01 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e \
                     919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3";
        let lines = "cache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n";
        for first in [first, coded] {
            // The second adds a status, which evicts the first from a table of 256 bytes.
            assert_eq!(all(&[first, "4803 3330 37c1 c0bf"]), [lines, lines]);
            let mut decoder = Decoder::default();
            decoded(&mut decoder, first).unwrap();
            decoded(&mut decoder, "4803 3330 37c1 c0bf").unwrap();
            assert_eq!(decoded(&mut decoder, "c2"), Err(NO_FIELD), "{first}");
        }
    }

    #[test]
    fn what_cannot_be_decoded_is_an_error_and_never_a_panic() {
        for hex in ["80", "be", "c0", "7f", "00", "0001", "000161", "0081ff", "3fe2ff03", "8820", "ffffffffffff"] {
            assert!(decoded(&mut Decoder::default(), hex).is_err(), "{hex}");
        }
        // A field of the table, said again and again.
        let bomb = format!("4001 61 7f81 1f {} {}", "62".repeat(4096 - 33 - 100), "be".repeat(200));
        assert!(decoded(&mut Decoder::default(), &bomb).is_err());
    }
}
