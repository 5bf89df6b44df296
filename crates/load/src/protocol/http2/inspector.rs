//! What RFC 9113 forbids and the `h2` crate lets pass. It is found in the frames before the crate reads them.

use std::ops::RangeInclusive;

use h2::Reason;

use super::field_block::{Decoder, Section};
use super::frame::{
    END_HEADERS, END_STREAM, FrameHead, FrameKind, MOST_LOOKED_AT, ends_streams, fragment, looked_at, number,
};
use super::streams::Streams;

/// Largest window of a stream, and the window before the server's settings.
const MAX_WINDOW: u64 = (1 << 31) - 1;
const DEFAULT_WINDOW: u64 = 65_535;
/// Lengths of a GOAWAY that the crate accepts.
const GOAWAY_BYTES: RangeInclusive<usize> = 8..=MOST_LOOKED_AT;
/// Settings: whether the other side may push, and a stream's first window.
const ENABLE_PUSH: u16 = 2;
const INITIAL_WINDOW: u16 = 4;

/// Reads the frames of a server as they arrive, in pieces of any size.
#[derive(Debug)]
pub(super) struct FrameInspector {
    /// The start of a frame whose inspected part has not arrived yet.
    held: Vec<u8>,
    /// Bytes that are not looked at, or have been, and come next.
    unread: usize,
    /// Whether the server's settings have begun to arrive.
    has_settings: bool,
    /// Whether the server has sent GOAWAY.
    has_goaway: bool,
    decoder: Decoder,
    /// A header section that goes on. The crate limits its length.
    open_section: Option<HeaderSection>,
    streams: Streams,
    initial_window: u64,
}

/// Received bytes that the crate may read at once.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    /// The frame after them, if the server must not send it.
    pub(super) forbidden: Option<Forbidden>,
}

/// A frame that the server must not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forbidden {
    /// The stream that it breaks; `None` if it breaks the connection.
    pub(super) stream: Option<u32>,
    pub(super) reason: Reason,
    pub(super) what: &'static str,
}

/// DATA or HEADERS where only a reset or a window may come.
const BEHIND_THE_END: Forbidden =
    Forbidden::of_connection(Reason::STREAM_CLOSED, "a frame on a stream that it has ended (RFC 9113, 5.1)");

/// The fragments of a header section.
#[derive(Debug)]
struct HeaderSection {
    head: FrameHead,
    block: Vec<u8>,
}

impl FrameInspector {
    pub(super) const fn new() -> Self {
        Self {
            held: Vec::new(),
            unread: 0,
            has_settings: false,
            has_goaway: false,
            decoder: Decoder::new(),
            open_section: None,
            streams: Streams::new(),
            initial_window: DEFAULT_WINDOW,
        }
    }

    pub(super) const fn has_goaway(&self) -> bool {
        self.has_goaway
    }

    /// A request leaves on this stream. Its number is above all before.
    pub(super) fn note_request(&mut self, stream: u32) {
        self.streams.note_request(stream);
    }

    /// This side is done with a stream. If the server has not ended it, its frames may still arrive.
    pub(super) fn abandon(&mut self, stream: u32) {
        self.streams.abandon(stream);
    }

