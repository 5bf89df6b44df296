//! The stamp in a message: when the server sent it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// Nanoseconds since 1970.
    pub unix_ns: u64,
    /// The unit of the stamp in nanoseconds.
    pub unit_ns: u64,
}

impl Stamped {
    /// The stamp of a message: a number of 13, 16 or 19 digits, in milliseconds, microseconds or nanoseconds since
    /// 1970. Of several numbers, the finest counts.
    pub fn from_message(message: &[u8]) -> Option<Self> {
        let numbers = message.split(|byte| !byte.is_ascii_digit());
        numbers.filter_map(Self::read).min_by_key(|stamped| stamped.unit_ns)
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
            ("9999999999999999999", Some((9_999_999_999_999_999_999, 1))),
            ("9999999999999999 x", Some((9_999_999_999_999_999_000, 1_000))),
        ] {
            let read = Stamped::from_message(message.as_bytes());
            assert_eq!(read.map(|stamped| (stamped.unix_ns, stamped.unit_ns)), stamp, "{message}");
        }
    }
}
