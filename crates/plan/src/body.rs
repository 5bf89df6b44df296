//! Bodies as plain data: text as written, or bytes made from a seed, so that a 5 MiB body is one line of a file.

use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// What a generated body is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alphabet {
    /// Any byte.
    Binary,
    /// ASCII letters and digits: valid UTF-8, one byte a character.
    Letters,
}

/// A request body, as written in a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a body is a string, or { seed = 1, bytes = 256, alphabet = \"binary\" or \"letters\" }")]
pub enum BodySpec {
    /// The text itself, as UTF-8.
    Text(String),
    /// Bytes that follow from the seed alone, the same on every machine.
    Generated(GeneratedBody),
}

/// Bytes that follow from a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratedBody {
    /// Seed of the generator (PCG 64 MCG).
    pub seed: u64,
    /// Length in bytes.
    pub bytes: usize,
    /// What it is made of.
    pub alphabet: Alphabet,
}

impl BodySpec {
    /// The bytes to send.
    pub fn bytes(&self) -> Arc<[u8]> {
        match self {
            Self::Text(text) => text.as_bytes().into(),
            Self::Generated(body) => body.bytes(),
        }
    }
}

impl Default for BodySpec {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl GeneratedBody {
    fn bytes(&self) -> Arc<[u8]> {
        const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let mut bytes = vec![0_u8; self.bytes];
        Pcg64Mcg::seed_from_u64(self.seed).fill_bytes(&mut bytes);
        if self.alphabet == Alphabet::Letters {
            for byte in &mut bytes {
                *byte = LETTERS[usize::from(*byte) % LETTERS.len()];
            }
        }
        bytes.into()
    }
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
    fn letters_are_ascii_letters_and_digits() {
        assert!(generated(7, Alphabet::Letters).iter().all(u8::is_ascii_alphanumeric));
    }
}
