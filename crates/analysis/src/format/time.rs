//! A wall-clock time as text. Only what a report needs: RFC 3339 in UTC, to the second.

/// `2026-11-20T20:09:45Z` from nanoseconds since 1970.
///
/// # Source
/// Days to date: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
pub fn rfc3339(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Years begin in March here, so that the leap day is their last.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

/// A time in UTC, from RFC 3339 with any offset or from a date: `2026-11-20T10:00:00+01:00` is `2026-11-20T09:00:00Z`.
///
/// # Source
/// Date to days: `days_from_civil` of the same page.
pub fn utc(text: &str) -> Option<String> {
    let (date, time) = text.trim().split_once(['T', ' ']).unwrap_or((text.trim(), "00:00:00Z"));
    let numbers = |text: &str, separator: char| -> Option<[i64; 3]> {
        let parts: Option<Vec<i64>> =
            text.split(separator).map(|part| part.parse::<u16>().ok().map(i64::from)).collect();
        parts?.try_into().ok()
    };
    let ([year, month, day], at) = (numbers(date, '-')?, time.find(['Z', 'z', '+', '-'])?);
    let [hour, minute, second] = numbers(time[..at].split('.').next()?, ':')?;
    let offset_minutes = match &time[at..] {
        "Z" | "z" => 0,
        offset => {
            let (hours, minutes) = offset[1..].split_once(':')?;
            let minutes = hours.parse::<u8>().ok()? as i64 * 60 + i64::from(minutes.parse::<u8>().ok()?);
            if offset.starts_with('-') { -minutes } else { minutes }
        }
    };
    let is_date = (1970..2200).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let years = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (years / 400, years % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + (minute - offset_minutes) * 60 + second;
    // A day that the month does not have is written as one of the next month.
    let utc = rfc3339(u64::try_from(seconds).ok()? * 1_000_000_000);
    Some(utc).filter(|utc| offset_minutes != 0 || utc.starts_with(date))
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
    }
}
