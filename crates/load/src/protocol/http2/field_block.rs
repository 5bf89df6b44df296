//! The parts of header sections that the inspector judges. The decoder follows the table of the connection, but keeps of
//! each entry only what matters here, so it stores no text.

use std::collections::VecDeque;

use super::huffman;

/// Largest table that this side allows, in bytes. The `h2` crate announces no other size.
///
/// # Source
/// RFC 9113, section 6.5.2: the initial value.
const TABLE_BYTES: usize = 4096;
/// What an entry costs beside its name and its value.
///
/// # Source
/// RFC 7541, section 4.1.
const ENTRY_BYTES: usize = 32;
/// The first index that the static table does not have.
const FIRST_DYNAMIC: usize = 62;

/// Lengths of the names in the static table.
///
/// # Source
/// RFC 7541, appendix A.
const NAME_LENGTHS: [u8; 61] = [
    10, 7, 7, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 14, 15, 15, 13, 6, 27, 3, 5, 13, 13, 19, 16, 16, 14, 16, 13, 12, 6, 4,
    4, 6, 7, 4, 4, 8, 17, 13, 8, 19, 13, 4, 8, 12, 18, 19, 5, 7, 7, 11, 6, 10, 25, 17, 10, 4, 3, 16,
];
/// The statuses of the static table.
const STATUSES: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
/// The indices of `:status` in the static table.
const FIRST_STATUS: usize = 8;
const LAST_STATUS: usize = 14;

/// `:status` in HPACK's Huffman code. Each text has one code.
const HUFFMAN_STATUS: &[u8] = &[0xb8, 0x84, 0x8d, 0x36, 0xa3];
/// The 7 bits of a colon in it.
const HUFFMAN_COLON: u8 = 0x5c;

/// What a header section has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    /// The `:status`; 0 if it is no number of three digits.
    pub(super) status: Option<u16>,
    /// There is a pseudo-header that only requests have, such as `:path`, or one that nobody knows.
    pub(super) has_request: bool,
    /// A value begins or ends with white space. It is looked for in interim heads: the crate shows all others.
    pub(super) has_blank: bool,
}

/// The table of a connection, as far as it matters here.
#[derive(Debug)]
pub(super) struct Decoder {
    /// The newest is the first.
    table: VecDeque<Field>,
    /// Sizes of all entries together.
    size: usize,
    most: usize,
}

/// A field, as far as it matters here.
#[derive(Clone, Copy, Debug)]
struct Field {
    name: Name,
    value: Value,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    kind: NameKind,
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    Status,
    OfRequest,
    Ordinary,
}

#[derive(Clone, Copy, Debug, Default)]
struct Value {
    length: usize,
    /// Its number, if it is one of three digits; else 0.
    status: u16,
    is_blank: bool,
}

/// A text as it was sent.
#[derive(Clone, Copy)]
struct Text<'a> {
    is_huffman: bool,
    raw: &'a [u8],
}

impl Section {
    /// Whether it is the head of an interim answer.
    pub(super) fn is_interim(self) -> bool {
        matches!(self.status, Some(100..200))
    }

    fn add(&mut self, field: Field) {
        match field.name.kind {
            NameKind::Status => self.status = Some(field.value.status),
            NameKind::OfRequest => self.has_request = true,
            NameKind::Ordinary => self.has_blank |= field.value.is_blank,
        }
    }
}

impl Decoder {
    pub(super) const fn new() -> Self {
        Self { table: VecDeque::new(), size: 0, most: TABLE_BYTES }
    }

    /// Reads a whole header section. Returns `None` if it breaks the format; the connection is then lost.
    ///
    /// # Source
    /// RFC 7541, section 6.
    pub(super) fn decode(&mut self, mut block: &[u8]) -> Option<Section> {
        let mut section = Section::default();
        let mut may_resize = true;
        while let Some(&first) = block.first() {
            match first {
                0x80.. => section.add(self.field_at(integer(&mut block, 7)?)?),
                0x20..0x40 => {
                    let most = integer(&mut block, 5)?;
                    if !may_resize || most > TABLE_BYTES {
                        return None;
                    }
                    self.most = most;
                    self.evict(0);
                    continue;
                }
                _ => {
                    let enters_table = first >= 0x40;
                    let name = match integer(&mut block, if enters_table { 6 } else { 4 })? {
                        0 => Text::read(&mut block)?.name(enters_table)?,
                        index => self.field_at(index)?.name,
                    };
                    let value = Text::read(&mut block)?;
                    // The value of most fields does not matter, so it is not decoded.
                    let matters = enters_table || name.kind == NameKind::Status || section.is_interim();
                    let field = Field { name, value: if matters { value.weigh()? } else { Value::default() } };
                    section.add(field);
                    if enters_table {
                        self.insert(field);
                    }
                }
            }
            may_resize = false;
        }
        Some(section)
    }

