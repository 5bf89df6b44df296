//! One worker's position in the cycle of requests: the next request, and its bytes with the variables filled in.

use std::sync::Arc;
use std::time::Duration;

use tare_sys::poll::Payload;

use super::pattern::{Parts, Pattern};
use super::set::{Form, RequestSet};
use crate::input::template::{Uses, Values};
use crate::schedule::Share;

/// One worker's position in the cycle of requests and in the feeds.
#[derive(Debug)]
pub(crate) struct RequestCursor {
    pub(crate) set: RequestSet,
    next: usize,
    pub(crate) values: Values,
    /// Requests without variables, by index in the set. A long list exceeds the caches, so little else of it is read.
    fixed: Vec<Option<Payload>>,
    /// The same in parts, as far as they were asked for. They too are this worker's own.
    parts: Vec<Option<Arc<Parts>>>,
    /// The last request with variables, with buffers for its bytes and its body.
    filled: Payload,
    out: Vec<u8>,
    body: Vec<u8>,
}

/// Up to this length each worker has its own copy of a request. A shared one would make workers wait for each other at
/// its reference counter.
const MAX_OWN_BYTES: usize = 64 * 1024;

impl RequestCursor {
    pub(super) fn new(set: RequestSet, values: Values, share: Share) -> Self {
        // Workers begin at different positions, so that they do not all send the same request at once.
        let next = set.0.cycle.len() * share.worker / share.workers.max(1);
        let fixed = |request| match &set.get(request).form {
            Form::Fixed { encoded, .. } => Some(own(encoded)),
            Form::Filled { .. } => None,
        };
        let fixed = (0..set.len()).map(fixed).collect();
        let parts = vec![None; set.len()];
        Self { set, next, values, fixed, parts, filled: Vec::new().into(), out: Vec::new(), body: Vec::new() }
    }

    /// Advances all feeds and counters of the set together. Returns whether every feed had a row left.
    pub(crate) fn advance_all(&mut self) -> bool {
        let filled = (0..self.set.len()).filter_map(|request| match &self.set.get(request).form {
            Form::Filled { pattern, .. } => Some(pattern),
            Form::Fixed { .. } => None,
        });
        self.values.advance(&Uses::of(filled.flat_map(Pattern::variables)))
    }

    /// Goes to the next request and returns its index in the set; `None` when a feed that it needs has no rows left.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let request = *self.set.0.cycle.get(self.next)? as usize;
        self.next = if self.next + 1 == self.set.0.cycle.len() { 0 } else { self.next + 1 };
        let is_filled = self.fixed[request].is_some() || self.values.advance(&self.set.get(request).uses);
        is_filled.then_some(request)
    }

    /// The bytes of the current request, as HTTP/1.1.
    pub(crate) fn encoded(&mut self, request: usize) -> &Payload {
        if let Some(fixed) = &self.fixed[request] {
            return fixed;
        }
        if let Form::Filled { http1, .. } = &self.set.get(request).form {
            http1.fill(&mut self.values, &mut self.out, &mut self.body);
            self.filled = self.out[..].into();
        }
        &self.filled
    }

    /// The parts of the current request, for redirects and for protocols other than HTTP/1.1.
    pub(crate) fn parts(&mut self, request: usize) -> Arc<Parts> {
        match &self.set.get(request).form {
            Form::Fixed { parts, .. } => {
                Arc::clone(self.parts[request].get_or_insert_with(|| Arc::new(Parts::clone(parts))))
            }
            Form::Filled { pattern, .. } => Arc::new(pattern.fill(&mut self.values)),
        }
    }

    /// The next think time of a user; `None` if users do not think.
    pub(crate) fn pause(&mut self) -> Option<Duration> {
        self.set.0.think.pause(&mut self.values.random)
    }
}

fn own(shared: &Payload) -> Payload {
    if shared.len() <= MAX_OWN_BYTES { shared[..].into() } else { shared.clone() }
}
