//! The settings of a run as a suite's `[run]` table or the flags give them: each may be absent.

use serde::{Deserialize, Deserializer};
use tare_units::{Span, parse_quantity};

use crate::engine::Engine;
use crate::server_clock::ServerClock;
use crate::slo::{Curve, LoadBy};

/// Every setting of a run. The keys of `[run]` and the long flags of `tare run` are these names.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Names or globs of servers.
    pub servers: Option<Vec<String>>,
    /// Names or globs of scenarios.
    pub scenarios: Option<Vec<String>>,
    /// The server that all others are weighed against.
    pub baseline: Option<String>,
    /// Versions of the library, each weighed against the baseline built with it.
    pub versions: Option<Vec<String>>,
    /// A server to weigh against itself.
    pub aa: Option<String>,
    /// Closed-loop users; also the connections of an open load.
    pub users: Option<u32>,
    /// Rate of the open slices: requests per second, or a share of the capacity (`"50%"`).
    pub rate: Option<RateOption>,
    /// Seconds per cell of a plain sequential run.
    pub duration: Option<Span>,
    /// Time for the whole run.
    pub budget: Option<Span>,
    /// A fixed number of starts.
    pub forks: Option<u32>,
    /// No decision before so many starts.
    pub at_least: Option<u32>,
    /// Stop once each interval's half-width is this small.
    pub precision: Option<Percent>,
    /// Region of practical equivalence.
    pub region: Option<Percent>,
    /// Error probability of each comparison.
    pub alpha: Option<f64>,
    /// `"steady"`, or a fixed time.
    pub warmup: Option<WarmupOption>,
    /// Longest warm-up of a scenario in one fork.
    pub warmup_cap: Option<Span>,
    /// The same of the first scenario of a fork.
    pub warmup_first_cap: Option<Span>,
    /// Users of a fixed warm-up.
    pub warmup_users: Option<u32>,
    /// Give servers all cores while they warm up.
    pub warmup_all_cpus: Option<bool>,
    /// Length of a slice.
    pub slice: Option<Span>,
    /// Head of each slice that is dropped.
    pub discard: Option<Span>,
    /// Rounds of saturating slices per fork.
    pub saturating: Option<u32>,
    /// Rounds of slices at one constant rate per fork.
    pub fixed: Option<u32>,
    /// Rounds of Poisson slices per fork.
    pub poisson: Option<u32>,
    /// Rounds of pushed messages per fork.
    pub push: Option<u32>,
    /// Instead of slices: search for the largest load that keeps this curve.
    pub slo: Option<Curve>,
    /// What that load is counted in, `"users"` or `"rate"`.
    pub slo_by: Option<LoadBy>,
    /// No more users, or no higher rate, is tried.
    pub slo_most: Option<u32>,
    /// How long each try lasts.
    pub slo_each: Option<Span>,
    /// Messages that a user reads in a scenario in which the server sends.
    pub messages: Option<u32>,
    /// Add a second start of the baseline to each group (the A/A control).
    pub control: Option<bool>,
    /// What one start serves: all scenarios of its group, or one.
    pub fork_covers: Option<ForkCovers>,
    /// A request unanswered for so long has failed.
    pub timeout: Option<Span>,
    /// TCP congestion control of the generator.
    pub congestion: Option<String>,
    /// Stay awake in open slices.
    pub spin: Option<bool>,
    /// Whose clock stamps what servers push.
    pub server_clock: Option<ServerClock>,
    /// Other load tools that drive each cell of a plain sequential run after tare has.
    pub engine: Option<Vec<Engine>>,
    /// Cores of the servers.
    pub server_cpus: Option<String>,
    /// Cores of the generator.
    pub load_cpus: Option<String>,
    /// Options of every JVM server.
    pub jvm_options: Option<Vec<String>>,
    /// `-XX:ActiveProcessorCount` of every JVM server.
    pub jvm_cpus: Option<u32>,
    /// JDK home.
    pub java: Option<String>,
    /// A server that is not ready by then has failed.
    pub startup_timeout: Option<Span>,
    /// After SIGTERM, how long until SIGKILL.
    pub stop_grace: Option<Span>,
    /// Seed of every random order.
    pub seed: Option<u64>,
    /// Meters of hiccups, on the servers' cores and inside each JVM.
    pub hiccups: Option<bool>,
}

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
            Self::OfCapacity(share) => write!(f, "{}% of the slowest variant's capacity", share * 100.0),
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

/// What one start of a server serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForkCovers {
    /// All scenarios of its group, in random order: quicker.
    Group,
    /// One scenario: a fresh server for each cell.
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
