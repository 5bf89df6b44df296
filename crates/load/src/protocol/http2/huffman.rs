//! HPACK's Huffman code.

/// All bytes, in the order of their codes.
///
/// # Source
/// RFC 7541, appendix B.
#[rustfmt::skip]
const BYTES: [u8; 256] = [
    48, 49, 50, 97, 99, 101, 105, 111, 115, 116, 32, 37, 45, 46, 47, 51, 52, 53, 54, 55, 56, 57, 61, 65, 95, 98, 100,
    102, 103, 104, 108, 109, 110, 112, 114, 117, 58, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81,
    82, 83, 84, 85, 86, 87, 89, 106, 107, 113, 118, 119, 120, 121, 122, 38, 42, 44, 59, 88, 90, 33, 34, 40, 41, 63,
    39, 43, 124, 35, 62, 0, 36, 64, 91, 93, 126, 94, 125, 60, 96, 123, 92, 195, 208, 128, 130, 131, 162, 184, 194,
    224, 226, 153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230, 129, 132, 133, 134, 136, 146, 154,
    156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190, 196, 198, 228, 232, 233, 1, 135, 137, 138,
    139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168, 174, 175, 180, 182, 183, 188, 191,
    197, 231, 239, 9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237, 199, 207, 234, 235, 192, 193, 200, 201,
    202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255, 203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245,
    246, 247, 248, 250, 251, 252, 253, 254, 2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 127, 220, 249, 10, 13, 22,
];
/// How many bytes have codes of 5, 6, … 30 bits. Codes of one length follow one another.
const COUNTS: [u32; 26] = [10, 26, 32, 6, 0, 5, 3, 2, 6, 2, 3, 0, 0, 0, 3, 8, 13, 26, 29, 12, 4, 15, 19, 29, 0, 3];
const SHORTEST: u32 = 5;
const LEVELS: [Level; COUNTS.len()] = levels();

/// The codes of one length.
#[derive(Clone, Copy)]
struct Level {
    bits: u32,
    /// The first code of the next level. This and all codes are the upper bits of 32.
    end: u64,
    begin: u64,
    /// Which of all bytes has the first code.
    index: usize,
}

const fn levels() -> [Level; COUNTS.len()] {
    let mut levels = [Level { bits: 0, end: 0, begin: 0, index: 0 }; COUNTS.len()];
    let (mut level, mut begin, mut index) = (0, 0, 0);
    while level < COUNTS.len() {
        let bits = SHORTEST + level as u32;
        let end = begin + ((COUNTS[level] as u64) << (32 - bits));
        levels[level] = Level { bits, end, begin, index };
        index += COUNTS[level] as usize;
        begin = end;
        level += 1;
    }
    levels
}

/// Passes each byte of a text in this code to `take`. Returns `None` if it is not in this code.
///
/// # Source
/// RFC 7541, section 5.2: less than 8 bits of padding, all of them 1.
pub(super) fn decode(text: &[u8], mut take: impl FnMut(u8)) -> Option<()> {
    let mut unread = text.iter();
    // The upper bits are the ones that come next.
    let (mut window, mut count) = (0_u64, 0);
    loop {
        while count <= 56 {
            let Some(&byte) = unread.next() else { break };
            window |= u64::from(byte) << (56 - count);
            count += 8;
        }
        let next = window >> 32;
        let level = LEVELS.iter().find(|level| next < level.end).filter(|level| level.bits <= count);
        let Some(level) = level else {
            return (count < 8 && window == !(u64::MAX >> count)).then_some(());
        };
        take(BYTES[level.index + ((next - level.begin) >> (32 - level.bits)) as usize]);
        window <<= level.bits;
        count -= level.bits;
    }
}

/// The code of these bytes, with padding.
#[cfg(test)]
pub(super) fn encoded(bytes: &[u8]) -> Vec<u8> {
    let mut bits = String::new();
    for byte in bytes {
        let index = BYTES.iter().position(|known| known == byte).unwrap();
        let level = LEVELS.iter().rfind(|level| level.index <= index).unwrap();
        let code = (level.begin >> (32 - level.bits)) + (index - level.index) as u64;
        bits += &format!("{code:0width$b}", width = level.bits as usize);
    }
    bits += &"1".repeat(bits.len().next_multiple_of(8) - bits.len());
    bits.as_bytes().chunks(8).map(|bits| u8::from_str_radix(str::from_utf8(bits).unwrap(), 2).unwrap()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        decode(text, |byte| bytes.push(byte)).map(|()| bytes)
    }

    #[test]
    fn texts_of_the_standard_are_decoded() {
        // RFC 7541, appendix C.4 and C.6.
        for (code, text) in [
            (&b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"[..], "www.example.com"),
            (b"\xa8\xeb\x10\x64\x9c\xbf", "no-cache"),
            (b"\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f", "custom-key"),
            (b"\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf", "custom-value"),
            (b"\x64\x02", "302"),
            (b"\x64\x0e\xff", "307"),
            (b"\x9b\xd9\xab", "gzip"),
            (
                b"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
            (b"\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\xae\x43\xd3", "https://www.example.com"),
            (b"", ""),
        ] {
            assert_eq!(decoded(code).as_deref(), Some(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn every_byte_is_decoded_as_it_was_encoded() {
        let all: Vec<u8> = (0..=u8::MAX).rev().collect();
        assert_eq!(decoded(&encoded(&all)), Some(all.clone()));
        all.iter().for_each(|byte| assert_eq!(decoded(&encoded(&[*byte])), Some(vec![*byte])));
    }

    #[test]
    fn other_padding_and_the_end_symbol_are_refused() {
        // A padding of 8 bits, one with a 0, a cut code, and the code that means the end.
        for text in [&b"\x1f\xff"[..], b"\x1e", b"\xff\xff", b"\xff\xff\xff\xff", b"\xff\xff\xff\xfc"] {
            assert_eq!(decoded(text), None, "{}", text.escape_ascii());
        }
    }
}
