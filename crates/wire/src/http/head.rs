//! The header section of an answer: parsed by httparse, with the framing of the body.

use std::mem::MaybeUninit;

use super::grammar::decimal;
use super::{Chunked, MAX_HEADERS, ParseError};

/// Header fields that are read without an allocation.
const USUAL_HEADERS: usize = 100;

/// Status and header fields of one answer, borrowed from the received bytes.
#[derive(Debug)]
pub struct Head<'a> {
    pub status: u16,
    /// In the order of arrival.
    pub headers: &'a [httparse::Header<'a>],
    pub(crate) minor_version: u8,
}

/// The part of a body that is to come.
#[derive(Debug)]
pub enum Body {
    /// Exactly this number of bytes.
    Length(u64),
    Chunked(Chunked),
    /// Everything until the connection ends.
    UntilClose,
}

impl Body {
    /// Passes the content at the start of `input` to `data`. Returns how many bytes belonged to the body, and whether
    /// it is complete.
    pub fn feed(&mut self, input: &[u8], mut data: impl FnMut(&[u8])) -> Result<(usize, bool), ParseError> {
        match self {
            Self::Length(remaining) => {
                let take = usize::try_from(*remaining).map_or(input.len(), |remaining| remaining.min(input.len()));
                if take > 0 {
                    data(&input[..take]);
                }
                *remaining -= take as u64;
                Ok((take, *remaining == 0))
            }
            Self::Chunked(chunked) => chunked.feed(input, data),
            Self::UntilClose => {
                if !input.is_empty() {
                    data(input);
                }
                Ok((input.len(), false))
            }
        }
    }
}

impl<'a> Head<'a> {
    /// The head of an answer that arrived in another version of HTTP.
    pub const fn new(status: u16, headers: &'a [httparse::Header<'a>]) -> Self {
        Self { status, headers, minor_version: 1 }
    }

    pub(super) fn of<'bytes: 'a>(response: &'a httparse::Response<'_, 'bytes>) -> Self {
        Self {
            status: response.code.unwrap_or(0),
            headers: response.headers,
            minor_version: response.version.unwrap_or(1),
        }
    }
}

impl Head<'_> {
    pub fn header_value(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    }

    /// The values of all headers with this name, as one list; `None` without any (RFC 9110, section 5.3).
    pub(crate) fn combined_value(&self, name: &str) -> Option<Vec<u8>> {
        let fields = self.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        let values: Vec<&[u8]> = fields.map(|header| header.value.trim_ascii()).collect();
        (!values.is_empty()).then(|| values.join(&b", "[..]))
    }

    /// Whether another answer follows this one (100 Continue, 103 Early Hints …; 101 is final).
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status) && self.status != 101
    }

    /// The body, and whether the connection stays open after the answer (RFC 9112, sections 6.1, 6.3 and 9.3).
    pub(super) fn body(&self, is_head_request: bool) -> Result<(Body, bool), ParseError> {
        let fields = BodyFields::read(self.headers);
        // HTTP/1.0 knows no chunks. If they are sent anyway, the end of the message may be wrong.
        let may_persist = self.minor_version > 0 || (fields.says_keep_alive && fields.chunked.is_none());
        let keeps_alive = may_persist && !fields.says_close;
        let bodiless = is_head_request || matches!(self.status, 100..=199 | 204 | 304);
        if bodiless {
            return Ok((Body::Length(0), keeps_alive && self.status != 101));
        }
        if let Some(error) = fields.error {
            return Err(error);
        }
        Ok(match (fields.chunked, fields.length) {
            (Some(_), Some(_)) => return Err(ParseError::AmbiguousLength),
            (Some(true), None) => (Body::Chunked(Chunked::default()), keeps_alive),
            (None, Some(length)) => (Body::Length(length), keeps_alive),
            (Some(false), None) | (None, None) => (Body::UntilClose, false),
        })
    }
}

/// The headers that determine the body, collected in one pass.
#[derive(Default)]
struct BodyFields {
    length: Option<u64>,
    /// Present with the last coding being `chunked`, present without, absent.
    chunked: Option<bool>,
    names_chunked: bool,
    says_close: bool,
    says_keep_alive: bool,
    /// What is wrong with the length or the codings. It does not matter for an answer without a body.
    error: Option<ParseError>,
}

