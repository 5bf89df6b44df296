//! The two tables of header fields: the static one, and the one that the server fills on each connection (RFC 7541,
//! sections 2.3 and 4, and appendix A).

use std::collections::VecDeque;

use super::fields::Meaning;

/// Largest size of the table of a connection. It is the protocol's default, and this side asks for no other.
pub(super) const MAX_TABLE_BYTES: usize = 4096;
/// What a field counts besides its name and its value.
const OVERHEAD_BYTES: usize = 32;

#[rustfmt::skip]
const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];

/// A field of a header section, from a table or as it was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    pub(super) meaning: Meaning,
}

impl Field<'_> {
    pub(super) const fn size(&self) -> usize {
        self.name.len() + self.value.len() + OVERHEAD_BYTES
    }
}

/// The index of a name in the static table; of the field, if the value is the same too.
pub(super) fn static_index(name: &str, value: &str) -> Option<(usize, bool)> {
    let whole = STATIC.iter().position(|field| *field == (name, value)).map(|at| (at + 1, true));
    whole.or_else(|| STATIC.iter().position(|(known, _)| *known == name).map(|at| (at + 1, false)))
}

/// The fields that the server has added, with what they mean: they come again and again.
#[derive(Debug)]
pub(super) struct Table {
    /// The newest first.
    added: VecDeque<Added>,
    bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct Added {
    /// The name, and behind it the value.
    text: Box<[u8]>,
    name_bytes: usize,
    meaning: Meaning,
}

impl Added {
    fn field(&self) -> Field<'_> {
        let (name, value) = self.text.split_at(self.name_bytes);
        Field { name, value, meaning: self.meaning }
    }
}

impl Default for Table {
    fn default() -> Self {
        Self { added: VecDeque::new(), bytes: 0, max_bytes: MAX_TABLE_BYTES }
    }
}

impl Table {
    /// The field at an index that a server sent.
    pub(super) fn get(&self, index: usize) -> Option<Field<'_>> {
        let before = index.checked_sub(1)?;
        match STATIC.get(before) {
            Some((name, value)) => {
                let (name, value) = (name.as_bytes(), value.as_bytes());
                Some(Field { name, value, meaning: Meaning::of(name, value) })
            }
            None => self.added.get(before - STATIC.len()).map(Added::field),
        }
    }

    pub(super) fn add(&mut self, field: Field<'_>) {
        self.bytes += field.size();
        let text = [field.name, field.value].concat().into();
        self.added.push_front(Added { text, name_bytes: field.name.len(), meaning: field.meaning });
        self.evict();
    }

    /// Sets the size up to [`MAX_TABLE_BYTES`].
    pub(super) fn resize(&mut self, max_bytes: usize) {
        self.max_bytes = max_bytes;
        self.evict();
    }

    fn evict(&mut self) {
        while self.bytes > self.max_bytes
            && let Some(oldest) = self.added.pop_back()
        {
            self.bytes -= oldest.field().size();
        }
    }
}
