//! What RFC 9113 forbids and the `h2` crate lets pass. It is found in the frames before the crate reads them.

use super::field_block::PseudoHeaders;

const FRAME_HEAD_BYTES: usize = 9;
/// Bytes of a frame's payload that are looked at.
const MOST_LOOKED_AT: usize = 64;
/// Streams that are remembered. Those that this side has given up would otherwise stay for the life of a connection.
const MOST_STREAMS: usize = 1024;
/// Largest window of a stream, and the window before the server's settings.
const MAX_WINDOW: u64 = (1 << 31) - 1;
const DEFAULT_WINDOW: u64 = 65_535;
/// Settings: whether the other side may push, and a stream's first window.
const ENABLE_PUSH: u16 = 2;
const INITIAL_WINDOW: u16 = 4;

const END_STREAM: u8 = 1;
const PADDED: u8 = 8;
const HAS_PRIORITY: u8 = 32;

/// Reads the frames of a server as they arrive, in pieces of any size.
#[derive(Debug)]
pub(super) struct FrameInspector {
    /// The begin of a frame that has not arrived as far as it is looked at.
    held: Vec<u8>,
    /// Bytes of a payload that are not looked at and have not arrived.
    unread: usize,
    /// Streams whose final header section has arrived, and whose body has not.
    answering: Vec<u32>,
    /// Streams whose windows the server has enlarged, and by how many bytes.
    enlarged: Vec<(u32, u64)>,
    initial_window: u64,
}

/// Received bytes that the crate may read at once.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    /// The frame after them, if the server must not send it.
    pub(super) forbidden: Option<&'static str>,
}

/// The head of a frame.
#[derive(Clone, Copy)]
struct FrameHead {
    length: usize,
    kind: FrameKind,
    flags: u8,
    stream: u32,
}

#[derive(Clone, Copy)]
enum FrameKind {
    Data,
    Headers,
    Reset,
    Settings,
    GoAway,
    WindowUpdate,
    Other,
}

impl FrameInspector {
    pub(super) const fn new() -> Self {
        Self {
            held: Vec::new(),
            unread: 0,
            answering: Vec::new(),
            enlarged: Vec::new(),
            initial_window: DEFAULT_WINDOW,
        }
    }

