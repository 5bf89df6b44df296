//! The code of a close frame as the peer sent it. tungstenite gives its own in place of an invalid one.

/// The longest header of a frame: two bytes, the length and the mask. A close has its code behind a shorter one.
const MAX_HEADER_BYTES: usize = 14;
const CLOSE: u8 = 8;

/// Follows the frames of a stream up to the first close.
#[derive(Debug, Default)]
pub(super) struct CloseCode {
    /// The header of the present frame; of a close, also its code.
    header: [u8; MAX_HEADER_BYTES],
    length: usize,
    /// Bytes of the present frame's payload that are still to come.
    payload: u64,
    code: Option<u16>,
}

impl CloseCode {
    /// The code of the close, once it has arrived.
    pub(super) const fn code(&self) -> Option<u16> {
        self.code
    }

    /// Takes the next bytes of the stream.
    ///
    /// # Source
    /// RFC 6455, sections 5.2 and 5.5.1.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while self.code.is_none() {
            let passed = usize::try_from(self.payload).map_or(bytes.len(), |payload| payload.min(bytes.len()));
            self.payload -= passed as u64;
            let Some((byte, rest)) = bytes[passed..].split_first() else { return };
            bytes = rest;
            self.header[self.length] = *byte;
            self.length += 1;
            if self.length == self.header_length() {
                self.end_header();
            }
        }
    }

    /// Length of the header, as far as its bytes so far determine it.
    fn header_length(&self) -> usize {
        let [_, second, ..] = self.header;
        if self.length < 2 {
            return 2;
        }
        let of_length = match second & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let of_mask = if second & 0x80 == 0 { 0 } else { 4 };
        2 + of_length + of_mask + if self.has_code() { 2 } else { 0 }
    }

    /// Whether the frame is a close with a code.
    const fn has_code(&self) -> bool {
        self.header[0] & 0x0f == CLOSE && matches!(self.header[1] & 0x7f, 2..=125)
    }

    fn end_header(&mut self) {
        let header = &self.header[..self.length];
        if self.has_code() {
            let (header, code) = header.split_at(header.len() - 2);
            let mask = if header.len() > 2 { [header[2], header[3]] } else { [0, 0] };
            self.code = Some(u16::from_be_bytes([code[0] ^ mask[0], code[1] ^ mask[1]]));
        }
        let big_endian = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        self.payload = match header[1] & 0x7f {
            126 => big_endian(&header[2..4]),
            127 => big_endian(&header[2..10]),
            short => u64::from(short),
        };
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_has_its_own_code_behind_any_frames_wherever_they_are_cut() {
        let long = [&b"\x82\x7e\x01\x00"[..], &[0x88; 256]].concat();
        // Miri would need 20 minutes for all of them.
        let payload = vec![0x88; if cfg!(miri) { 300 } else { 65_536 }];
        let longer = [&b"\x82\x7f"[..], &(payload.len() as u64).to_be_bytes(), &payload].concat();
        let frames = [&b"\x81\x02hi"[..], &long, b"\x89\x00", &longer, b"\x81\x83abcdxyz"].concat();
        for (close, code) in [
            (&b"\x88\x02\x03\xed"[..], Some(1005)),
            (b"\x88\x05\x03\xe8bye", Some(1000)),
            (b"\x88\x82\x01\x02\x03\x04\x02\xea", Some(1000)),
            (b"\x88\x00", None),
            (b"\x88\x02\x03", None),
        ] {
            let stream = [&frames, close].concat();
            for size in [1, 3, 1000, stream.len()] {
                let mut close_code = CloseCode::default();
                stream.chunks(size).for_each(|piece| close_code.feed(piece));
                assert_eq!(close_code.code(), code, "{} in pieces of {size}", close.escape_ascii());
            }
        }
    }
}
