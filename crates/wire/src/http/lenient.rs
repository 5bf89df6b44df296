//! Header sections that the strict parser refuses but a client must read: folded lines, a later minor
//! version, many fields. They are rare, so they are copied and read a second time.

use super::head::Head;
use super::{MAX_HEADERS, ParseError};

/// Parses a header section like [`with_head`](super::head::with_head), with an allocation.
#[cold]
pub(super) fn with_unusual_head<R>(
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
