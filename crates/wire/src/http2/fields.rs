//! What the fields of an answer mean, and which are malformed (RFC 9113, sections 8.1 to 8.3).

use super::table::Field;
use crate::http;
use crate::http::grammar::{decimal, is_field_byte, is_token_byte};

/// Header fields of an HTTP/1.1 connection, which malform a message of HTTP/2.
pub const OF_A_CONNECTION: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// What a field means to a client of HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Plain,
    Status(u16),
    Length(u64),
    /// It malforms its section.
    Wrong(&'static str),
}

impl Meaning {
    pub(super) fn of(name: &[u8], value: &[u8]) -> Self {
        match name {
            b":status" => status(value).map_or(Self::Wrong("a status that is not three digits"), Self::Status),
            [b':', ..] => Self::Wrong("an unknown pseudo-header"),
            _ if name.is_empty() || name.iter().any(|byte| !is_token_byte(*byte) || byte.is_ascii_uppercase()) => {
                Self::Wrong("a header name that is none")
            }
            _ if !value.iter().copied().all(is_field_byte) => Self::Wrong("a header value with a control character"),
            b"content-length" => decimal(value).map_or(Self::Wrong("a content-length that is none"), Self::Length),
            _ if OF_A_CONNECTION.iter().any(|wrong| wrong.as_bytes() == name) => {
                Self::Wrong("a header of an HTTP/1.1 connection")
            }
            _ => Self::Plain,
        }
    }
}

fn status(value: &[u8]) -> Option<u16> {
    let is_number = value.len() == 3 && value.iter().all(u8::is_ascii_digit) && value[0] != b'0';
    is_number.then(|| value.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
}

/// One header section: what matters of its fields, and the fields themselves where they are kept.
#[derive(Debug, Default)]
pub struct Section {
    pub status: Option<u16>,
    pub length: Option<u64>,
    /// What malforms it, if anything does.
    pub wrong: Option<&'static str>,
    has_fields: bool,
    keeps: bool,
    /// Names and values of the kept fields, and where each name and each value ends.
    text: Vec<u8>,
    ends: Vec<(usize, usize)>,
}

impl Section {
    /// Begins a new section. Its fields are kept if this says so, or if the status is one of a redirect.
    pub fn begin(&mut self, keeps: bool) {
        self.text.clear();
        self.ends.clear();
        (self.status, self.length, self.wrong) = (None, None, None);
        (self.has_fields, self.keeps) = (false, keeps);
    }

    pub(super) fn take(&mut self, field: Field<'_>) {
        match field.meaning {
            Meaning::Status(status) => {
                if self.has_fields || self.status.replace(status).is_some() {
                    self.wrong = Some("a second status, or one behind another field");
                }
                return;
            }
            Meaning::Length(length) => {
                if self.length.replace(length).is_some() {
                    self.wrong = Some("more than one content-length");
                }
            }
            Meaning::Wrong(what) => self.wrong = Some(what),
            Meaning::Plain => {}
        }
        self.has_fields = true;
        if self.keeps || matches!(self.status, Some(300..=399)) {
            self.text.extend_from_slice(field.name);
            let name_end = self.text.len();
            self.text.extend_from_slice(field.value);
            self.ends.push((name_end, self.text.len()));
        }
    }

    /// The kept fields, without the status.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        begins.zip(&self.ends).map(|(begin, (name_end, end))| {
            // A name that is none has malformed the section.
            let name = std::str::from_utf8(&self.text[begin..*name_end]).unwrap_or_default();
            (name, &self.text[*name_end..*end])
        })
    }

    /// The kept fields as a head has them.
    pub fn fields(&self) -> Vec<http::Field<'_>> {
        self.lines().map(|(name, value)| http::Field { name, value }).collect()
    }

    /// The value of the first kept field of this name.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.lines().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}