    fn field_at(&self, index: usize) -> Option<Field> {
        if index < FIRST_DYNAMIC {
            let status = if (FIRST_STATUS..=LAST_STATUS).contains(&index) { STATUSES[index - FIRST_STATUS] } else { 0 };
            return Some(Field { name: static_name(index)?, value: Value { status, ..Value::default() } });
        }
        self.table.get(index - FIRST_DYNAMIC).copied()
    }

    fn insert(&mut self, field: Field) {
        self.evict(field.size());
        if field.size() <= self.most {
            self.size += field.size();
            self.table.push_front(field);
        }
    }

    /// Drops the oldest entries until there is room for this many bytes.
    fn evict(&mut self, room: usize) {
        while self.size + room > self.most {
            let Some(oldest) = self.table.pop_back() else { break };
            self.size -= oldest.size();
        }
    }
}

impl Field {
    const fn size(self) -> usize {
        self.name.length + self.value.length + ENTRY_BYTES
    }
}

impl<'a> Text<'a> {
    fn read(block: &mut &'a [u8]) -> Option<Self> {
        let is_huffman = block.first()? & 0x80 != 0;
        let length = integer(block, 7)?;
        let (raw, rest) = block.split_at_checked(length)?;
        *block = rest;
        Some(Self { is_huffman, raw })
    }

    /// Passes each of its bytes to `take`.
    fn bytes(self, mut take: impl FnMut(u8)) -> Option<()> {
        if self.is_huffman {
            return huffman::decode(self.raw, take);
        }
        self.raw.iter().for_each(|byte| take(*byte));
        Some(())
    }

    /// This text as a name. Its length matters only in the table.
    fn name(self, enters_table: bool) -> Option<Name> {
        let first = self.raw.first().copied().unwrap_or_default();
        let is_pseudo = if self.is_huffman { first >> 1 == HUFFMAN_COLON } else { first == b':' };
        let status = if self.is_huffman { HUFFMAN_STATUS } else { b":status" };
        let kind = match (is_pseudo, self.raw == status) {
            (false, _) => NameKind::Ordinary,
            (true, true) => NameKind::Status,
            (true, false) => NameKind::OfRequest,
        };
        let mut length = 0;
        if enters_table {
            self.bytes(|_| length += 1)?;
        }
        Some(Name { kind, length })
    }

    fn weigh(self) -> Option<Value> {
        let (mut length, mut number) = (0, Some(0_u16));
        let (mut first, mut last) = (0, 0);
        self.bytes(|byte| {
            first = if length == 0 { byte } else { first };
            last = byte;
            length += 1;
            number = number.filter(|_| length <= 3 && byte.is_ascii_digit()).map(|n| n * 10 + u16::from(byte - b'0'));
        })?;
        let is_blank = [first, last].iter().any(|end| matches!(end, b' ' | b'\t'));
        Some(Value { length, status: number.filter(|_| length == 3).unwrap_or_default(), is_blank })
    }
}

fn static_name(index: usize) -> Option<Name> {
    let length = *NAME_LENGTHS.get(index.checked_sub(1)?)?;
    let kind = match index {
        ..FIRST_STATUS => NameKind::OfRequest,
        FIRST_STATUS..=LAST_STATUS => NameKind::Status,
        _ => NameKind::Ordinary,
    };
    Some(Name { kind, length: length.into() })
}

