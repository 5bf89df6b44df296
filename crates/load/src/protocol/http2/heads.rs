//! The heads of requests, encoded once and kept until their parts change.

use std::sync::Arc;

use tare_wire::http::Request;
use tare_wire::http2::EncodedHead;

use crate::input::request::Parts;

/// Encoded heads, by the index of their request in the set.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// Scheme and authority of all requests.
    base: Arc<str>,
    kept: Vec<Option<(Arc<Parts>, EncodedHead)>>,
}

impl Heads {
    pub(super) const fn new(base: Arc<str>) -> Self {
        Self { base, kept: Vec::new() }
    }

    pub(super) const fn base(&self) -> &Arc<str> {
        &self.base
    }

    /// Appends the head of this request for a stream, behind the size of the table if the server waits for it.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        stream: u32,
        request: usize,
        parts: &Arc<Parts>,
        says_table: bool,
    ) {
        if self.kept.len() <= request {
            self.kept.resize_with(request + 1, || None);
        }
        let kept = &mut self.kept[request];
        if !kept.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, parts)) {
            let (scheme, host) = self.base.split_once("://").unwrap_or(("http", &self.base));
            let Parts { method, path, headers, body } = &**parts;
            let head = EncodedHead::of(&Request { method, path, host, headers, body }, scheme);
            *kept = Some((Arc::clone(parts), head));
        }
        if let Some((_, head)) = kept {
            head.push(out, stream, says_table);
        }
    }
}
