//! What a report says of numbers and times: changes, places, sentences. `tare_units` has the numbers themselves.

pub mod clocks;

use tare_plan::plan::Plan;
use tare_stats::Estimate;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub use tare_units::{
    Scale, Unit, and, count, duration, enumerate, exact_duration, fixed, grouped, rate, roughly, share, single,
    to_within,
};

/// Longer forecasts are not shown: estimate and spread do not stay the same that long.
pub const WORTH_WAITING_S: f64 = 30.0 * 60.0;

/// A ratio with its bounds, to be said as a change in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    pub ratio: f64,
    pub bounds: Option<(f64, f64)>,
}

/// Of a ratio.
impl From<Estimate> for Change {
    fn from(ratio: Estimate) -> Self {
        Self { ratio: ratio.value, bounds: ratio.lo.zip(ratio.hi) }
    }
}

/// An interval whose bounds differ by more than this factor is of no use to a reader.
const TELLING: f64 = 9.0;

/// From this ratio on a change is told as a factor: `×7.9` reads better than `+689 %`.
const TOLD_AS_FACTOR: f64 = 3.0;

impl Change {
    /// `8.1 % [7.2, 9.0]`, for use after a word that gives the direction.
    pub fn magnitude(&self) -> String {
        let (value, interval) = self.size();
        value + &interval
    }

    /// `8.1 %` and ` [7.2, 9.0]`, which is empty without bounds; of a factor `×7.9` and ` [6.9, 9.1]`.
    pub fn size(&self) -> (String, String) {
        let sign = if self.ratio < 1.0 { -1.0 } else { 1.0 };
        let percent = |ratio: f64| fixed(sign * (ratio - 1.0) * 100.0, self.decimals());
        let (value, show): (String, &dyn Fn(f64) -> String) = match self.factor() {
            Some(factor) => (factor, &times),
            None => (format!("{} %", percent(self.ratio)), &percent),
        };
        let interval = self.bounds.map_or_else(String::new, |(lo, hi)| {
            let (near, far) = if sign < 0.0 { (hi, lo) } else { (lo, hi) };
            format!(" [{}, {}]", show(near), show(far))
        });
        (value, interval)
    }

    /// `−3.0 % [−7.1, +1.0]`, for use where no direction can be stated; bounds that are too wide are left out.
    pub fn signed_interval(&self) -> String {
        let value = self.short();
        if self.bounds.is_some_and(|(lo, hi)| hi > lo * TELLING) {
            return format!("{value} [too wide yet]");
        }
        let percent = |ratio: f64| plus(&fixed((ratio - 1.0) * 100.0, self.decimals()));
        let show: &dyn Fn(f64) -> String = if self.factor().is_some() { &times } else { &percent };
        self.bounds.map_or_else(|| value.clone(), |(lo, hi)| format!("{value} [{}, {}]", show(lo), show(hi)))
    }

    /// `+8.2 %`, `×7.9`.
    pub fn short(&self) -> String {
        let percent = || format!("{} %", plus(&fixed((self.ratio - 1.0) * 100.0, self.decimals())));
        self.factor().unwrap_or_else(percent)
    }

    fn factor(&self) -> Option<String> {
        (self.ratio >= TOLD_AS_FACTOR).then(|| format!("×{}", times(self.ratio)))
    }

    /// As many digits as the width of the interval allows, and more where the end of an interval without 0 would read
    /// as 0.
    pub fn decimals(&self) -> usize {
        let Some((lo, hi)) = self.bounds else { return 1 };
        let least = match (hi - lo) * 100.0 {
            width if width >= 5.0 => 0,
            width if width < 0.5 => 2,
            _ => 1,
        };
        let distance = (lo - 1.0).max(1.0 - hi) * 100.0;
        (least..=2).find(|decimals| distance * 10_f64.powi(*decimals as i32) > 0.5).unwrap_or(least)
    }
}

/// With a capital, unless it begins with the name of a percentile (`p99`).
pub fn capital(text: &str) -> String {
    let word = text.split([' ', ',']).next().unwrap_or("");
    let is_plain = word.chars().all(|c| c.is_ascii_lowercase());
    let mut letters = text.chars();
    match letters.next().filter(|_| is_plain) {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text.to_owned(),
    }
}