impl BodyFields {
    fn read(headers: &[httparse::Header<'_>]) -> Self {
        let mut fields = Self::default();
        for header in headers {
            // The three names have different lengths, so most fields cost one comparison of integers.
            let read = match header.name.len() {
                14 if header.name.eq_ignore_ascii_case("content-length") => fields.read_length(header.value),
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => fields.read_codings(header.value),
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    for item in items(header.value) {
                        fields.says_close |= is(item, "close");
                        fields.says_keep_alive |= is(item, "keep-alive");
                    }
                    Ok(())
                }
                _ => Ok(()),
            };
            fields.error = fields.error.or(read.err());
        }
        fields
    }

    fn read_length(&mut self, value: &[u8]) -> Result<(), ParseError> {
        let length = decimal(value.trim_ascii()).ok_or(ParseError::BadContentLength)?;
        match self.length.replace(length) {
            Some(_) => Err(ParseError::RepeatedContentLength),
            None => Ok(()),
        }
    }

    /// Reads the codings of one field, which add to those of the fields before (RFC 9112, sections 6.1 and 7).
    fn read_codings(&mut self, value: &[u8]) -> Result<(), ParseError> {
        self.chunked = self.chunked.or(Some(false));
        for item in items(value) {
            let name = item.split(|byte| *byte == b';').next().unwrap_or(item).trim_ascii();
            let is_chunked = is(name, "chunked");
            if is_chunked && name.len() < item.len() {
                return Err(ParseError::ChunkedParameter);
            }
            if is_chunked && std::mem::replace(&mut self.names_chunked, true) {
                return Err(ParseError::RepeatedChunked);
            }
            self.chunked = Some(is_chunked);
        }
        Ok(())
    }
}

/// Passes the head at the start of `input` to `then`, with its length in bytes; `None` if it is not complete.
pub(crate) fn with_head<R>(
    input: &[u8],
    then: impl FnOnce(&Head<'_>, usize) -> Result<R, ParseError>,
) -> Result<Option<R>, ParseError> {
    let mut space = [const { MaybeUninit::uninit() }; USUAL_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    match config.parse_response_with_uninit_headers(&mut response, input, &mut space) {
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(length)) => then(&Head::of(&response), length).map(Some),
        Err(_) => with_unusual_head(input, then),
    }
}

/// The same for what the strict parser refuses and a client must read: folded lines, a later minor version, many fields.
/// They are rare, so they are copied and read a second time.
#[cold]
fn with_unusual_head<R>(
    input: &[u8],
    then: impl FnOnce(&Head<'_>, usize) -> Result<R, ParseError>,
) -> Result<Option<R>, ParseError> {
    let mut plain = input.to_vec();
    lower_version(&mut plain);
    unfold(&mut plain);
    let lines = plain.iter().filter(|byte| **byte == b'\n').count();
    let mut space = vec![httparse::EMPTY_HEADER; lines.clamp(1, MAX_HEADERS)];
    let mut response = httparse::Response::new(&mut space);
    match response.parse(&plain) {
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(length)) => then(&Head::of(&response), length).map(Some),
        Err(httparse::Error::TooManyHeaders) => Err(ParseError::TooManyHeaders),
        Err(error) => Err(ParseError::Malformed(error)),
    }
}

/// Makes HTTP/1.2 and later HTTP/1.1, the latest version that this parser knows (RFC 9110, section 2.5).
fn lower_version(section: &mut [u8]) {
    if let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor @ b'2'..=b'9', ..] = section {
        *minor = b'1';
    }
}

/// Replaces the line ends of folded field lines by spaces. The length stays. A first line that begins with a blank
/// continues no field, and remains an error (RFC 9112, section 5.2).
fn unfold(section: &mut [u8]) {
    let mut begin = 0;
    while let Some(length) = section[begin..].iter().position(|byte| *byte == b'\n') {
        let end = begin + length;
        let text_end = if section[begin..end].ends_with(b"\r") { end - 1 } else { end };
        if begin == text_end {
            return;
        }
        let is_field = begin > 0;
        if is_field && matches!(section.get(end + 1), Some(b' ' | b'\t')) {
            section[text_end..=end].fill(b' ');
        }
        begin = end + 1;
    }
}

/// The items of a list. Empty ones mean nothing (RFC 9110, section 5.6.1.2).
fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|item| !item.is_empty())
}

fn is(item: &[u8], word: &str) -> bool {
    item.eq_ignore_ascii_case(word.as_bytes())
}
