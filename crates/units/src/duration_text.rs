//! Durations as they are read: rounded, exact, or on a running clock. [`Span`](crate::Span) writes those that are read back.

use std::time::Duration;

/// `40 s`, `6 min`, `2.5 h`, `25 days`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// A time as it was given, not rounded: `100 ms`, `1.5 s`, `2 min 30 s`, `1 h`.
pub fn exact_duration(span: Duration) -> String {
    let (micros, secs) = (span.as_micros(), span.as_secs());
    match micros {
        0 => return "0 s".to_owned(),
        1..1_000 => return format!("{micros} µs"),
        1_000..1_000_000 => return format!("{} ms", micros as f64 / 1e3),
        _ => {}
    }
    let seconds = (micros % 60_000_000) as f64 / 1e6;
    let whole = [(secs / 3_600, "h"), (secs / 60 % 60, "min")].into_iter().filter(|(number, _)| *number > 0);
    let parts = whole.map(|(number, unit)| format!("{number} {unit}"));
    parts.chain((seconds > 0.0).then(|| format!("{seconds} s"))).collect::<Vec<_>>().join(" ")
}

/// A time that is only known roughly: `40 s`, `7 min`, `25 min`, `1.5 h`.
pub fn roughly(seconds: f64) -> String {
    let step = match seconds {
        s if s < 90.0 => 10.0,
        s if s < 600.0 => 60.0,
        s if s < 5_400.0 => 300.0,
        _ => 1_800.0,
    };
    duration((seconds / step).round().max(1.0) * step)
}

/// Time on a running clock: `1:48`, or `2:05:09` from an hour on.
pub fn clock_text(span: Duration) -> String {
    let secs = span.as_secs();
    match secs / 3_600 {
        0 => format!("{}:{:02}", secs / 60, secs % 60),
        hours => format!("{hours}:{:02}:{:02}", secs / 60 % 60, secs % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_as_precise_as_they_are_known() {
        for (seconds, text) in
            [(0.25, "250 ms"), (40.2, "40 s"), (370.0, "6 min"), (9_000.0, "2.5 h"), (2e6, "23 days")]
        {
            assert_eq!(duration(seconds), text);
        }
        for (seconds, text) in
            [(38.0, "40 s"), (2.0, "10 s"), (400.0, "7 min"), (1_710.0, "30 min"), (6_000.0, "1.5 h")]
        {
            assert_eq!(roughly(seconds), text);
        }
    }

    #[test]
    fn a_time_that_was_given_is_not_rounded() {
        for (micros, text) in [
            (0, "0 s"),
            (250, "250 µs"),
            (1_500, "1.5 ms"),
            (100_000, "100 ms"),
            (1_500_000, "1.5 s"),
            (10_000_000, "10 s"),
            (60_000_000, "1 min"),
            (150_000_000, "2 min 30 s"),
            (3_600_000_000, "1 h"),
            (3_661_500_000, "1 h 1 min 1.5 s"),
        ] {
            assert_eq!(exact_duration(Duration::from_micros(micros)), text);
        }
    }

    #[test]
    fn a_clock_shows_hours_only_when_there_are_some() {
        for (secs, text) in [(0, "0:00"), (108, "1:48"), (3_599, "59:59"), (7_509, "2:05:09")] {
            assert_eq!(clock_text(Duration::from_secs(secs)), text);
        }
    }
}
