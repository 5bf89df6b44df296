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

/// What comes next. The order is that of [`ChunkState::error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
enum ChunkState {
    #[default]
    Size,
    /// Blanks behind the size or behind an extension's value.
    SizeBlank,
    SizeLf,
    /// An extension, behind its semicolon.
    Extension,
    Name,
    NameBlank,
    /// Behind the equals sign.
    Value,
    Token,
    Quoted,
    Escaped,
    /// The first line of the trailers, where CR LF ends the body.
    FirstTrailer,
    /// A later line. A blank continues the field before.
    NextTrailer,
    TrailerName,
    TrailerValue,
    TrailerLf,
    Data,
    DataCr,
    DataLf,
    EndLf,
    Done,
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
        let ends_size = matches!(byte, b'\r' | b';') || is_blank(byte);
        if self.state == ChunkState::Size && (self.digits == 0 || !ends_size) {
            return self.digit(byte);
        }
        let next = self.state.behind(byte).ok_or(self.state.error())?;
        let is_optional = (ChunkState::Extension..ChunkState::Data).contains(&self.state);
        if is_optional || matches!(next, ChunkState::SizeBlank | ChunkState::Extension) {
            self.overhead += 1;
            if self.overhead > MAX_HEAD_BYTES {
                return Err(ParseError::TrailersTooLong);
            }
        }
        if self.state == ChunkState::SizeLf {
            self.digits = 0;
        }
        Ok(if next == ChunkState::Data && self.remaining == 0 { ChunkState::FirstTrailer } else { next })
    }

    fn digit(&mut self, byte: u8) -> Result<ChunkState, ParseError> {
        let digit = (byte as char).to_digit(16).ok_or(ParseError::BadChunkSize)?;
        let shifted = self.remaining.checked_mul(16).ok_or(ParseError::ChunkSizeOverflow)?;
        self.remaining = shifted + u64::from(digit);
        self.digits += 1;
        // Leading zeros do not overflow, so their number needs a limit.
        if self.digits > 64 { Err(ParseError::BadChunkSize) } else { Ok(ChunkState::Size) }
    }
}

impl ChunkState {
    /// The state behind this byte; `None` if the byte breaks the grammar (RFC 9112, sections 5.2, 7.1.1 and 7.1.2). Blanks
    /// behind an extension's value are allowed, as behind the size.
    fn behind(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Size | Self::SizeBlank, b'\r') => Self::SizeLf,
            (Self::Size | Self::SizeBlank, b';') => Self::Extension,
            (Self::Size | Self::SizeBlank, _) if is_blank(byte) => Self::SizeBlank,
            (Self::SizeLf, b'\n') => Self::Data,
            (Self::Extension | Self::Value, _) if is_blank(byte) => self,
            (Self::Extension | Self::Name, _) if is_token_byte(byte) => Self::Name,
            (Self::Name | Self::NameBlank, b'=') => Self::Value,
            (Self::Name | Self::NameBlank, _) if is_blank(byte) => Self::NameBlank,
            (Self::Name | Self::NameBlank | Self::Token, b'\r') => Self::SizeLf,
            (Self::Name | Self::NameBlank | Self::Token, b';') => Self::Extension,
            (Self::Value | Self::Token, _) if is_token_byte(byte) => Self::Token,
            (Self::Token, _) if is_blank(byte) => Self::SizeBlank,
            (Self::Value, b'"') => Self::Quoted,
            (Self::Quoted, b'"') => Self::SizeBlank,
            (Self::Quoted, b'\\') => Self::Escaped,
            (Self::Quoted | Self::Escaped, _) if is_field_byte(byte) => Self::Quoted,
            (Self::FirstTrailer | Self::NextTrailer, b'\r') => Self::EndLf,
            (Self::NextTrailer, _) if is_blank(byte) => Self::TrailerValue,
            (Self::FirstTrailer | Self::NextTrailer | Self::TrailerName, _) if is_token_byte(byte) => Self::TrailerName,
            (Self::TrailerName, b':') => Self::TrailerValue,
            (Self::TrailerValue, b'\r') => Self::TrailerLf,
            (Self::TrailerValue, _) if is_field_byte(byte) => Self::TrailerValue,
            (Self::TrailerLf, b'\n') => Self::NextTrailer,
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::Size,
            (Self::EndLf, b'\n') => Self::Done,
            _ => return None,
        })
    }

    /// What is wrong if a byte breaks the grammar here.
    fn error(self) -> ParseError {
        match self {
            _ if self < Self::Extension => ParseError::BadChunkSize,
            _ if self < Self::FirstTrailer => ParseError::BadChunkExtension,
            _ if self < Self::Data => ParseError::BadTrailer,
            _ => ParseError::BadChunkEnd,
        }
    }
}
