//! The compressed protocol buffer of pprof.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use indexmap::IndexSet;

use super::Unit;
use crate::error::ProfileError;
use crate::stacks::Stacks;

/// Numbers of the fields that are used. Source: google/pprof, proto/profile.proto
mod field {
    pub const PROFILE_SAMPLE_TYPE: u64 = 1;
    pub const PROFILE_SAMPLE: u64 = 2;
    pub const PROFILE_LOCATION: u64 = 4;
    pub const PROFILE_FUNCTION: u64 = 5;
    pub const PROFILE_STRING_TABLE: u64 = 6;
    pub const VALUE_TYPE_KIND: u64 = 1;
    pub const VALUE_TYPE_UNIT: u64 = 2;
    /// Leaf first.
    pub const SAMPLE_LOCATION_ID: u64 = 1;
    pub const SAMPLE_VALUE: u64 = 2;
    pub const LOCATION_ID: u64 = 1;
    pub const LOCATION_LINE: u64 = 4;
    pub const LINE_FUNCTION_ID: u64 = 1;
    pub const FUNCTION_ID: u64 = 1;
    pub const FUNCTION_NAME: u64 = 2;
}

pub fn write_pprof(stacks: &Stacks, unit: Unit) -> Result<Vec<u8>, ProfileError> {
    let wrong = |error: std::io::Error| ProfileError::Pprof(error.to_string());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&profile(stacks, unit).0).map_err(wrong)?;
    encoder.finish().map_err(wrong)
}

fn profile(stacks: &Stacks, unit: Unit) -> Message {
    let mut strings = IndexSet::new();
    let mut place = |text: &str| strings.insert_full(text.to_owned()).0 as u64;
    // The first string must be empty.
    place("");
    let (kind, unit) = match unit {
        Unit::Samples => ("samples", "count"),
        Unit::Nanoseconds => ("cpu", "nanoseconds"),
        Unit::Bytes => ("alloc_space", "bytes"),
    };
    let (kind, unit) = (place(kind), place(unit));
    let sample_type = Message::default().with(field::VALUE_TYPE_KIND, kind).with(field::VALUE_TYPE_UNIT, unit);
    let mut profile = Message::default();
    profile.add_bytes(field::PROFILE_SAMPLE_TYPE, &sample_type.0);
    for stack in stacks.iter() {
        let weight = stack.weight.min(i64::MAX as u64);
        let mut sample = Message::default().with(field::SAMPLE_VALUE, weight);
        stack.frames.iter().rev().for_each(|&frame| sample.add(field::SAMPLE_LOCATION_ID, u64::from(frame) + 1));
        profile.add_bytes(field::PROFILE_SAMPLE, &sample.0);
    }
    // Ids begin at 1: 0 means "none".
    for (frame, id) in stacks.frames().iter().zip(1..) {
        let line = Message::default().with(field::LINE_FUNCTION_ID, id);
        let mut location = Message::default().with(field::LOCATION_ID, id);
        location.add_bytes(field::LOCATION_LINE, &line.0);
        profile.add_bytes(field::PROFILE_LOCATION, &location.0);
        let name = place(&frame.name);
        let function = Message::default().with(field::FUNCTION_ID, id).with(field::FUNCTION_NAME, name);
        profile.add_bytes(field::PROFILE_FUNCTION, &function.0);
    }
    strings.iter().for_each(|text| profile.add_bytes(field::PROFILE_STRING_TABLE, text.as_bytes()));
    profile
}

/// A message of protocol buffers. Source: protobuf.dev, "Encoding": a field is its number with the kind of its value in
/// the last three bits, and then the value.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn with(mut self, field: u64, value: u64) -> Self {
        self.add(field, value);
        self
    }

    fn add(&mut self, field: u64, value: u64) {
        self.add_varint(field << 3);
        self.add_varint(value);
    }

    /// A text, or a message within this one.
    fn add_bytes(&mut self, field: u64, bytes: &[u8]) {
        self.add_varint(field << 3 | 2);
        self.add_varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Seven bits in each byte, the lowest first. The highest bit says that more follow.
    fn add_varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;
    use std::io::Read;

    /// A field: its number, and its value.
    #[derive(Debug, Clone, PartialEq)]
    enum Field {
        Number(u64, u64),
        Bytes(u64, Vec<u8>),
    }

    fn read_varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for place in 0.. {
            let (&byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn read_message(mut bytes: &[u8]) -> Vec<Field> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = read_varint(&mut bytes);
            let value = read_varint(&mut bytes);
            fields.push(if key & 7 == 0 {
                Field::Number(key >> 3, value)
            } else {
                assert_eq!(key & 7, 2);
                let (text, rest) = bytes.split_at(value as usize);
                bytes = rest;
                Field::Bytes(key >> 3, text.to_vec())
            });
        }
        fields
    }

    /// The contents of each field of this number.
    fn parts(fields: &[Field], wanted: u64) -> Vec<&[u8]> {
        let part = |field| match field {
            &Field::Bytes(number, ref bytes) if number == wanted => Some(&bytes[..]),
            _ => None,
        };
        fields.iter().filter_map(part).collect()
    }

    fn numbers(message: &[u8], wanted: u64) -> Vec<u64> {
        let number =
            |field| if let Field::Number(number, value) = field { (number == wanted).then_some(value) } else { None };
        read_message(message).into_iter().filter_map(number).collect()
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        for (value, bytes) in
            [(0, &[0][..]), (127, &[127]), (128, &[128, 1]), (150, &[150, 1]), (1 << 14, &[128, 128, 1])]
        {
            let mut message = Message::default();
            message.add_varint(value);
            assert_eq!((message.0.as_slice(), read_varint(&mut &message.0[..])), (bytes, value));
        }
    }

    #[test]
    fn what_is_written_is_read_back_leaf_first() {
        let bytes = write_pprof(&parse_collapsed("a;b_[j] 3\na_[k] 400\n").unwrap(), Unit::Nanoseconds).unwrap();
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
        let read = read_message(&plain);
        let strings = parts(&read, 6);
        assert_eq!(strings[0], b"");
        let samples = parts(&read, 2);
        assert_eq!((numbers(samples[0], 1), numbers(samples[0], 2)), (vec![2, 1], vec![3]));
        assert_eq!(numbers(samples[1], 2), [400]);
        let (locations, functions) = (parts(&read, 4), parts(&read, 5));
        let name = |id: usize| {
            assert_eq!(numbers(locations[id - 1], 1), [id as u64]);
            let location = read_message(locations[id - 1]);
            let function = numbers(parts(&location, 4)[0], 1)[0];
            strings[numbers(functions[function as usize - 1], 2)[0] as usize]
        };
        assert_eq!((name(1), name(2), name(3)), (&b"a"[..], &b"b"[..], &b"a"[..]));
        assert_eq!(strings[numbers(parts(&read, 1)[0], 2)[0] as usize], b"nanoseconds");
    }
}
