//! Splits the bytes of a server into frames, and puts header sections together that come in several.

use super::error::{ConnectionError, ErrorCode};
use super::table::MAX_TABLE_BYTES;
use super::{MAX_STREAM, flag, kind};
use crate::http::MAX_HEAD_BYTES;

/// Bytes of a frame before its payload.
pub(super) const HEAD_BYTES: usize = 9;
/// Largest payload of a frame, both ways: what each side must accept, and no more is asked for.
pub const MAX_PAYLOAD_BYTES: usize = 16 * 1024;
/// A header section may come in so many frames besides its first.
const MAX_CONTINUATIONS: u32 = 1024;

/// A frame of the server, or a header section of several. Those that mean nothing to a client are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A part of a body. `flow_bytes` counts against the windows: the part with its padding.
    Data {
        stream: u32,
        bytes: &'a [u8],
        flow_bytes: u32,
        is_last: bool,
    },
    /// A whole header section, still encoded.
    Headers {
        stream: u32,
        block: &'a [u8],
        is_last: bool,
    },
    Reset {
        stream: u32,
        code: ErrorCode,
    },
    Settings(Settings),
    Ping([u8; 8]),
    GoAway {
        last_stream: u32,
        code: ErrorCode,
        /// What the server adds to the code, most often as a text.
        reason: &'a [u8],
    },
    /// Room for more bytes to the server: on a stream, or on the connection (stream 0).
    WindowUpdate {
        stream: u32,
        bytes: u32,
    },
}

/// The settings that matter to a client which encodes headers without a table and sends small frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub max_streams: Option<u32>,
    pub window_bytes: Option<u32>,
    /// The server takes only a smaller table of headers than the usual one.
    pub shrinks_table: bool,
}

impl Settings {
    fn parse(payload: &[u8]) -> Result<Self, ConnectionError> {
        let mut settings = Self::default();
        let (entries, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(ConnectionError::frame_size("SETTINGS that are cut"));
        }
        for &[id, low, a, b, c, d] in entries {
            let value = u32::from_be_bytes([a, b, c, d]);
            match u16::from_be_bytes([id, low]) {
                1 => settings.shrinks_table |= (value as usize) < MAX_TABLE_BYTES,
                2 if value != 0 => return Err(ConnectionError::protocol("a server that enables push")),
                3 => settings.max_streams = Some(value),
                4 if value > MAX_STREAM => {
                    return Err(ConnectionError::new(ErrorCode::FLOW_CONTROL, "an initial window above 2^31-1"));
                }
                4 => settings.window_bytes = Some(value),
                5 if !(MAX_PAYLOAD_BYTES as u32..1 << 24).contains(&value) => {
                    return Err(ConnectionError::protocol("a largest frame that no server may set"));
                }
                _ => {}
            }
        }
        Ok(settings)
    }
}

/// Reads frames from pieces of any size. It keeps only what is cut: a frame, or a header section.
#[derive(Debug, Default)]
pub struct FrameReader {
    held: Vec<u8>,
    section: PartialSection,
}

/// The last header section that came in several frames.
#[derive(Debug, Default)]
struct PartialSection {
    /// Its end has not come.
    is_cut: bool,
    stream: u32,
    block: Vec<u8>,
    is_last: bool,
    continuations: u32,
}

