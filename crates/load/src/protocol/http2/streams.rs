//! Which streams a server must still end, and which this side has given up.

use std::collections::VecDeque;

/// Streams that this side has given up and the server has not ended. They are remembered up to this many.
pub(super) const MOST_ABANDONED: usize = 1024;

/// A stream with a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenStream {
    number: u32,
    pub(super) has_head: bool,
    /// Bytes by which the server has enlarged its window.
    pub(super) enlarged: u64,
}

/// The streams of one connection, by their numbers.
#[derive(Debug)]
pub(super) struct Streams {
    /// Streams that the server must end, in the order of their numbers.
    open: VecDeque<OpenStream>,
    last_asked: u32,
    /// Streams that this side has given up. The server may not know it yet.
    abandoned: Vec<u32>,
    /// Up to this one, abandoned streams are not known any more.
    forgotten: u32,
}

impl Streams {
    pub(super) const fn new() -> Self {
        Self { open: VecDeque::new(), last_asked: 0, abandoned: Vec::new(), forgotten: 0 }
    }

    /// A request leaves on this stream. Its number is above all before.
    pub(super) fn note_request(&mut self, stream: u32) {
        self.open.push_back(OpenStream { number: stream, has_head: false, enlarged: 0 });
        self.last_asked = stream;
    }

    /// This side is done with a stream. If the server has not ended it, its frames may still arrive.
    pub(super) fn abandon(&mut self, stream: u32) {
        let Some(index) = self.index_of(stream) else { return };
        self.open.remove(index);
        if self.abandoned.len() == MOST_ABANDONED {
            self.forgotten = self.abandoned.drain(..).fold(self.forgotten, u32::max);
        }
        self.abandoned.push(stream);
    }

    /// The stream, if the server must end it.
    pub(super) fn open_mut(&mut self, stream: u32) -> Option<&mut OpenStream> {
        self.index_of(stream).map(|index| &mut self.open[index])
    }

    /// The server has ended a stream.
    pub(super) fn end(&mut self, stream: u32) {
        match self.index_of(stream) {
            Some(index) => drop(self.open.remove(index)),
            None => self.abandoned.retain(|abandoned| *abandoned != stream),
        }
    }

    /// Whether the server has ended a stream before. Even numbers are its own, and the crate refuses those.
    pub(super) fn is_closed(&self, stream: u32) -> bool {
        stream % 2 == 1
            && (self.forgotten + 1..=self.last_asked).contains(&stream)
            && self.index_of(stream).is_none()
            && !self.abandoned.contains(&stream)
    }

    fn index_of(&self, stream: u32) -> Option<usize> {
        self.open.binary_search_by_key(&stream, |open| open.number).ok()
    }

    /// Whether no stream is remembered but closed ones.
    #[cfg(test)]
    pub(super) fn are_all_closed(&self) -> bool {
        self.open.is_empty() && self.abandoned.is_empty()
    }
}
