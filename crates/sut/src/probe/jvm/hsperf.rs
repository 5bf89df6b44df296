//! Parses the counters that a HotSpot JVM publishes in a file, version 2.0 (OpenJDK, `src/hotspot/share/runtime`:
//! `perfMemory.hpp` has the prologue, `perfData.hpp` the entries). `jstat` reads it too.

use std::collections::BTreeMap;
use std::ffi::CStr;

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// The order of a JVM's bytes is that of its machine. tare is built for such machines only.
const LITTLE_ENDIAN: u8 = 1;
/// Length of the prologue, including the number of entries.
const PROLOGUE_BYTES: usize = 32;
const ENTRY_HEAD_BYTES: usize = 20;

/// A JVM's counters and texts, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters<'a> {
    pub numbers: BTreeMap<&'a str, i64>,
    pub texts: BTreeMap<&'a str, &'a str>,
}

/// Parses the counters of a JVM; `None` if the bytes have another format, or the JVM has not written all of them yet.
pub fn parse_counters(file: &[u8]) -> Option<Counters<'_>> {
    if file.get(..4)? != MAGIC || *file.get(4)? != LITTLE_ENDIAN || *file.get(7)? != 1 {
        return None;
    }
    let int = |at: usize| number_at(file, at).map(i32::from_le_bytes);
    let mut at = usize::try_from(int(24)?).ok()?;
    let count = int(28)?;
    let mut all = Counters::default();
    for _ in 0..count {
        let length = usize::try_from(int(at)?).ok().filter(|length| *length >= ENTRY_HEAD_BYTES)?;
        let name = text_at(file, at + usize::try_from(int(at + 4)?).ok()?)?;
        let data = at + usize::try_from(int(at + 16)?).ok()?;
        match (int(at + 8)?, *file.get(at + 12)?) {
            (0, b'J') => drop(all.numbers.insert(name, number_at(file, data).map(i64::from_le_bytes)?)),
            (1.., b'B') => drop(all.texts.insert(name, text_at(file, data)?)),
            _ => {}
        }
        at += length;
    }
    (at >= PROLOGUE_BYTES).then_some(all)
}

fn number_at<const BYTES: usize>(file: &[u8], at: usize) -> Option<[u8; BYTES]> {
    file.get(at..)?.first_chunk().copied()
}

fn text_at(file: &[u8], at: usize) -> Option<&str> {
    CStr::from_bytes_until_nul(file.get(at..)?).ok()?.to_str().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file with these counters, as a JVM writes it.
    pub(crate) fn file(counters: &[(&str, i64)]) -> Vec<u8> {
        file_with(counters, &[])
    }

    pub(crate) fn file_with(counters: &[(&str, i64)], texts: &[(&str, &str)]) -> Vec<u8> {
        let numbers = counters.iter().map(|(name, value)| (*name, 0, b'J', value.to_le_bytes().to_vec()));
        let texts = texts.iter().map(|(name, text)| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize((text.len() + 1).next_multiple_of(8), 0);
            (*name, bytes.len() as i32, b'B', bytes)
        });
        counters_file(&numbers.chain(texts).collect::<Vec<_>>())
    }

    fn counters_file(entries: &[(&str, i32, u8, Vec<u8>)]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        // Little endian, version 2.0, accessible. Used size, overflow and time of the last change are not read.
        out.extend([1, 2, 0, 1]);
        out.extend([0; 16]);
        out.extend(32_i32.to_le_bytes());
        out.extend((entries.len() as i32).to_le_bytes());
        for (name, vector_length, kind, value) in entries {
            let data = (ENTRY_HEAD_BYTES + name.len() + 1).next_multiple_of(8);
            for word in [(data + value.len()) as i32, ENTRY_HEAD_BYTES as i32, *vector_length] {
                out.extend(word.to_le_bytes());
            }
            out.extend([*kind, 0, 1, 1]);
            out.extend((data as i32).to_le_bytes());
            out.extend(name.as_bytes());
            out.resize(out.len() + data - ENTRY_HEAD_BYTES - name.len(), 0);
            out.extend(value);
        }
        out
    }

    #[test]
    fn counters_and_texts_are_read_by_name() {
        let file = file_with(&[("sun.gc.a", 7), ("sun.gc.longer.name", -1)], &[("sun.gc.cause", "No GC")]);
        let read = parse_counters(&file).unwrap();
        assert_eq!(read.numbers, BTreeMap::from([("sun.gc.a", 7), ("sun.gc.longer.name", -1)]));
        assert_eq!(read.texts, BTreeMap::from([("sun.gc.cause", "No GC")]));
    }

    #[test]
    fn a_file_cut_short_anywhere_is_none_and_no_panic() {
        let file = file_with(&[("sun.gc.a", 7)], &[("sun.gc.b", "seven b")]);
        for length in 0..file.len() {
            assert_eq!(parse_counters(&file[..length]), None, "cut at {length}");
        }
    }

    #[test]
    fn a_layout_that_is_not_finished_or_nonsense_is_none() {
        let mut unfinished = file(&[("sun.gc.a", 7)]);
        unfinished[7] = 0;
        assert_eq!(parse_counters(&unfinished), None);
        let mut negative = file(&[("sun.gc.a", 7)]);
        negative[32..36].copy_from_slice(&(-4_i32).to_le_bytes());
        assert_eq!(parse_counters(&negative), None);
        assert_eq!(parse_counters(b"#!/bin/sh"), None);
    }
}