    /// Takes the next part off the received bytes. It ends at a frame that the server must not send, and at one that ends
    /// streams: the crate forgets how they have failed before, unless they are read first. No request had a body of more
    /// than `largest_body` bytes.
    pub(super) fn take_part<'a>(&mut self, received: &mut &'a [u8], largest_body: usize) -> Part<'a> {
        let piece = std::mem::take(received);
        let mut bytes = piece;
        loop {
            let skipped = self.unread.min(bytes.len());
            self.unread -= skipped;
            bytes = &bytes[skipped..];
            if bytes.is_empty() {
                return Part { bytes: piece, forbidden: None };
            }
            let at = if self.held.is_empty() { piece.len() - bytes.len() } else { 0 };
            if at > 0 && ends_streams(bytes) {
                *received = bytes;
                return Part { bytes: &piece[..at], forbidden: None };
            }
            let forbidden = if self.held.is_empty() && looked_at(bytes) <= bytes.len() {
                let (frame, rest) = bytes.split_at(looked_at(bytes));
                bytes = rest;
                self.judge(frame, largest_body)
            } else {
                self.hold(&mut bytes);
                if self.held.len() < looked_at(&self.held) {
                    continue;
                }
                let mut frame = std::mem::take(&mut self.held);
                let forbidden = self.judge(&frame, largest_body);
                frame.clear();
                self.held = frame;
                forbidden
            };
            if forbidden.is_some() {
                return Part { bytes: &piece[..at], forbidden };
            }
        }
    }

    /// The forbidden frame of a piece, if it has one.
    #[cfg(test)]
    pub(super) fn forbidden_in(&mut self, mut piece: &[u8]) -> Option<&'static str> {
        loop {
            let part = self.take_part(&mut piece, 0);
            if part.forbidden.is_some() || piece.is_empty() {
                return part.forbidden;
            }
        }
    }

    /// Keeps bytes of a frame: first of its head, then as many as are looked at.
    fn hold(&mut self, bytes: &mut &[u8]) {
        let missing = looked_at(&self.held) - self.held.len();
        let (part, rest) = bytes.split_at(missing.min(bytes.len()));
        self.held.extend_from_slice(part);
        *bytes = rest;
    }

    /// Judges a frame by the begin of its payload.
    fn judge(&mut self, frame: &[u8], largest_body: usize) -> Option<&'static str> {
        let (head, payload) = frame.split_first_chunk().map(|(head, payload)| (FrameHead::of(head), payload))?;
        self.unread = head.length - payload.len();
        match head.kind {
            FrameKind::Headers => return self.judge_headers(head, payload),
            FrameKind::Data if head.flags & END_STREAM != 0 => self.forget(head.stream),
            FrameKind::Reset => self.forget(head.stream),
            FrameKind::Settings => return self.judge_settings(payload),
            FrameKind::WindowUpdate if head.stream != 0 => return self.enlarge(head.stream, payload, largest_body),
            FrameKind::Data | FrameKind::GoAway | FrameKind::WindowUpdate | FrameKind::Other => {}
        }
        None
    }

    fn judge_headers(&mut self, head: FrameHead, payload: &[u8]) -> Option<&'static str> {
        let before = usize::from(head.flags & PADDED != 0) + if head.flags & HAS_PRIORITY != 0 { 5 } else { 0 };
        let found = PseudoHeaders::of(payload.get(before..).unwrap_or_default());
        let is_trailer = self.answering.contains(&head.stream);
        if head.flags & END_STREAM != 0 {
            self.forget(head.stream);
        } else if found.is_final && !is_trailer {
            remember(&mut self.answering, head.stream);
        }
        match (is_trailer, found) {
            (true, PseudoHeaders { has_status: true, .. } | PseudoHeaders { has_request: true, .. }) => {
                Some("a pseudo-header in the trailers (RFC 9113, 8.1)")
            }
            (false, PseudoHeaders { has_request: true, .. }) => {
                Some("a pseudo-header of requests in the answer (RFC 9113, 8.3)")
            }
            _ => None,
        }
    }

    fn judge_settings(&mut self, payload: &[u8]) -> Option<&'static str> {
        for setting in payload.chunks_exact(6) {
            match (u16::from_be_bytes([setting[0], setting[1]]), number(&setting[2..])) {
                (INITIAL_WINDOW, window) => self.initial_window = u64::from(window),
                (ENABLE_PUSH, 1) => return Some("the setting that it accepts pushes (RFC 9113, 6.5.2)"),
                _ => {}
            }
        }
        None
    }

    /// The crate does not look at the window of a stream that has sent its request.
    fn enlarge(&mut self, stream: u32, payload: &[u8], largest_body: usize) -> Option<&'static str> {
        let by = u64::from(number(payload) & 0x7fff_ffff);
        let known = self.enlarged.iter().position(|(known, _)| *known == stream);
        let index = known.unwrap_or_else(|| {
            remember(&mut self.enlarged, (stream, 0));
            self.enlarged.len() - 1
        });
        self.enlarged[index].1 += by;
        let window = self.initial_window + self.enlarged[index].1;
        (window > MAX_WINDOW + largest_body as u64).then_some("a stream's window above 2^31-1 bytes (RFC 9113, 6.9.1)")
    }

    fn forget(&mut self, stream: u32) {
        self.answering.retain(|known| *known != stream);
        self.enlarged.retain(|(known, _)| *known != stream);
    }
}

impl FrameHead {
    /// # Source
    /// RFC 9113, section 4.1.
    fn of(head: &[u8; FRAME_HEAD_BYTES]) -> Self {
        let kind = match head[3] {
            0 => FrameKind::Data,
            1 => FrameKind::Headers,
            3 => FrameKind::Reset,
            4 => FrameKind::Settings,
            7 => FrameKind::GoAway,
            8 => FrameKind::WindowUpdate,
            _ => FrameKind::Other,
        };
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        Self { length, kind, flags: head[4], stream: number(&head[5..]) & 0x7fff_ffff }
    }

