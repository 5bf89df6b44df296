//! The header section of a request, encoded once and sent any number of times.

use super::fields::OF_A_CONNECTION;
use super::frame::MAX_PAYLOAD_BYTES;
use super::outgoing::push_head;
use super::table::static_index;
use super::{flag, kind};
use crate::http::Request;

/// Largest part of a header section in a frame. It leaves room for [`EMPTY_TABLE`].
const MAX_PART_BYTES: usize = MAX_PAYLOAD_BYTES - 1;

/// A table size of 0, in the coding of RFC 7541, section 6.3.
const EMPTY_TABLE: u8 = 0x20;

/// A header section. It uses no table of the connection, so it is always the same.
#[derive(Clone, Debug)]
pub struct EncodedHead {
    block: Vec<u8>,
    /// Whether no body follows.
    is_last: bool,
}

impl EncodedHead {
    /// Encodes the head of a request to a site of this scheme. A `Host` becomes the authority, and headers of an
    /// HTTP/1.1 connection are left out.
    pub fn of(request: &Request<'_>, scheme: &str) -> Self {
        let Request { method, path, host, headers, body } = request;
        let given = |wanted: &str| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let authority = given("host").map_or(*host, |(_, host)| host.as_str());
        let mut block = Vec::new();
        for (name, value) in
            [(":method", method.as_str()), (":scheme", scheme), (":authority", authority), (":path", *path)]
        {
            push_field(&mut block, name, value);
        }
        for (name, value) in *headers {
            let name = name.to_ascii_lowercase();
            let is_left_out = name == "host"
                || OF_A_CONNECTION.contains(&&*name)
                || (name == "te" && !value.eq_ignore_ascii_case("trailers"));
            if !is_left_out {
                push_field(&mut block, &name, value);
            }
        }
        if request.announces_body() && given("content-length").is_none() {
            push_field(&mut block, "content-length", &body.len().to_string());
        }
        Self { block, is_last: body.is_empty() }
    }

    /// Appends the frames, for this stream. `says_table` says first that the table is empty: the first section after
    /// settings that shrink the table must say its size, although none is used (RFC 7541, section 4.2).
    pub fn push(&self, out: &mut Vec<u8>, stream: u32, says_table: bool) {
        let mut table: &[u8] = if says_table { &[EMPTY_TABLE] } else { &[] };
        let mut kind = kind::HEADERS;
        let mut flags = if self.is_last { flag::END_STREAM } else { 0 };
        let mut parts = self.block.chunks(MAX_PART_BYTES).peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                flags |= flag::END_HEADERS;
            }
            push_head(out, table.len() + part.len(), kind, flags, stream);
            out.extend_from_slice(std::mem::take(&mut table));
            out.extend_from_slice(part);
            (kind, flags) = (kind::CONTINUATION, 0);
        }
    }
}

/// Appends a field that enters no table.
fn push_field(block: &mut Vec<u8>, name: &str, value: &str) {
    match static_index(name, value) {
        Some((index, true)) => return push_integer(block, 0x80, 7, index),
        Some((index, false)) => push_integer(block, 0, 4, index),
        None => {
            block.push(0);
            push_string(block, name);
        }
    }
    push_string(block, value);
}

fn push_string(block: &mut Vec<u8>, text: &str) {
    push_integer(block, 0, 7, text.len());
    block.extend_from_slice(text.as_bytes());
}

fn push_integer(block: &mut Vec<u8>, first: u8, prefix_bits: u32, value: usize) {
    let mask = (1 << prefix_bits) - 1;
    if value < mask {
        return block.push(first | value as u8);
    }
    block.push(first | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        block.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    block.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;

    fn encoded(headers: &[(&str, &str)], body: &[u8], says_table: bool) -> Vec<u8> {
        let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let method = if body.is_empty() { &Method::GET } else { &Method::POST };
        let request = Request { method, path: "/a", host: "b:80", headers: &headers, body };
        let mut out = Vec::new();
        EncodedHead::of(&request, "http").push(&mut out, 5, says_table);
        out
    }

    #[test]
    fn a_request_is_its_pseudo_headers_and_its_fields_in_a_frame() {
        let get = [&[0, 0, 12, 1, 5, 0, 0, 0, 5, 0x82, 0x86, 1, 4][..], b"b:80\x04\x02/a"].concat();
        assert_eq!(encoded(&[], b"", false), get);
        let post = [&[0, 0, 20, 1, 4, 0, 0, 0, 5, 0x83, 0x86, 1, 1][..], b"c\x04\x02/a\0\x03x-a\x01b\x0f\x0d\x013"];
        let headers = [("Host", "c"), ("X-A", "b"), ("Connection", "close"), ("TE", "gzip")];
        assert_eq!(encoded(&headers, b"123", false), post.concat());
        assert!(
            encoded(&[("TE", "trailers"), ("Content-Length", "3")], b"123", false).ends_with(b"trailers\x0f\x0d\x013")
        );
    }

    #[test]
    fn a_section_that_is_longer_than_a_frame_goes_on_in_others() {
        let value = "y".repeat(40_000);
        let long = [("x", &*value)];
        let out = encoded(&long, b"", false);
        let head = |at: usize| (out[at..at + 5].to_vec(), out[at + 8]);
        assert_eq!(head(0), (vec![0, 0x3f, 0xff, 1, 1], 5));
        assert_eq!(head(9 + 16_383), (vec![0, 0x3f, 0xff, 9, 0], 5));
        let (last, stream) = head(2 * (9 + 16_383));
        assert_eq!((last[3..].to_vec(), stream), (vec![9, 4], 5));
        // Also behind the size of the table, no frame is longer than the server must accept.
        let sized = encoded(&long, b"", true);
        assert_eq!((&sized[..5], &sized[9..12]), (&[0, 0x40, 0, 1, 1][..], &[EMPTY_TABLE, 0x82, 0x86][..]));
        assert_eq!(sized[12..], out[11..]);
    }
}
