//! The body of a request as the server reads it: counted and discarded, with a stated length or in chunks.

/// Longest line of trailers, or of a chunk's size with its extensions.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// A body that has not arrived completely.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Body {
    awaits: Awaits,
    /// Bytes of content so far, without the framing of chunks.
    pub(crate) counted: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Awaits {
    /// The rest of a stated length.
    Content(u64),
    ChunkSize,
    /// The rest of a chunk, followed by its line end.
    Chunk(u64),
    Trailers,
    Nothing,
}

impl Body {
    pub(crate) fn of_length(bytes: u64) -> Self {
        Self { awaits: if bytes == 0 { Awaits::Nothing } else { Awaits::Content(bytes) }, counted: 0 }
    }

    pub(crate) const fn chunked() -> Self {
        Self { awaits: Awaits::ChunkSize, counted: 0 }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.awaits == Awaits::Nothing
    }

    /// Reads the available bytes of the body, and returns their number.
    ///
    /// # Errors
    /// When the framing of a chunk is wrong.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<usize, ()> {
        let mut used = 0;
        while let Some(step) = self.step(&bytes[used..])? {
            used += step;
        }
        Ok(used)
    }

    /// The next piece; `None` when more bytes are needed or the body has ended.
    fn step(&mut self, bytes: &[u8]) -> Result<Option<usize>, ()> {
        match self.awaits {
            Awaits::Nothing => Ok(None),
            _ if bytes.is_empty() => Ok(None),
            Awaits::Content(remaining) => {
                let taken = self.count(bytes, remaining);
                let rest = remaining - taken as u64;
                self.awaits = if rest == 0 { Awaits::Nothing } else { Awaits::Content(rest) };
                Ok(Some(taken))
            }
            Awaits::Chunk(0) => self.line(bytes, |_| Awaits::ChunkSize),
            Awaits::Chunk(remaining) => {
                let taken = self.count(bytes, remaining);
                self.awaits = Awaits::Chunk(remaining - taken as u64);
                Ok(Some(taken))
            }
            Awaits::ChunkSize => match httparse::parse_chunk_size(bytes).map_err(|_| ())? {
                httparse::Status::Complete((taken, size)) => {
                    self.awaits = if size == 0 { Awaits::Trailers } else { Awaits::Chunk(size) };
                    Ok(Some(taken))
                }
                httparse::Status::Partial => is_short(bytes),
            },
            Awaits::Trailers => {
                self.line(bytes, |line| if line.is_empty() { Awaits::Nothing } else { Awaits::Trailers })
            }
        }
    }

    fn count(&mut self, bytes: &[u8], remaining: u64) -> usize {
        let taken = bytes.len().min(usize::try_from(remaining).unwrap_or(usize::MAX));
        self.counted += taken as u64;
        taken
    }

    fn line(&mut self, bytes: &[u8], then: impl FnOnce(&[u8]) -> Awaits) -> Result<Option<usize>, ()> {
        let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") else { return is_short(bytes) };
        let line = &bytes[..end];
        if self.awaits == Awaits::Chunk(0) && !line.is_empty() {
            return Err(());
        }
        self.awaits = then(line);
        Ok(Some(end + 2))
    }
}

/// Waits for the rest of a line, up to a limit.
fn is_short(bytes: &[u8]) -> Result<Option<usize>, ()> {
    if bytes.len() > MAX_LINE_BYTES { Err(()) } else { Ok(None) }
}
