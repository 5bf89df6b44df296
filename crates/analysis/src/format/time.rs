//! A wall-clock time as text: RFC 3339 in UTC, to the second.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// `2026-11-20T20:09:45Z` from nanoseconds since 1970.
pub fn rfc3339(unix_ns: u64) -> String {
    let time = OffsetDateTime::from_unix_timestamp((unix_ns / 1_000_000_000) as i64).expect("a year below 2600");
    time.format(&Rfc3339).expect("RFC 3339 has years of four digits")
}

/// A time in UTC, from RFC 3339 with any offset or from a date: `2026-11-20T10:00:00+01:00` is `2026-11-20T09:00:00Z`.
pub fn utc(text: &str) -> Option<String> {
    let text = text.trim();
    let first_moment = if text.len() == "2026-11-20".len() { "T00:00:00Z" } else { "" };
    let time = OffsetDateTime::parse(&format!("{text}{first_moment}"), &Rfc3339).ok()?;
    let seconds = u64::try_from(time.unix_timestamp()).ok()?;
    Some(rfc3339(seconds.checked_mul(1_000_000_000)?))
}

#[cfg(test)]
mod tests {
    use super::{rfc3339, utc};

    #[test]
    fn a_time_is_read_with_its_offset_and_a_date_is_its_first_moment() {
        for (text, expected) in [
            ("2026-11-20T20:09:45Z", Some("2026-11-20T20:09:45Z")),
            ("2026-11-20 20:09:45.123Z", Some("2026-11-20T20:09:45Z")),
            ("2024-03-01T00:30:00+01:00", Some("2024-02-29T23:30:00Z")),
            ("2025-12-31T23:30:00-01:00", Some("2026-01-01T00:30:00Z")),
            ("2026-11-20", Some("2026-11-20T00:00:00Z")),
            ("2026-02-30", None),
            ("2026-11-20T20:09:45", None),
            ("20 November", None),
            ("2026-13-01", None),
            ("1969-12-31", None),
            ("9999-12-31T23:59:59-01:00", None),
            ("", None),
        ] {
            assert_eq!(utc(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn times_agree_with_the_date_command() {
        for (unix_s, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_799, "2024-02-28T23:59:59Z"),
            (1_795_205_385, "2026-11-20T20:09:45Z"),
        ] {
            assert_eq!(rfc3339(unix_s * 1_000_000_000), text);
        }
        assert!(rfc3339(u64::MAX).starts_with("2554-"));
    }
}