impl FrameReader {
    /// The start of a frame that is cut.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// Takes bytes, and passes the frames that they complete. Fails when they are no frames of a server, or `on_frame`
    /// says so. The reader is then unusable.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut on_frame: impl FnMut(Frame<'_>) -> Result<(), ConnectionError>,
    ) -> Result<(), ConnectionError> {
        if !self.held.is_empty() {
            let mut held = std::mem::take(&mut self.held);
            let is_whole = complete(&mut held, &mut bytes)?;
            if is_whole {
                self.read_frame(&held)?.map_or(Ok(()), &mut on_frame)?;
                held.clear();
            }
            self.held = held;
            if !is_whole {
                return Ok(());
            }
        }
        while let Some((frame, rest)) = bytes.split_at_checked(frame_bytes(bytes)?) {
            self.read_frame(frame)?.map_or(Ok(()), &mut on_frame)?;
            bytes = rest;
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// A frame, if it means something and completes what came before it. Without the attribute it would be a call for
    /// each frame, because `feed` is compiled in the crate of its caller.
    #[inline]
    fn read_frame<'a>(&'a mut self, frame: &'a [u8]) -> Result<Option<Frame<'a>>, ConnectionError> {
        let (head, payload) = frame.split_at(HEAD_BYTES);
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & MAX_STREAM;
        if self.section.is_cut != (kind == kind::CONTINUATION) {
            return Err(ConnectionError::protocol(
                "a header section that another frame interrupts, or without a start",
            ));
        }
        let is_of_stream = matches!(
            kind,
            kind::DATA | kind::HEADERS | kind::PRIORITY | kind::RST_STREAM | kind::PUSH_PROMISE | kind::CONTINUATION
        );
        let is_of_connection = matches!(kind, kind::SETTINGS | kind::PING | kind::GOAWAY);
        if (is_of_stream && stream == 0) || (is_of_connection && stream != 0) {
            return Err(ConnectionError::protocol("a frame of a stream on the connection, or the other way round"));
        }
        let is_last = flags & flag::END_STREAM != 0;
        Ok(match kind {
            kind::DATA => {
                let bytes = unpadded(flags, payload)?;
                Some(Frame::Data { stream, bytes, flow_bytes: payload.len() as u32, is_last })
            }
            kind::HEADERS => {
                let mut block = unpadded(flags, payload)?;
                if flags & flag::PRIORITY != 0 {
                    block = block.get(5..).ok_or(ConnectionError::frame_size("HEADERS without their priority"))?;
                }
                if flags & flag::END_HEADERS == 0 {
                    let block = block.to_vec();
                    self.section = PartialSection { is_cut: true, stream, block, is_last, continuations: 0 };
                    return Ok(None);
                }
                Some(Frame::Headers { stream, block, is_last })
            }
            kind::CONTINUATION => self.continue_section(stream, flags, payload)?,
            kind::PRIORITY => of_length::<5>(payload).map(|_| None)?,
            kind::RST_STREAM => {
                let code = ErrorCode(u32::from_be_bytes(of_length(payload)?));
                Some(Frame::Reset { stream, code })
            }
            kind::SETTINGS if flags & flag::ACK == 0 => Some(Frame::Settings(Settings::parse(payload)?)),
            kind::SETTINGS => of_length::<0>(payload).map(|_| None)?,
            kind::PUSH_PROMISE => return Err(ConnectionError::protocol("a push, which this side has refused")),
            kind::PING => Some(Frame::Ping(of_length(payload)?)).filter(|_| flags & flag::ACK == 0),
            kind::GOAWAY => {
                let (&[a, b, c, d, e, f, g, h], reason) =
                    payload.split_first_chunk().ok_or(ConnectionError::frame_size("a GOAWAY that is cut"))?;
                let last_stream = u32::from_be_bytes([a, b, c, d]) & MAX_STREAM;
                Some(Frame::GoAway { last_stream, code: ErrorCode(u32::from_be_bytes([e, f, g, h])), reason })
            }
            kind::WINDOW_UPDATE => {
                let bytes = u32::from_be_bytes(of_length(payload)?) & MAX_STREAM;
                Some(Frame::WindowUpdate { stream, bytes })
            }
            _ => None,
        })
    }

    fn continue_section(
        &mut self,
        stream: u32,
        flags: u8,
        payload: &[u8],
    ) -> Result<Option<Frame<'_>>, ConnectionError> {
        let section = &mut self.section;
        if section.stream != stream {
            return Err(ConnectionError::protocol("a CONTINUATION of another stream"));
        }
        section.continuations += 1;
        if section.continuations > MAX_CONTINUATIONS || section.block.len() + payload.len() > MAX_HEAD_BYTES {
            let what = "a header section of more than 300 KiB, or without an end";
            return Err(ConnectionError::new(ErrorCode::ENHANCE_YOUR_CALM, what));
        }
        section.block.extend_from_slice(payload);
        section.is_cut = flags & flag::END_HEADERS == 0;
        Ok((!section.is_cut).then_some(Frame::Headers { stream, block: &section.block, is_last: section.is_last }))
    }
}

/// Moves bytes to the frame that is cut. Returns whether it is whole.
fn complete(held: &mut Vec<u8>, bytes: &mut &[u8]) -> Result<bool, ConnectionError> {
    // First its head, which says how long it is.
    for _ in 0..2 {
        let missing = frame_bytes(held)?.saturating_sub(held.len()).min(bytes.len());
        held.extend_from_slice(&bytes[..missing]);
        *bytes = &bytes[missing..];
    }
    Ok(frame_bytes(held)? == held.len())
}

/// The length of the frame that begins here; that of its head as long as that is cut.
fn frame_bytes(begin: &[u8]) -> Result<usize, ConnectionError> {
    let &[a, b, c, ..] = begin else { return Ok(HEAD_BYTES) };
    let payload_bytes = u32::from_be_bytes([0, a, b, c]) as usize;
    if payload_bytes > MAX_PAYLOAD_BYTES {
        return Err(ConnectionError::frame_size("a frame of more than 16 KiB"));
    }
    Ok(HEAD_BYTES + if begin.len() < HEAD_BYTES { 0 } else { payload_bytes })
}

fn of_length<const N: usize>(payload: &[u8]) -> Result<[u8; N], ConnectionError> {
    payload.try_into().map_err(|_| ConnectionError::frame_size("a frame of another length than its kind has"))
}

/// A payload without its padding.
fn unpadded(flags: u8, payload: &[u8]) -> Result<&[u8], ConnectionError> {
    if flags & flag::PADDED == 0 {
        return Ok(payload);
    }
    let too_much = ConnectionError::protocol("more padding than the frame has room for");
    let (padding, rest) = payload.split_first().ok_or(too_much)?;
    rest.len().checked_sub(usize::from(*padding)).map(|length| &rest[..length]).ok_or(too_much)
}
