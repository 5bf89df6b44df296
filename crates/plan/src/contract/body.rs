//! Bodies as plain data: text as written, bytes in hex or in a file, or bytes made from a seed, so that a 5 MiB body is one
//! line of a file.

use std::sync::Arc;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// A generated body is not longer. It is made whole, and each worker keeps it.
const MOST_BYTES: usize = 1 << 30;

/// What a generated body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alphabet {
    Binary,
    /// ASCII letters and digits: valid UTF-8, one byte a character.
    Letters,
    /// A JSON document without blanks, an order of many items, made from the seed.
    Json,
}

/// A request body, as written in a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a body is a string, or { seed = 1, bytes = 256, alphabet = \"binary\", \"letters\" or \"json\" }, { hex = \"0a02\" }, { file = \"body.bin\" }, or of a gRPC call { json = '{}', protoset = \"api.protoset\" }"
)]
pub enum BodySpec {
    /// The text itself, as UTF-8.
    Text(String),
    /// Bytes that follow from the seed alone, the same on every machine.
    Generated(GeneratedBody),
    Hex(HexBody),
    /// The bytes of a file, relative to the suite. A suite that has been read has the bytes themselves in its place.
    OfFile {
        file: String,
    },
    /// A message of gRPC in JSON, and a file with a descriptor set, relative to the suite. A suite that has been read
    /// has the bytes of the message in its place.
    Json {
        json: String,
        protoset: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HexBody {
    /// Two digits a byte, such as `0a0474617265`.
    pub hex: String,
}

impl HexBody {
    pub fn of(bytes: &[u8]) -> Self {
        Self { hex: HEXLOWER.encode(bytes) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedBody {
    /// Seed of the generator (PCG 64 MCG).
    pub seed: u64,
    pub bytes: usize,
    pub alphabet: Alphabet,
}

impl BodySpec {
    pub fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Generated(body) => body.bytes,
            Self::Hex(HexBody { hex }) => hex.len() / 2,
            Self::OfFile { .. } | Self::Json { .. } => 0,
        }
    }

    pub fn bytes(&self) -> Arc<[u8]> {
        match self {
            Self::Text(text) => text.as_bytes().into(),
            Self::Generated(body) => body.bytes(),
            Self::Hex(HexBody { hex }) => bytes_of_hex(hex).unwrap_or_default().into(),
            Self::OfFile { .. } | Self::Json { .. } => [].into(),
        }
    }

    /// A body of these bytes: as text if they are text, so that people can read the record.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        let hex = |error: std::string::FromUtf8Error| Self::Hex(HexBody::of(error.as_bytes()));
        String::from_utf8(bytes).map_or_else(hex, Self::Text)
    }

    /// What is wrong with it; `None` if nothing is.
    pub(super) fn contradiction(&self) -> Option<String> {
        match self {
            Self::Hex(HexBody { hex }) => bytes_of_hex(hex).err(),
            Self::Generated(GeneratedBody { bytes, .. }) if *bytes > MOST_BYTES => {
                Some(format!("{bytes} bytes are too many; write at most {MOST_BYTES}"))
            }
            _ => None,
        }
    }
}

/// The bytes of pairs of hexadecimal digits. Errors: in words, when it has other characters or an odd number of them.
pub fn bytes_of_hex(hex: &str) -> Result<Vec<u8>, String> {
    let wrong = |_| format!("\"{hex}\" is not in hex; write two digits for each byte, such as 0a04");
    HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).map_err(wrong)
}

impl GeneratedBody {
    fn bytes(&self) -> Arc<[u8]> {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        match self.alphabet {
            Alphabet::Binary => binary(&mut random, self.bytes).into(),
            Alphabet::Letters => letters(&mut random, self.bytes).into_bytes().into(),
            Alphabet::Json => json(&mut random, self.bytes).into_bytes().into(),
        }
    }
}

fn binary(random: &mut Pcg64Mcg, length: usize) -> Vec<u8> {
    let mut bytes = vec![0_u8; length];
    random.fill_bytes(&mut bytes);
    bytes
}

fn letters(random: &mut Pcg64Mcg, length: usize) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    binary(random, length).into_iter().map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()])).collect()
}

/// `{"items":[{"id":…,"name":"…","tags":["…","…"],"active":…},…],"note":"…"}`, whose note fills it up to `length`; where
/// that is too little for an item or two, the document is as short as it can be.
fn json(random: &mut Pcg64Mcg, length: usize) -> String {
    const TAIL: usize = r#"],"note":""}"#.len();
    let mut items = String::new();
    loop {
        let comma = if items.is_empty() { "" } else { "," };
        let item = format!(
            r#"{comma}{{"id":{},"name":"{}","tags":["{}","{}"],"active":{}}}"#,
            random.next_u32() >> 1,
            letters(random, 16),
            letters(random, 6),
            letters(random, 8),
            random.next_u32().is_multiple_of(2),
        );
        if r#"{"items":["#.len() + items.len() + item.len() + TAIL > length {
            break;
        }
        items += &item;
    }
    let missing = length.saturating_sub(r#"{"items":["#.len() + items.len() + TAIL);
    format!(r#"{{"items":[{items}],"note":"{}"}}"#, letters(random, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(seed: u64, alphabet: Alphabet) -> Arc<[u8]> {
        BodySpec::Generated(GeneratedBody { seed, bytes: 1000, alphabet }).bytes()
    }

    #[test]
    fn a_seed_always_makes_the_same_bytes_and_another_seed_makes_others() {
        assert_eq!(generated(1, Alphabet::Binary), generated(1, Alphabet::Binary));
        assert_ne!(generated(1, Alphabet::Binary), generated(2, Alphabet::Binary));
    }

    #[test]
    fn json_is_a_document_of_the_length_asked_for_and_has_no_blanks() {
        let bytes = generated(3, Alphabet::Json);
        let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((bytes.len(), document["items"].as_array().unwrap().len()), (1000, 11));
        assert_eq!(document["items"][10]["tags"][1].as_str().unwrap().len(), 8);
        assert!(!bytes.contains(&b' '));
        let short = BodySpec::Generated(GeneratedBody { seed: 3, bytes: 1, alphabet: Alphabet::Json }).bytes();
        assert_eq!(&short[..], br#"{"items":[],"note":""}"#);
    }

    #[test]
    fn bytes_are_written_in_hex_and_those_that_are_text_as_text() {
        assert_eq!(bytes_of_hex("0aFf"), Ok(vec![10, 255]));
        for wrong in ["0", "0g", "0 1", "ä"] {
            assert!(bytes_of_hex(wrong).unwrap_err().contains("two digits for each byte"), "{wrong}");
        }
        let body = BodySpec::of_bytes(vec![10, 255]);
        assert_eq!((body.length(), &body.bytes()[..]), (2, &[10, 255][..]));
        assert_eq!(body, BodySpec::Hex(HexBody { hex: "0aff".into() }));
        assert_eq!(BodySpec::of_bytes(b"text".to_vec()), BodySpec::Text("text".into()));
    }

    #[test]
    fn letters_are_ascii_letters_and_digits() {
        assert!(generated(7, Alphabet::Letters).iter().all(u8::is_ascii_alphanumeric));
    }
}
