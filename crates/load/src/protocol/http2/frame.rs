//! The heads of frames, and which payloads are looked at.

const FRAME_HEAD_BYTES: usize = 9;
/// Longest payload that is looked at. The crate refuses longer ones.
pub(super) const MOST_LOOKED_AT: usize = 16 << 10;

pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;
pub(super) const HAS_PRIORITY: u8 = 32;

/// The head of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameHead {
    pub(super) length: usize,
    pub(super) kind: FrameKind,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Data,
    Headers,
    Reset,
    Settings,
    GoAway,
    WindowUpdate,
    Continuation,
    Other,
}

impl FrameHead {
    /// # Source
    /// RFC 9113, section 4.1.
    pub(super) fn of(head: &[u8; FRAME_HEAD_BYTES]) -> Self {
        let kind = match head[3] {
            0 => FrameKind::Data,
            1 => FrameKind::Headers,
            3 => FrameKind::Reset,
            4 => FrameKind::Settings,
            7 => FrameKind::GoAway,
            8 => FrameKind::WindowUpdate,
            9 => FrameKind::Continuation,
            _ => FrameKind::Other,
        };
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        Self { length, kind, flags: head[4], stream: number(&head[5..]) & 0x7fff_ffff }
    }

    /// Bytes of the payload that are looked at: all or none.
    const fn looked_at(self) -> usize {
        match self.kind {
            FrameKind::Headers | FrameKind::Settings | FrameKind::WindowUpdate | FrameKind::Continuation
                if self.length <= MOST_LOOKED_AT =>
            {
                self.length
            }
            _ => 0,
        }
    }
}

/// How many bytes of the frame that begins here are looked at; only its head if that is not whole.
pub(super) fn looked_at(frame: &[u8]) -> usize {
    let payload = frame.first_chunk().map_or(0, |head| FrameHead::of(head).looked_at());
    FRAME_HEAD_BYTES + payload
}

/// Whether the frame that begins here ends streams.
pub(super) fn ends_streams(frame: &[u8]) -> bool {
    let kind = frame.first_chunk().map(|head| FrameHead::of(head).kind);
    matches!(kind, Some(FrameKind::Reset | FrameKind::GoAway))
}

/// The part of a header section in a HEADERS frame; `None` if its padding is too long.
pub(super) fn fragment(head: FrameHead, payload: &[u8]) -> Option<&[u8]> {
    let is_padded = head.flags & PADDED != 0;
    let padding = if is_padded { usize::from(*payload.first()?) } else { 0 };
    let before = usize::from(is_padded) + if head.flags & HAS_PRIORITY != 0 { 5 } else { 0 };
    payload.get(before..payload.len().checked_sub(padding)?)
}

/// Four bytes as a number; 0 if there are fewer.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