/// Reads an integer whose first byte has this many bits of it. It has at most 5 bytes, as the `h2` crate allows.
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

    const NONE: Section = Section { status: None, has_request: false, has_blank: false };
    const OK: Section = Section { status: Some(200), ..NONE };
    const OF_REQUEST: Section = Section { has_request: true, ..OK };
    const HINTS: Section = Section { status: Some(103), ..NONE };

    /// A literal field that enters no table.
    fn literal(prefix: &[u8], value: &[u8]) -> Vec<u8> {
        let length = u8::try_from(value.len()).unwrap();
        let length = if length < 127 { vec![length] } else { vec![127, length - 127] };
        [prefix, &length, value].concat()
    }

    #[test]
    fn pseudo_headers_are_found_in_every_form() {
        let long_path = literal(b"\x88\x04", &[b'/'; 100]);
        let long_name = literal(b"\x88\x00\x05:path", &[b'/'; 80]);
        let huffman_name = literal(b"\x88\x00\x84\xb9\x58\xd3\x3f", &[b'a'; 127]);
        let authority = literal(b"\x88\x01", &[b'a'; 127]);
        let behind_a_field = [literal(b"\x00\x01x", &[b'a'; 200]), b"\x84".to_vec()].concat();
        for (block, expected) in [
            (&b"\x88"[..], Some(OK)),
            (b"\x8e\x0f\x20\x01a", Some(Section { status: Some(500), ..NONE })),
            (b"\x48\x03200", Some(OK)),
            (b"\x08\x03103", Some(HINTS)),
            (b"\x48\x82\x10\x01", Some(OK)),
            (b"\x48\x82\x08\x05", Some(Section { status: Some(102), ..NONE })),
            (b"\x00\x07:status\x03200", Some(OK)),
            (b"\x10\x07:status\x03100", Some(Section { status: Some(100), ..NONE })),
            (b"\x00\x85\xb8\x84\x8d\x36\xa3\x03200", Some(OK)),
            (b"\x08\x0220", Some(Section { status: Some(0), ..NONE })),
            (b"\x08\x042000", Some(Section { status: Some(0), ..NONE })),
            (b"\x20\x88", Some(OK)),
            (b"\x3f\xe1\x1f\x88", Some(OK)),
            (b"\x20\x20\x20\x88\x84", Some(OF_REQUEST)),
            (b"\x88\x84", Some(OF_REQUEST)),
            (b"\x84\x88", Some(OF_REQUEST)),
            (&long_path, Some(OF_REQUEST)),
            (&long_name, Some(OF_REQUEST)),
            (&huffman_name, Some(OF_REQUEST)),
            (&authority, Some(OF_REQUEST)),
            (&behind_a_field, Some(Section { has_request: true, ..NONE })),
            (b"\x88\x00\x03x-a\x01b", Some(OK)),
            (b"\x00\x03x-a\x01b\x88", Some(OK)),
            (b"\x08\x03103\x00\x01a\x02 b", Some(Section { has_blank: true, ..HINTS })),
            (b"\x08\x03103\x00\x01a\x02b\t", Some(Section { has_blank: true, ..HINTS })),
            (b"\x08\x03103\x00\x01a\x03b c", Some(HINTS)),
            (b"\x88\x20", None),
            (b"\x80", None),
            (b"\xbe", None),
            (b"\x88\x00\x05:pa", None),
            (b"\x3f\xe2\x1f", None),
            (b"\xff\xff\xff\xff\xff\xff\xff", None),
            (b"", Some(NONE)),
        ] {
            assert_eq!(Decoder::new().decode(block), expected, "{}", block.escape_ascii());
        }
    }

    /// Decodes the sections of one connection. Returns the size of the table after each.
    fn sizes(blocks: &[&str], most: usize) -> Vec<usize> {
        let mut decoder = Decoder { most, ..Decoder::new() };
        let bytes = |hex: &str| -> Vec<u8> {
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
        };
        let mut size_after = |block: &&str| {
            decoder.decode(&bytes(block)).unwrap();
            decoder.size
        };
        blocks.iter().map(&mut size_after).collect()
    }

    #[test]
    fn the_table_grows_and_shrinks_as_in_the_examples_of_the_standard() {
        // RFC 7541, appendix C.3 to C.6.
        let requests = [
            "828684410f7777772e6578616d706c652e636f6d",
            "828684be58086e6f2d6361636865",
            "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
        ];
        let in_huffman = [
            "828684418cf1e3c2e5f23a6ba0ab90f4ff",
            "828684be5886a8eb10649cbf",
            "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
        ];
        assert_eq!(sizes(&requests, TABLE_BYTES), [57, 110, 164]);
        assert_eq!(sizes(&in_huffman, TABLE_BYTES), [57, 110, 164]);
        let answers = [
            "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d",
            "4803333037c1c0bf",
            "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
        ];
        let in_huffman = [
            "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
            "4883640effc1c0bf",
            "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
        ];
        assert_eq!(sizes(&answers, 256), [222, 222, 215]);
        assert_eq!(sizes(&in_huffman, 256), [222, 222, 215]);
    }

    #[test]
    fn a_status_of_the_table_is_one_until_it_is_evicted() {
        let mut decoder = Decoder::new();
        assert_eq!(decoder.decode(b"\x48\x03201"), Some(Section { status: Some(201), ..NONE }));
        assert_eq!(decoder.decode(b"\xbe"), Some(Section { status: Some(201), ..NONE }));
        assert_eq!(decoder.decode(b"\x40\x01a\x01b\xbf"), Some(Section { status: Some(201), ..NONE }));
        assert_eq!(decoder.decode(b"\x20\x3f\xe1\x1f\xbe"), None, "the table is empty");
    }
}
