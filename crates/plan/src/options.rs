//! Types of settings, as a suite's `[run]` table or a flag writes them.

use serde::{Deserialize, Deserializer};
use tare_units::{Span, parse_quantity};

use crate::slo::Curve;

/// A percentage, written `2`, `2.5` or `"2 %"`; held as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

impl std::str::FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().trim_end_matches('%').trim_end();
        match number.parse::<f64>() {
            Ok(value) if (0.0..=100.0).contains(&value) => Ok(Self(value / 100.0)),
            _ => Err(format!("\"{text}\" is not a percentage from 0 to 100, such as 2 or 2.5%")),
        }
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_number(deserializer, "a percentage such as 2 or \"2%\"")
    }
}

/// Rate of the open slices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateOption {
    /// Requests per second.
    PerSecond(f64),
    /// Share of the slowest variant's capacity (0–1).
    OfCapacity(f64),
}

impl std::str::FromStr for RateOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a rate; write 4000 or 20k (per second) or 50% (of capacity)");
        if text.trim_end().ends_with('%') {
            let Percent(share) = text.parse().map_err(|_| wrong())?;
            return if share > 0.0 && share < 1.0 { Ok(Self::OfCapacity(share)) } else { Err(wrong()) };
        }
        match parse_quantity(text) {
            Ok(per_s) if per_s > 0.0 && per_s <= 1e8 => Ok(Self::PerSecond(per_s)),
            _ => Err(wrong()),
        }
    }
}

impl std::fmt::Display for RateOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::PerSecond(per_s) => write!(f, "{per_s}/s"),
            Self::OfCapacity(share) => write!(f, "{}% of the slowest variant's throughput", share * 100.0),
        }
    }
}

impl<'de> Deserialize<'de> for RateOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_number(deserializer, "a rate: 4000 (per second) or \"50%\" (of capacity)")
    }
}

/// How to warm up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmupOption {
    /// Until steady.
    Steady,
    /// A fixed time.
    Fixed(Span),
}

impl std::str::FromStr for WarmupOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "steady" {
            return Ok(Self::Steady);
        }
        text.parse().map(Self::Fixed).map_err(|_| format!("\"{text}\" is neither \"steady\" nor a duration such as 5s"))
    }
}

impl<'de> Deserialize<'de> for WarmupOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_number(deserializer, "\"steady\" or a duration such as \"5s\"")
    }
}

/// What one start of a server measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForkCovers {
    /// All scenarios of its group, in random order: quicker.
    #[default]
    Group,
    /// One scenario: a new start for each cell.
    Scenario,
}

impl ForkCovers {
    /// `group` or `scenario`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Scenario => "scenario",
        }
    }
}

impl std::str::FromStr for ForkCovers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "group" => Ok(Self::Group),
            "scenario" => Ok(Self::Scenario),
            _ => Err(format!("\"{text}\" is neither \"group\" nor \"scenario\"")),
        }
    }
}

impl<'de> Deserialize<'de> for Curve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_number(deserializer, "a curve of latencies such as \"p90<2ms,p99<4ms\"")
    }
}

/// Reads a value that may be written as a string or as a number, through its `FromStr`.
fn text_or_number<'de, D, T>(deserializer: D, expecting: &'static str) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr<Err = String>,
{
    struct Visitor<T>(&'static str, std::marker::PhantomData<T>);
    impl<T: std::str::FromStr<Err = String>> serde::de::Visitor<'_> for Visitor<T> {
        type Value = T;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
        fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
        fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }
    deserializer.deserialize_any(Visitor(expecting, std::marker::PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Options;

    #[test]
    fn percentages_and_rates_are_read_as_written() {
        assert_eq!("2%".parse(), Ok(Percent(0.02)));
        assert_eq!("2".parse(), Ok(Percent(0.02)));
        assert_eq!("50%".parse(), Ok(RateOption::OfCapacity(0.5)));
        assert_eq!("4000".parse(), Ok(RateOption::PerSecond(4000.0)));
        assert_eq!("20k".parse(), Ok(RateOption::PerSecond(20_000.0)));
        for wrong in ["0", "100%", "-1", "fast", "nan", "inf"] {
            assert!(wrong.parse::<RateOption>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_table_takes_numbers_and_text() {
        let options: Options = toml::from_str("rate = 4000\nwarmup = 5\nregion = \"2%\"\nbudget = \"4m\"").unwrap();
        assert_eq!(options.rate, Some(RateOption::PerSecond(4000.0)));
        assert_eq!(options.warmup, Some(WarmupOption::Fixed(Span::from_secs(5))));
        assert_eq!(options.region, Some(Percent(0.02)));
        assert_eq!(options.budget, Some(Span::from_secs(240)));
    }
}
