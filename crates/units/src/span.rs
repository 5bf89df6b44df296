//! Durations as people write them: `500ms`, `25s`, `4m`, `1h30m`, or plain seconds.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration in a suite file, a flag or a plan. Files hold it as text with its unit, and [`Display`](std::fmt::Display)
/// writes that text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub Duration);

impl Span {
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    pub const fn from_secs(secs: u64) -> Self {
        Self(Duration::from_secs(secs))
    }

    pub const fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Seconds as a float, for arithmetic on estimates.
    pub fn as_seconds(self) -> f64 {
        self.0.as_secs_f64()
    }
}

/// The longest duration that a text may state: a hundred years. Sums of several of them have no limit in practice.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a duration; write for example 500ms, 25s, 4m or 1h30m");
        let too_long = || format!("\"{text}\" is longer than a hundred years; write for example 25s, 4m or 1h30m");
        let of_secs = |secs: f64| match Duration::try_from_secs_f64(secs) {
            Ok(span) if span <= LONGEST => Ok(span),
            Err(_) if !(secs > 0.0 && secs.is_finite()) => Err(wrong()),
            _ => Err(too_long()),
        };
        if let Ok(secs) = text.parse::<f64>() {
            return of_secs(secs).map(Self);
        }
        let mut total = Duration::ZERO;
        let mut rest = text.trim();
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
            let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
            let unit_end = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
            let unit_secs = match rest[digits..unit_end].trim() {
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                _ => return Err(wrong()),
            };
            // Neither is longer than a hundred years.
            total += of_secs(number * unit_secs)?;
            if total > LONGEST {
                return Err(too_long());
            }
            rest = &rest[unit_end..];
        }
        if text.trim().is_empty() { Err(wrong()) } else { Ok(Self(total)) }
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let micros = self.0.as_micros();
        if !micros.is_multiple_of(1_000) {
            write!(f, "{micros}us")
        } else if !micros.is_multiple_of(1_000_000) {
            write!(f, "{}ms", micros / 1_000)
        } else {
            let secs = self.0.as_secs();
            match (secs / 3600, secs / 60 % 60, secs % 60) {
                (0, 0, s) => write!(f, "{s}s"),
                (0, m, 0) => write!(f, "{m}m"),
                (0, m, s) => write!(f, "{m}m{s}s"),
                (h, 0, 0) => write!(f, "{h}h"),
                (h, m, 0) => write!(f, "{h}h{m}m"),
                (h, m, s) => write!(f, "{h}h{m}m{s}s"),
            }
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        #[serde(expecting = "invalid value, expected a duration such as \"25s\" or \"4m\", or a number of seconds")]
        enum Written {
            Text(String),
            Seconds(f64),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Text(text) => text,
            Written::Seconds(seconds) => seconds.to_string(),
        };
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in [
            ("25", 25_000),
            ("0.5", 500),
            ("500ms", 500),
            ("25s", 25_000),
            ("4m", 240_000),
            ("1h30m", 5_400_000),
            ("1m30s", 90_000),
        ] {
            assert_eq!(text.parse::<Span>(), Ok(Span::from_millis(millis)), "{text}");
        }
        for text in ["", "abc", "5 parsecs", "-3", "s", "1e999"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_beyond_a_hundred_years_is_refused_instead_of_overflowing() {
        for text in ["18446744073709551615", "1e300", "18000000000000000000s18000000000000000000s", "99999999h"] {
            let error = text.parse::<Span>().unwrap_err();
            assert!(error.contains("longer than a hundred years"), "{text}: {error}");
        }
        assert_eq!("800000h".parse::<Span>(), Ok(Span::from_secs(800_000 * 3600)));
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let millis = [0, 1, 50, 500, 1_000, 1_500, 12_500, 25_000, 90_000, 240_000, 3_600_000, 5_400_000, 3_661_000];
        let spans = millis.map(Span::from_millis).into_iter();
        for span in spans.chain([250, 1_500, 43_200_250].map(|micros| Span(Duration::from_micros(micros)))) {
            assert_eq!(span.to_string().parse::<Span>(), Ok(span), "{span}");
        }
    }
}
