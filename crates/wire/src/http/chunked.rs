//! The decoder of chunked bodies: a state machine over single bytes, except for the data itself.

use super::grammar::{is_blank, is_field_byte, is_token_byte};
use super::{MAX_HEAD_BYTES, ParseError};

/// Decodes one chunked body, in pieces of any size (RFC 9112, section 7.1).
#[derive(Clone, Debug, Default)]
pub struct Chunked {
    state: ChunkState,
    /// The size being read, then the missing bytes of the chunk.
    remaining: u64,
    digits: u32,
    /// Bytes of extensions and trailers so far. They are limited.
    overhead: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChunkState {
    #[default]
    Size,
    /// Blanks behind the size or behind an extension's value.
    SizeBlank,
    Extension(ExtensionState),
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Trailer(TrailerState),
    EndLf,
    Done,
}

/// The part of a chunk extension that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtensionState {
    /// Behind the semicolon.
    Start,
    Name,
    NameBlank,
    /// Behind the equals sign.
    Value,
    Token,
    Quoted,
    Escaped,
}

/// The part of a trailer line that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrailerState {
    /// At the first line, where CR LF ends the body.
    First,
    /// At a later line. A blank continues the field before.
    Next,
    Name,
    Value,
    LineLf,
}

impl Chunked {
    /// Decodes the received bytes. Returns how many belonged to the body, and whether it is complete.
    pub fn feed(&mut self, input: &[u8], mut data: impl FnMut(&[u8])) -> Result<(usize, bool), ParseError> {
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
            (ChunkState::Size, _) if self.digits == 0 => self.digit(byte),
            (ChunkState::Size | ChunkState::SizeBlank, b'\r') => Ok(ChunkState::SizeLf),
            (ChunkState::Size | ChunkState::SizeBlank, b';') => {
                self.count(ChunkState::Extension(ExtensionState::Start))
            }
            (ChunkState::Size | ChunkState::SizeBlank, _) if is_blank(byte) => self.count(ChunkState::SizeBlank),
            (ChunkState::Size, _) => self.digit(byte),
            (ChunkState::Extension(part), _) => {
                let next = part.step(byte).ok_or(ParseError::BadChunkExtension)?;
                self.count(next)
            }
            (ChunkState::SizeLf, b'\n') => {
                self.digits = 0;
                Ok(if self.remaining == 0 { ChunkState::Trailer(TrailerState::First) } else { ChunkState::Data })
            }
            (ChunkState::SizeBlank | ChunkState::SizeLf, _) => Err(ParseError::BadChunkSize),
            (ChunkState::DataCr, b'\r') => Ok(ChunkState::DataLf),
            (ChunkState::DataLf, b'\n') => Ok(ChunkState::Size),
            (ChunkState::Trailer(part), _) => {
                let next = part.step(byte).ok_or(ParseError::BadTrailer)?;
                self.count(next)
            }
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

impl ExtensionState {
    /// The state behind this byte; `None` if the byte breaks the grammar. Blanks behind a value are allowed, as behind
    /// the size (RFC 9112, section 7.1.1).
    fn step(self, byte: u8) -> Option<ChunkState> {
        let part = match (self, byte) {
            (Self::Start | Self::Value, _) if is_blank(byte) => self,
            (Self::Start | Self::Name, _) if is_token_byte(byte) => Self::Name,
            (Self::Name | Self::NameBlank, b'=') => Self::Value,
            (Self::Name | Self::NameBlank, _) if is_blank(byte) => Self::NameBlank,
            (Self::Name | Self::NameBlank | Self::Token, b'\r') => return Some(ChunkState::SizeLf),
            (Self::Name | Self::NameBlank | Self::Token, b';') => Self::Start,
            (Self::Value | Self::Token, _) if is_token_byte(byte) => Self::Token,
            (Self::Token, _) if is_blank(byte) => return Some(ChunkState::SizeBlank),
            (Self::Value, b'"') => Self::Quoted,
            (Self::Quoted, b'"') => return Some(ChunkState::SizeBlank),
            (Self::Quoted, b'\\') => Self::Escaped,
            (Self::Quoted | Self::Escaped, _) if is_field_byte(byte) => Self::Quoted,
            _ => return None,
        };
        Some(ChunkState::Extension(part))
    }
}

impl TrailerState {
    /// The state behind this byte; `None` if the byte breaks the grammar (RFC 9112, sections 5.2 and 7.1.2).
    fn step(self, byte: u8) -> Option<ChunkState> {
        let part = match (self, byte) {
            (Self::First | Self::Next, b'\r') => return Some(ChunkState::EndLf),
            (Self::Next, _) if is_blank(byte) => Self::Value,
            (Self::First | Self::Next | Self::Name, _) if is_token_byte(byte) => Self::Name,
            (Self::Name, b':') => Self::Value,
            (Self::Value, b'\r') => Self::LineLf,
            (Self::Value, _) if is_field_byte(byte) => Self::Value,
            (Self::LineLf, b'\n') => Self::Next,
            _ => return None,
        };
        Some(ChunkState::Trailer(part))
    }
}
