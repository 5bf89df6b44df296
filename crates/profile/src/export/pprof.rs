//! The compressed protocol buffer of pprof.

use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::Unit;
use crate::error::ProfileError;
use crate::stacks::Stacks;

/// The messages of `profile.proto` that are used.
///
/// # Source
/// google/pprof, proto/profile.proto: numbers of the fields.
mod proto {
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Profile {
        #[prost(message, repeated, tag = "1")]
        pub sample_type: Vec<ValueType>,
        #[prost(message, repeated, tag = "2")]
        pub sample: Vec<Sample>,
        #[prost(message, repeated, tag = "4")]
        pub location: Vec<Location>,
        #[prost(message, repeated, tag = "5")]
        pub function: Vec<Function>,
        #[prost(string, repeated, tag = "6")]
        pub string_table: Vec<String>,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct ValueType {
        #[prost(int64, tag = "1")]
        pub kind: i64,
        #[prost(int64, tag = "2")]
        pub unit: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Sample {
        /// Leaf first.
        #[prost(uint64, repeated, tag = "1")]
        pub location_id: Vec<u64>,
        #[prost(int64, repeated, tag = "2")]
        pub value: Vec<i64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Location {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(message, repeated, tag = "4")]
        pub line: Vec<Line>,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct Line {
        #[prost(uint64, tag = "1")]
        pub function_id: u64,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct Function {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(int64, tag = "2")]
        pub name: i64,
    }
}

/// The stacks as a file for pprof.
pub fn write_pprof(stacks: &Stacks, unit: Unit) -> Result<Vec<u8>, ProfileError> {
    let wrong = |error: std::io::Error| ProfileError::Export { form: "pprof", reason: error.to_string() };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&profile(stacks, unit).encode_to_vec()).map_err(wrong)?;
    encoder.finish().map_err(wrong)
}

fn profile(stacks: &Stacks, unit: Unit) -> proto::Profile {
    let mut strings = Strings::default();
    // The first string must be empty.
    strings.place("");
    let (kind, unit) = match unit {
        Unit::Samples => ("samples", "count"),
        Unit::Nanoseconds => ("cpu", "nanoseconds"),
        Unit::Bytes => ("alloc_space", "bytes"),
    };
    let sample_type = vec![proto::ValueType { kind: strings.place(kind), unit: strings.place(unit) }];
    // Ids begin at 1: 0 means "none".
    let function = stacks.frames().iter().zip(1..);
    let function = function.map(|(frame, id)| proto::Function { id, name: strings.place(&frame.name) }).collect();
    let location = (1..=stacks.frames().len() as u64)
        .map(|id| proto::Location { id, line: vec![proto::Line { function_id: id }] })
        .collect();
    let sample = stacks.iter().map(|stack| proto::Sample {
        location_id: stack.frames.iter().rev().map(|&id| u64::from(id) + 1).collect(),
        value: vec![i64::try_from(stack.weight).unwrap_or(i64::MAX)],
    });
    proto::Profile { sample_type, sample: sample.collect(), location, function, string_table: strings.table }
}

#[derive(Debug, Default)]
struct Strings {
    table: Vec<String>,
    places: HashMap<String, i64>,
}

impl Strings {
    fn place(&mut self, text: &str) -> i64 {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let place = self.table.len() as i64;
        self.table.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;
    use std::io::Read;

    #[test]
    fn what_is_written_is_read_back_leaf_first() {
        let bytes = write_pprof(&parse_collapsed("a;b_[j] 3\na_[k] 4\n").unwrap(), Unit::Nanoseconds).unwrap();
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
        let read = proto::Profile::decode(plain.as_slice()).unwrap();
        assert_eq!(read.string_table[0], "");
        assert_eq!((read.sample[0].location_id.as_slice(), read.sample[0].value.as_slice()), (&[2, 1][..], &[3][..]));
        let name = |id: u64| {
            let function = read.location[id as usize - 1].line[0].function_id;
            read.string_table[read.function[function as usize - 1].name as usize].as_str()
        };
        assert_eq!((name(1), name(2), name(3)), ("a", "b", "a"));
        assert_eq!(read.string_table[read.sample_type[0].unit as usize], "nanoseconds");
    }
}