    /// Takes the next part off the received bytes. It ends at a frame that the server must not send, and at one that ends
    /// streams: the crate forgets how they have failed before, unless they are read first. A frame is reported as forbidden
    /// once; the next part begins with it. No request had a body of more than `largest_body` bytes.
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
                self.keep_frame_start(&mut bytes);
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
                *received = &piece[at..];
                self.unread += received.len() - bytes.len();
                return Part { bytes: &piece[..at], forbidden };
            }
        }
    }

    /// The forbidden frames of a piece.
    #[cfg(test)]
    pub(super) fn forbidden_in(&mut self, mut piece: &[u8]) -> Vec<Forbidden> {
        let mut found = Vec::new();
        while !piece.is_empty() {
            found.extend(self.take_part(&mut piece, 0).forbidden);
        }
        found
    }

    /// Keeps the first bytes of a frame: its head, then the part that is inspected.
    fn keep_frame_start(&mut self, bytes: &mut &[u8]) {
        let missing = looked_at(&self.held) - self.held.len();
        let (part, rest) = bytes.split_at(missing.min(bytes.len()));
        self.held.extend_from_slice(part);
        *bytes = rest;
    }

    /// Judges a frame by the part of it that is inspected.
    fn judge(&mut self, frame: &[u8], largest_body: usize) -> Option<Forbidden> {
        let (head, payload) = frame.split_first_chunk().map(|(head, payload)| (FrameHead::of(head), payload))?;
        self.unread = head.length - payload.len();
        if !self.has_settings && head.kind != FrameKind::Settings {
            let what = "another frame before its settings (RFC 9113, 3.4); does the server speak HTTP/2 here at all?";
            return Some(Forbidden::of_connection(Reason::PROTOCOL_ERROR, what));
        }
        self.has_settings = true;
        match head.kind {
            FrameKind::Data => self.judge_data(head),
            FrameKind::Headers => self.judge_headers(head, fragment(head, payload)?),
            FrameKind::Continuation => self.judge_continuation(head, payload),
            FrameKind::Settings => self.judge_settings(payload),
            FrameKind::WindowUpdate => self.note_window_update(head.stream, payload, largest_body),
            FrameKind::Reset => {
                self.streams.end(head.stream);
                None
            }
            FrameKind::GoAway => {
                self.has_goaway |= head.stream == 0 && GOAWAY_BYTES.contains(&head.length);
                None
            }
            FrameKind::Other => None,
        }
    }

    fn judge_data(&mut self, head: FrameHead) -> Option<Forbidden> {
        let is_closed = self.streams.is_closed(head.stream);
        if head.flags & END_STREAM != 0 {
            self.streams.end(head.stream);
        }
        is_closed.then_some(BEHIND_THE_END)
    }

    fn judge_headers(&mut self, head: FrameHead, fragment: &[u8]) -> Option<Forbidden> {
        if head.flags & END_HEADERS != 0 {
            return self.judge_section(head, fragment);
        }
        self.open_section = Some(HeaderSection { head, block: fragment.to_vec() });
        None
    }

    /// The crate refuses one without a begun section, and of another stream.
    fn judge_continuation(&mut self, head: FrameHead, payload: &[u8]) -> Option<Forbidden> {
        let open_section = self.open_section.as_mut()?;
        open_section.block.extend_from_slice(payload);
        if head.flags & END_HEADERS == 0 {
            return None;
        }
        let HeaderSection { head, block } = self.open_section.take()?;
        self.judge_section(head, &block)
    }

    /// Judges a whole header section that began with this frame.
    fn judge_section(&mut self, head: FrameHead, block: &[u8]) -> Option<Forbidden> {
        let stream = head.stream;
        // Each section changes the table, also that of an abandoned stream.
        let Some(section) = self.decoder.decode(block) else {
            let what = "a header section that cannot be decoded (RFC 9113, 4.3)";
            return Some(Forbidden::of_connection(Reason::COMPRESSION_ERROR, what));
        };
        if self.streams.is_closed(stream) {
            return Some(BEHIND_THE_END);
        }
        let open = self.streams.open_mut(stream);
        let is_trailer = open.as_ref().is_some_and(|open| open.has_head);
        if let Some(open) = open {
            open.has_head |= !section.is_interim();
        }
        if head.flags & END_STREAM != 0 {
            self.streams.end(stream);
        }
        let what = match (is_trailer, section) {
            (true, Section { status: Some(_), .. } | Section { has_request: true, .. }) => {
                "a pseudo-header in the trailers (RFC 9113, 8.1)"
            }
            (false, Section { has_request: true, .. }) => "a pseudo-header of requests in the answer (RFC 9113, 8.3)",
            (false, Section { status: Some(101), .. }) => "status 101 (RFC 9113, 8.6)",
            (false, Section { has_blank: true, .. }) if section.is_interim() => {
                "a header that begins or ends with white space in an interim answer (RFC 9113, 8.2.1)"
            }
            _ => return None,
        };
        Some(Forbidden::of_stream(stream, Reason::PROTOCOL_ERROR, what))
    }

    fn judge_settings(&mut self, payload: &[u8]) -> Option<Forbidden> {
        for setting in payload.chunks_exact(6) {
            match (u16::from_be_bytes([setting[0], setting[1]]), number(&setting[2..])) {
                (INITIAL_WINDOW, window) => self.initial_window = u64::from(window),
                (ENABLE_PUSH, 1) => {
                    let what = "the setting that it accepts pushes (RFC 9113, 6.5.2)";
                    return Some(Forbidden::of_connection(Reason::PROTOCOL_ERROR, what));
                }
                _ => {}
            }
        }
        None
    }

    /// The crate does not look at the window of a stream that has sent its request.
    fn note_window_update(&mut self, stream: u32, payload: &[u8], largest_body: usize) -> Option<Forbidden> {
        let open = self.streams.open_mut(stream)?;
        open.enlarged += u64::from(number(payload) & 0x7fff_ffff);
        let window = self.initial_window + open.enlarged;
        let what = "a stream's window above 2^31-1 bytes (RFC 9113, 6.9.1)";
        let is_too_large = window > MAX_WINDOW + largest_body as u64;
        is_too_large.then_some(Forbidden::of_stream(stream, Reason::FLOW_CONTROL_ERROR, what))
    }
}