    /// Bytes of the payload that are looked at.
    fn looked_at(self) -> usize {
        match self.kind {
            FrameKind::Headers | FrameKind::Settings | FrameKind::WindowUpdate => self.length.min(MOST_LOOKED_AT),
            FrameKind::Data | FrameKind::Reset | FrameKind::GoAway | FrameKind::Other => 0,
        }
    }
}

/// How many bytes of the frame that begins here are looked at; only its head if that is not whole.
fn looked_at(frame: &[u8]) -> usize {
    let payload = frame.first_chunk().map_or(0, |head| FrameHead::of(head).looked_at());
    FRAME_HEAD_BYTES + payload
}

/// Whether the frame that begins here ends streams.
fn ends_streams(frame: &[u8]) -> bool {
    let kind = frame.first_chunk().map(|head| FrameHead::of(head).kind);
    matches!(kind, Some(FrameKind::Reset | FrameKind::GoAway))
}

/// Four bytes as a number; 0 if there are fewer.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn remember<T>(list: &mut Vec<T>, item: T) {
    if list.len() == MOST_STREAMS {
        list.clear();
    }
    list.push(item);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn inspect<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Option<&'static str> {
        let mut inspector = FrameInspector::new();
        pieces.into_iter().find_map(|piece| inspector.forbidden_in(piece))
    }

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    #[test]
    fn what_the_crate_lets_pass_is_found_however_it_is_cut() {
        let head = frame(1, 4, 1, b"\x88");
        for (frames, says) in [
            (vec![head.clone(), frame(0, 1, 1, b"ok")], None),
            (vec![head.clone(), frame(0, 0, 1, b"ok"), frame(1, 5, 1, b"\x00\x01a\x01b")], None),
            (vec![head.clone(), frame(0, 1, 1, b"ok"), frame(1, 4, 3, b"\x88")], None),
            (vec![frame(1, 4, 1, b"\x08\x03103"), head.clone()], None),
            (vec![frame(1, 4 | PADDED | HAS_PRIORITY, 1, b"\x01\0\0\0\0\0\x88\0")], None),
            (vec![frame(1, 4, 1, b"\x88\x84")], Some("of requests")),
            (vec![frame(1, 4 | PADDED | HAS_PRIORITY, 1, b"\x01\0\0\0\0\0\x84\0")], Some("of requests")),
            (vec![head.clone(), frame(1, 5, 1, b"\x88")], Some("in the trailers")),
            (vec![head.clone(), frame(1, 5, 1, b"\x84")], Some("in the trailers")),
            (vec![frame(8, 0, 0, b"\x7f\xff\xff\xff")], None),
            (vec![frame(8, 0, 1, b"\x7f\xff\0\0")], None),
            (vec![frame(8, 0, 1, b"\x7f\xff\0\0"), frame(8, 0, 1, b"\0\0\0\x01")], Some("2^31-1")),
            (vec![frame(8, 0, 1, b"\x7f\xff\xff\xff")], Some("2^31-1")),
            (vec![frame(4, 0, 0, b"\0\x03\0\0\0\x01\0\x02\0\0\0\0")], None),
            (vec![frame(4, 0, 0, b"\0\x03\0\0\0\x01\0\x02\0\0\0\x01")], Some("accepts pushes")),
            (vec![frame(4, 0, 0, b"\0\x04\0\0\0\0"), frame(8, 0, 1, b"\x7f\xff\xff\xff")], None),
        ] {
            let raw = frames.concat();
            let whole = inspect([&raw[..]]);
            assert_eq!(whole.is_some(), says.is_some(), "{}: {whole:?}", raw.escape_ascii());
            assert!(whole.unwrap_or_default().contains(says.unwrap_or_default()), "{whole:?}");
            for cut in 0..raw.len() {
                let (first, second) = raw.split_at(cut);
                assert_eq!(inspect([first, second]), whole, "cut at {cut}");
            }
            assert_eq!(inspect(raw.chunks(1)), whole, "in single bytes");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged_alike_however_they_are_cut(
            bytes in proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(4), Just(8), any::<u8>()], 0..200),
            piece in 1_usize..30,
        ) {
            prop_assert_eq!(inspect(bytes.chunks(piece)), inspect([&bytes[..]]));
        }
    }
}
