//! The body of a request as the server reads it: counted and discarded, with a stated length or in chunks.

use tare_wire::http::Chunked;

/// A body that has not arrived completely.
#[derive(Debug)]
pub(crate) struct Body {
    awaits: Awaits,
    /// Bytes of content so far, without the framing of chunks.
    pub(crate) counted: u64,
}

#[derive(Debug)]
enum Awaits {
    /// The rest of a stated length; none of a body that has ended.
    Content(u64),
    Chunks(Chunked),
    /// Nothing: a chunk's framing is wrong, and stays so when its bytes are read again.
    Wrong,
}

impl Body {
    pub(crate) const fn of_length(bytes: u64) -> Self {
        Self { awaits: Awaits::Content(bytes), counted: 0 }
    }

    pub(crate) fn chunked() -> Self {
        Self { awaits: Awaits::Chunks(Chunked::default()), counted: 0 }
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.awaits, Awaits::Content(0))
    }

    /// Reads the available bytes of the body, and returns their number. Fails when the framing of a chunk is wrong.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<usize, ()> {
        match &mut self.awaits {
            Awaits::Content(remaining) => {
                let taken = bytes.len().min(usize::try_from(*remaining).unwrap_or(usize::MAX));
                *remaining -= taken as u64;
                self.counted += taken as u64;
                Ok(taken)
            }
            Awaits::Chunks(chunks) => {
                let count = |content: &[u8]| self.counted += content.len() as u64;
                let Ok((taken, is_complete)) = chunks.feed(bytes, count) else {
                    self.awaits = Awaits::Wrong;
                    return Err(());
                };
                if is_complete {
                    self.awaits = Awaits::Content(0);
                }
                Ok(taken)
            }
            Awaits::Wrong => Err(()),
        }
    }
}