/// `core 0`, `cores 0-2`.
fn cores(list: &str) -> String {
    let one = list.chars().all(|c| c.is_ascii_digit());
    format!("core{} {list}", if one { "" } else { "s" })
}

/// Where servers and generator run: `server: core 0 on ssh://bench1 · generator: agents at ssh://bench2`.
pub fn places(plan: &Plan) -> String {
    let machine = &plan.machine;
    let server = if plan.never_restarts() { "not started by tare".to_owned() } else { cores(&machine.server_cpus) };
    let on_host = machine.server_host.as_ref().map_or_else(String::new, |host| format!(" on {host}"));
    let generator = match machine.agents.as_slice() {
        [] => cores(&machine.load_cpus),
        agents => format!("agents at {}", agents.join(", ")),
    };
    format!("server: {server}{on_host} · generator: {generator}")
}

pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', '!', '?', '…', ':']) { text.to_owned() } else { format!("{text}.") }
}

/// `+2.50 µs [+2.00, +3.00]`, of a difference.
pub fn signed(difference: Estimate, scale: Scale) -> String {
    let shown = |value: f64| {
        let digits = scale.show(value.abs()).replace(scale.unit(), "");
        format!("{}{}", if value < 0.0 { "−" } else { "+" }, digits.trim_end())
    };
    let bounds = difference.lo.zip(difference.hi).map(|(lo, hi)| format!(" [{}, {}]", shown(lo), shown(hi)));
    format!("{} {}{}", shown(difference.value), scale.unit(), bounds.unwrap_or_default())
}

pub fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters - 1).chain(['…']).collect()
}

/// A share with the digits that are shown of it (to a tenth of a percent, above 10 % to one), never below the value.
pub(crate) fn rounded_up(share: f64) -> f64 {
    let step = if share < 0.1 { 1_000.0 } else { 100.0 };
    (share * step).ceil() / step
}

fn times(ratio: f64) -> String {
    fixed(ratio, if ratio < 9.95 { 1 } else { 0 })
}

fn plus(text: &str) -> String {
    let zero = text.chars().all(|c| c == '0' || c == '.');
    if zero || text.starts_with('−') { text.to_owned() } else { format!("+{text}") }
}

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
    use super::*;

    #[test]
    fn a_change_carries_the_digits_that_its_interval_allows() {
        let change = |ratio, lo, hi| Change { ratio, bounds: Some((lo, hi)) };
        assert_eq!(change(0.919, 0.91, 0.928).magnitude(), "8.1 % [7.2, 9.0]");
        assert_eq!(change(1.06, 1.01, 1.11).magnitude(), "6 % [1, 11]");
        assert_eq!(change(1.0612, 1.0601, 1.0623).magnitude(), "6.12 % [6.01, 6.23]");
        assert_eq!(change(0.97, 0.929, 1.01).signed_interval(), "−3 % [−7, +1]");
        assert_eq!(change(0.9999, 0.99, 1.01).signed_interval(), "0.0 % [−1.0, +1.0]");
        assert_eq!(Change { ratio: 0.919, bounds: None }.magnitude(), "8.1 %");
        assert_eq!(change(0.88, 0.01, 800.0).signed_interval(), "−12 % [too wide yet]");
        assert_eq!(change(1.07, 1.003, 1.14).magnitude(), "7.0 % [0.3, 14.0]", "it does not contain 0");
        assert_eq!(change(0.93, 0.852, 0.9996).signed_interval(), "−7.00 % [−14.80, −0.04]");
        let large = change(7.89, 6.91, 9.12);
        assert_eq!((large.magnitude(), large.short()), ("×7.9 [6.9, 9.1]".to_owned(), "×7.9".to_owned()));
        assert_eq!(large.signed_interval(), "×7.9 [6.9, 9.1]");
        assert_eq!(change(59.6, 7.2, 494.0).signed_interval(), "×60 [too wide yet]");
    }

    #[test]
    fn a_sentence_has_one_full_stop() {
        assert_eq!(["It died", "Why?", ""].map(sentence), ["It died.", "Why?", ""]);
    }

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
