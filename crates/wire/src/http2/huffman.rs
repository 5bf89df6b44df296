//! The code of strings in header sections. It is canonical: the lengths of its codes say it all (RFC 7541, appendix B).

/// Length of each symbol's code in bits; the last is that of the end of a string.
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12,
    10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6,
    5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22,
    22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20,
    22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28,
    27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28,
    27, 27, 27, 27, 27, 26, 30,
];

const SYMBOLS: usize = 257;
const LONGEST: usize = 30;
const END_OF_STRING: u16 = 256;
/// Codes up to this length are looked up at once.
const SHORT: usize = 8;

static TABLES: Tables = Tables::build();

struct Tables {
    /// Symbol and length of the code that these bits begin with; length 0 if it is longer.
    short: [(u16, u8); 1 << SHORT],
    /// The symbols in the order of their codes.
    sorted: [u16; SYMBOLS],
    /// By length: the first code, how many there are, and the place of the first in `sorted`.
    lengths: [(u32, u32, u32); LONGEST + 1],
}

impl Tables {
    const fn build() -> Self {
        let mut tables = Self { short: [(0, 0); 1 << SHORT], sorted: [0; SYMBOLS], lengths: [(0, 0, 0); LONGEST + 1] };
        let (mut length, mut code, mut place) = (1, 0, 0);
        while length <= LONGEST {
            tables.lengths[length] = (code, 0, place as u32);
            let mut symbol = 0;
            while symbol < SYMBOLS {
                if LENGTHS[symbol] as usize == length {
                    tables.sorted[place] = symbol as u16;
                    tables.lengths[length].1 += 1;
                    let mut bits = if length <= SHORT { (code as usize) << (SHORT - length) } else { 0 };
                    let after = if length <= SHORT { (code as usize + 1) << (SHORT - length) } else { 0 };
                    while bits < after {
                        tables.short[bits] = (symbol as u16, length as u8);
                        bits += 1;
                    }
                    place += 1;
                    code += 1;
                }
                symbol += 1;
            }
            code <<= 1;
            length += 1;
        }
        tables
    }

    /// The symbol whose code these bits begin with, from the highest on, and the length of the code.
    fn look_up(&self, bits: u64) -> (u16, u32) {
        let (symbol, length) = self.short[(bits >> (u64::BITS as usize - SHORT)) as usize];
        if length > 0 {
            return (symbol, length.into());
        }
        for length in SHORT + 1..=LONGEST {
            let (first, count, place) = self.lengths[length];
            let behind = ((bits >> (u64::BITS as usize - length)) as u32).wrapping_sub(first);
            if behind < count {
                return (self.sorted[(place + behind) as usize], length as u32);
            }
        }
        (END_OF_STRING, LONGEST as u32)
    }
}

/// Appends the string that these bytes encode; `None` if they encode none.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut coded = coded.iter();
    // The `count` highest bits have come and were not read.
    let (mut bits, mut count) = (0_u64, 0_u32);
    loop {
        while count < u64::BITS - 8
            && let Some(byte) = coded.next()
        {
            bits |= u64::from(*byte) << (u64::BITS - 8 - count);
            count += 8;
        }
        // Behind the end come ones, as in the padding.
        let (symbol, length) = TABLES.look_up(bits | u64::MAX >> count);
        if length > count {
            let is_padding = count < 8 && bits == !(u64::MAX >> count);
            return is_padding.then_some(());
        }
        out.push(u8::try_from(symbol).ok()?);
        bits <<= length;
        count -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn the_strings_of_the_standard_are_read() {
        for (coded, text) in [
            (&b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"[..], "www.example.com"),
            (b"\xa8\xeb\x10\x64\x9c\xbf", "no-cache"),
            (b"\x64\x02", "302"),
            (b"\xae\xc3\x77\x1a\x4b", "private"),
            (b"", ""),
            // All of a long code's bits count: `{` has 15.
            (b"\xff\xfd", "{"),
        ] {
            assert_eq!(decoded(coded).as_deref(), Some(text));
        }
    }

    #[test]
    fn padding_is_ones_and_shorter_than_a_byte_and_no_string_contains_its_end() {
        // `0` is 00000: zeros behind it, a whole byte of ones, and the end of a string.
        for wrong in [&b"\x00"[..], b"\x07\xff", b"\xff", b"\xff\xff\xff\xff", b"\xff\xff\xff\xfc"] {
            assert_eq!(decoded(wrong), None, "{wrong:?}");
        }
        assert_eq!(decoded(b"\x07").as_deref(), Some("0"));
    }
}
