//! The stamp in a message: when the server sent it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// Nanoseconds since 1970.
    pub unix_ns: u64,
    /// The unit of the stamp in nanoseconds.
    pub unit_ns: u64,
}

/// A number further from now is no time but, for example, an article number, or an id with a date of its own.
const NEAR_NS: u64 = 30 * 86_400 * 1_000_000_000;

impl Stamped {
    /// The stamp of a message: a number of 13, 16 or 19 digits, in milliseconds, microseconds or nanoseconds since
    /// 1970, within a month of `now_unix_ns`. Of several such numbers, the finest counts.
    pub fn from_message(message: &[u8], now_unix_ns: u64) -> Option<Self> {
        let numbers = message.split(|byte| !byte.is_ascii_digit()).filter_map(Self::read);
        let is_near = |stamped: &Self| stamped.unix_ns.abs_diff(now_unix_ns) < NEAR_NS;
        numbers.filter(is_near).min_by_key(|stamped| stamped.unit_ns)
    }

    fn read(digits: &[u8]) -> Option<Self> {
        let unit_ns: u64 = match digits.len() {
            13 => 1_000_000,
            16 => 1_000,
            19 => 1,
            _ => return None,
        };
        let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        Some(Self { unix_ns: number.checked_mul(unit_ns)?, unit_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_the_finest_number_that_can_be_a_time() {
        for (message, stamp) in [
            ("1732200000123", Some((1_732_200_000_123_000_000, 1_000_000))),
            ("1732200000123456", Some((1_732_200_000_123_456_000, 1_000))),
            (r#"{"ms":1732200000123,"ns":1732200000123456789}"#, Some((1_732_200_000_123_456_789, 1))),
            ("12 apples", None),
            ("", None),
            // An article, a card and an id, alone and beside a time.
            (r#"{"ean":4006381333931}"#, None),
            ("4111111111111111 1732200000123", Some((1_732_200_000_123_000_000, 1_000_000))),
            (r#"{"id":"1311234567890123456","at":1732200000123456}"#, Some((1_732_200_000_123_456_000, 1_000))),
            ("9999999999999999999", None),
        ] {
            let read = Stamped::from_message(message.as_bytes(), 1_732_200_100_000_000_000);
            assert_eq!(read.map(|stamped| (stamped.unix_ns, stamped.unit_ns)), stamp, "{message}");
        }
    }
}
