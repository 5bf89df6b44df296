//! Answers of servers: read equally in any pieces, and never beyond their end.

use tare_wire::http::{Head, MAX_HEAD_BYTES, ParseError, Progress, ResponseParser, Sink};
use tare_wire::http2::{Decoder, Section};

use crate::connection::check_cuts;

#[derive(Debug, Default, PartialEq, Eq)]
struct ParsedAnswer {
    statuses: Vec<u16>,
    body: Vec<u8>,
    /// Bytes used and keep-alive, for a complete answer.
    complete: Option<(usize, bool)>,
}

impl Sink for ParsedAnswer {
    fn head(&mut self, head: &Head<'_>) {
        self.statuses.push(head.status);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// Bytes give the same answer or the same error, whole, in single bytes and in uneven pieces, for GET and HEAD.
pub fn check_answer(bytes: &[u8]) {
    for is_head_request in [false, true] {
        if let Ok(read) = check_cuts(|size| read(bytes.chunks(size), is_head_request), bytes.len()) {
            assert_eq!(read.statuses.len(), 1, "one final answer");
            let (used, _) = read.complete.unwrap_or((bytes.len(), false));
            assert!(used <= bytes.len() && read.body.len() <= used, "no more than the received bytes");
        }
    }
}

/// The same for a chunked body after a valid head, so that the fuzzer need not find the head first.
pub fn check_chunks(bytes: &[u8]) {
    check_answer(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", bytes].concat());
}

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, is_head_request: bool) -> Result<ParsedAnswer, ParseError> {
    let mut parser = ResponseParser::new();
    parser.expect_response(is_head_request);
    let mut read = ParsedAnswer::default();
    let mut before = 0;
    for piece in pieces {
        if let Progress::Complete { consumed, keeps_alive } = parser.feed(piece, &mut read)? {
            assert!(consumed <= piece.len(), "it used {consumed} of {} bytes", piece.len());
            read.complete = Some((before + consumed, keeps_alive));
            return Ok(read);
        }
        before += piece.len();
    }
    parser.finish_stream().map(|()| read)
}

/// Header sections of one HTTP/2 connection, each as long as the first byte says, are refused or decoded. Their fields
/// are the same when they are written out, and no longer than allowed.
pub fn check_sections(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first() else { return };
    let mut decoder = Decoder::default();
    for block in rest.chunks(usize::from(*length).max(1)) {
        let Some(fields) = fields_of(&mut decoder, block) else { return };
        let size: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
        assert!(size <= MAX_HEAD_BYTES, "{size} bytes of fields");
        let literal: Vec<u8> = fields.iter().flat_map(|(name, value)| literal(name.as_bytes(), value)).collect();
        assert_eq!(fields_of(&mut Decoder::default(), &literal), Some(fields), "written out");
    }
}

/// The fields of a section; `None` if it is refused.
fn fields_of(decoder: &mut Decoder, block: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut section = Section::default();
    section.begin(true);
    decoder.decode(block, &mut section).ok()?;
    Some(section.lines().map(|(name, value)| (name.to_owned(), value.to_vec())).collect())
}

/// A field that is written out and enters no table.
fn literal(name: &[u8], value: &[u8]) -> Vec<u8> {
    let string = |text: &[u8]| {
        // 127 and the rest, in three bytes of seven bits; what is shorter fits the first byte.
        let length = match text.len() {
            short @ 0..127 => vec![short as u8],
            long => {
                let rest = long - 127;
                vec![127, 0x80 | rest as u8, 0x80 | (rest >> 7) as u8, (rest >> 14) as u8]
            }
        };
        [length, text.to_vec()].concat()
    };
    [vec![0], string(name), string(value)].concat()
}
