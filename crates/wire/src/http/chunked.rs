//! The decoder of chunked bodies: a state machine over single bytes, except for the data itself.

use super::{MAX_HEAD_BYTES, ParseError};

/// Decodes one chunked body, in pieces of any size.
///
/// # Source
/// RFC 9112, section 7.1.
#[derive(Clone, Debug)]
pub(crate) struct Chunked {
    state: ChunkState,
    /// The size being read, then the missing bytes of the chunk.
    remaining: u64,
    digits: u32,
    /// Bytes of extensions and trailers so far. They are limited.
    overhead: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// At the start of a trailer line, where CR LF ends the body.
    TrailerStart,
    Trailer,
    EndLf,
    Done,
}

impl Chunked {
    pub(crate) const fn new() -> Self {
        Self { state: ChunkState::Size, remaining: 0, digits: 0, overhead: 0 }
    }

    /// Decodes the received bytes. Returns how many belonged to the body, and whether it is complete.
    pub(crate) fn feed(&mut self, input: &[u8], mut data: impl FnMut(&[u8])) -> Result<(usize, bool), ParseError> {
        let mut at = 0;
        while at < input.len() && self.state != ChunkState::Done {
            if self.state == ChunkState::Data {
                let available = input.len() - at;
                let take = usize::try_from(self.remaining).map_or(available, |remaining| remaining.min(available));
                data(&input[at..at + take]);
                at += take;
                self.remaining -= take as u64;
                if self.remaining == 0 {
                    self.state = ChunkState::DataCr;
                }
            } else {
                self.state = self.step(input[at])?;
                at += 1;
            }
        }
        Ok((at, self.state == ChunkState::Done))
    }

    fn step(&mut self, byte: u8) -> Result<ChunkState, ParseError> {
        match (self.state, byte) {
            (ChunkState::Size, b'\r') if self.digits > 0 => Ok(ChunkState::SizeLf),
            (ChunkState::Size, b';' | b' ' | b'\t') if self.digits > 0 => self.count(ChunkState::Extension),
            (ChunkState::Size, _) => self.digit(byte),
            (ChunkState::Extension, b'\r') => Ok(ChunkState::SizeLf),
            (ChunkState::Extension, b'\n') => Err(ParseError::BadChunkSize),
            (ChunkState::Extension, _) => self.count(ChunkState::Extension),
            (ChunkState::SizeLf, b'\n') => {
                self.digits = 0;
                Ok(if self.remaining == 0 { ChunkState::TrailerStart } else { ChunkState::Data })
            }
            (ChunkState::SizeLf, _) => Err(ParseError::BadChunkSize),
            (ChunkState::DataCr, b'\r') => Ok(ChunkState::DataLf),
            (ChunkState::DataLf, b'\n') => Ok(ChunkState::Size),
            (ChunkState::TrailerStart, b'\r') => Ok(ChunkState::EndLf),
            (ChunkState::TrailerStart | ChunkState::Trailer, b'\n') => self.count(ChunkState::TrailerStart),
            (ChunkState::TrailerStart | ChunkState::Trailer, _) => self.count(ChunkState::Trailer),
            (ChunkState::EndLf, b'\n') => Ok(ChunkState::Done),
            (ChunkState::DataCr | ChunkState::DataLf | ChunkState::EndLf, _) => Err(ParseError::BadChunkEnd),
            (ChunkState::Data | ChunkState::Done, _) => Ok(self.state),
        }
    }

    fn digit(&mut self, byte: u8) -> Result<ChunkState, ParseError> {
        let digit = (byte as char).to_digit(16).ok_or(ParseError::BadChunkSize)?;
        let shifted = self.remaining.checked_mul(16).ok_or(ParseError::ChunkSizeOverflow)?;
        self.remaining = shifted + u64::from(digit);
        self.digits += 1;
        // Leading zeros do not overflow, so their number needs a limit.
        if self.digits > 64 { Err(ParseError::BadChunkSize) } else { Ok(ChunkState::Size) }
    }

    /// Counts a byte of the optional parts of a body.
    fn count(&mut self, next: ChunkState) -> Result<ChunkState, ParseError> {
        self.overhead += 1;
        if self.overhead > MAX_HEAD_BYTES { Err(ParseError::TrailersTooLong) } else { Ok(next) }
    }
}