impl Forbidden {
    const fn of_connection(reason: Reason, what: &'static str) -> Self {
        Self { stream: None, reason, what }
    }

    const fn of_stream(stream: u32, reason: Reason, what: &'static str) -> Self {
        Self { stream: Some(stream), reason, what }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::frame::{HAS_PRIORITY, PADDED};
    use super::super::streams::MOST_ABANDONED;
    use super::*;

    const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

    /// What is forbidden in these pieces, behind the settings of the server. The streams below 8 have been asked.
    fn inspect<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Forbidden> {
        let mut inspector = FrameInspector::new();
        (1..8).step_by(2).for_each(|stream| inspector.note_request(stream));
        inspector.forbidden_in(SETTINGS);
        pieces.into_iter().flat_map(|piece| inspector.forbidden_in(piece)).collect()
    }

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    #[test]
    fn what_the_crate_lets_pass_is_found_however_it_is_cut() {
        const NONE: &[&str] = &[];
        let head = frame(1, 4, 1, b"\x88");
        let answer = [head.clone(), frame(0, 1, 1, b"ok")].concat();
        let status_of_table = [frame(1, 5, 1, b"\x48\x03201"), frame(1, 4, 3, b"\xbe")].concat();
        for (frames, says) in [
            (vec![answer.clone()], NONE),
            (vec![head.clone(), frame(0, 0, 1, b"ok"), frame(1, 5, 1, b"\x00\x01a\x01b")], NONE),
            (vec![answer.clone(), frame(1, 4, 3, b"\x88")], NONE),
            (vec![frame(1, 4, 1, b"\x08\x03103"), head.clone()], NONE),
            (vec![frame(1, 4, 1, b"\x08\x03101"), head.clone()], &["status 101"]),
            (vec![frame(1, 4, 1, b"\x08\x03103\x00\x01a\x02 b"), head.clone()], &["white space in an interim answer"]),
            (vec![frame(1, 4 | PADDED | HAS_PRIORITY, 1, b"\x01\0\0\0\0\0\x88\0")], NONE),
            (vec![frame(1, 4, 1, b"\x88\x84")], &["of requests"]),
            (vec![frame(1, 0, 1, b""), frame(9, 4, 1, b"\x88\x84")], &["of requests"]),
            (vec![frame(1, 0, 1, b"\x88"), frame(9, 4, 1, b"\x84")], &["of requests"]),
            (vec![frame(1, 4 | PADDED | HAS_PRIORITY, 1, b"\x01\0\0\0\0\0\x84\0")], &["of requests"]),
            (vec![head.clone(), frame(1, 5, 1, b"\x88")], &["in the trailers"]),
            (vec![head.clone(), frame(1, 5, 1, b"\x84")], &["in the trailers"]),
            (vec![head.clone(), frame(1, 1, 1, b""), frame(9, 4, 1, b"\x88")], &["in the trailers"]),
            (vec![status_of_table, frame(1, 5, 3, b"\x88")], &["in the trailers"]),
            (vec![frame(1, 4, 1, b"\x88\xbe")], &["cannot be decoded"]),
            (vec![answer.clone(), answer.clone()], &["has ended", "has ended"]),
            (vec![frame(3, 0, 1, b"\0\0\0\0"), head.clone()], &["has ended"]),
            (vec![answer.clone(), frame(8, 0, 1, b"\0\0\0\x01"), frame(3, 0, 1, b"\0\0\0\0")], NONE),
            (vec![frame(8, 0, 0, b"\x7f\xff\xff\xff")], NONE),
            (vec![frame(8, 0, 1, b"\x7f\xff\0\0")], NONE),
            (vec![frame(8, 0, 1, b"\x7f\xff\0\0"), frame(8, 0, 1, b"\0\0\0\x01")], &["2^31-1"]),
            (vec![frame(8, 0, 1, b"\x7f\xff\xff\xff")], &["2^31-1"]),
            (vec![frame(4, 0, 0, b"\0\x03\0\0\0\x01\0\x02\0\0\0\0")], NONE),
            (vec![frame(4, 0, 0, b"\0\x03\0\0\0\x01\0\x02\0\0\0\x01")], &["accepts pushes"]),
            (vec![frame(4, 0, 0, &[&b"\0\x07\0\0\0\x01".repeat(11)[..], b"\0\x02\0\0\0\x01"].concat())], &["pushes"]),
            (vec![frame(4, 0, 0, b"\0\x04\0\0\0\0"), frame(8, 0, 1, b"\x7f\xff\xff\xff")], NONE),
        ] {
            let raw = frames.concat();
            let whole = inspect([&raw[..]]);
            let fits = whole.iter().zip(says).all(|(found, says)| found.what.contains(says));
            assert!(fits && whole.len() == says.len(), "{}: {whole:?}", raw.escape_ascii());
            for cut in 0..raw.len() {
                let (first, second) = raw.split_at(cut);
                assert_eq!(inspect([first, second]), whole, "cut at {cut}");
            }
            assert_eq!(inspect(raw.chunks(1)), whole, "in single bytes");
        }
    }

    #[test]
    fn a_server_begins_with_its_settings() {
        for (first, is_allowed) in [
            (SETTINGS, true),
            (b"\0\0\x08\x06\0\0\0\0\x0012345678", false),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", false),
        ] {
            let found = FrameInspector::new().forbidden_in(first);
            assert_eq!(found.is_empty(), is_allowed, "{found:?}");
        }
    }

    #[test]
    fn streams_that_this_side_has_given_up_may_still_be_answered_once() {
        let of = |stream: u32| [&[0, 0, 1, 1, 5][..], &stream.to_be_bytes(), &[0x88]].concat();
        let mut inspector = FrameInspector::new();
        inspector.forbidden_in(SETTINGS);
        let streams = (1..8 * MOST_ABANDONED as u32).step_by(2);
        for stream in streams.clone() {
            inspector.note_request(stream);
            inspector.abandon(stream);
        }
        for stream in streams {
            assert_eq!(inspector.forbidden_in(&of(stream)), [], "stream {stream}");
        }
        assert_eq!(inspector.forbidden_in(&of(8 * MOST_ABANDONED as u32 - 1)), [BEHIND_THE_END]);
        assert!(inspector.streams.are_all_closed());
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
