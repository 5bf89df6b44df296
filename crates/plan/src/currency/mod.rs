//! What servers are compared in: one row for each currency, with its name, unit, better direction and words.

pub mod ratio_limit;

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tare_stats::Polarity;

/// What is fixed about a currency.
#[derive(Debug, Clone, Copy)]
pub struct CurrencyFacts {
    /// As in JSON and CSV: `cpu_per_request`.
    pub name: &'static str,
    /// As people name it in a limit; the first one in a flag.
    pub limit_names: &'static [&'static str],
    /// In tables: `CPU/request`. A comparison may say more, such as the load.
    pub label: &'static str,
    /// In sentences: `CPU per request`; `None` where the comparison's own label serves.
    pub noun: Option<&'static str>,
    /// Unit of the two values: `per_s`, `users`, `ns`, `bytes` or `share`.
    pub unit: &'static str,
    pub polarity: Polarity,
    /// One word for a worse and for a better variant: `slower`, `faster`.
    pub words: [&'static str; 2],
    /// What a server does: `uses`.
    pub verb: &'static str,
    /// Of what, with a ratio below and above 1: `less CPU per request`, `more CPU per request`. The first word gives the
    /// direction. `{}` stands for the label.
    pub objects: [&'static str; 2],
    pub latency: Option<LatencyFigure>,
    /// Whether it is compared only where a limit names it. Every measure that is compared makes the others wait longer.
    pub by_limit_alone: bool,
}

/// A figure of response times that is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LatencyFigure {
    /// A percentile (0–100) of all.
    Percentile(f64),
    /// A percentile of those requests that met neither a stop of the server nor a stall.
    WithoutStops(f64),
    /// The share of requests that met a stop of the server.
    MetStopShare,
    /// The share of requests that took longer than the time in a limit.
    SlowerShare,
}

macro_rules! currencies {
    ($($(#[$doc:meta])* $variant:ident = $name:tt { $($field:ident: $value:expr),* $(,)? })*) => {
        /// What a variant and its baseline are compared in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Currency {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Currency {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn facts(self) -> &'static CurrencyFacts {
                match self {
                    $(Self::$variant => &CurrencyFacts { name: $name, $($field: $value),* },)*
                }
            }
        }
    };
}

currencies! {
    /// The largest load that keeps a curve.
    Capacity = "capacity" {
        limit_names: &["capacity"],
        label: "capacity", noun: None, unit: "per_s", polarity: Polarity::HigherIsBetter, latency: None, by_limit_alone: false,
        words: ["carries less", "carries more"], verb: "carries",
        objects: ["less load ({})", "more load ({})"],
    }
    /// Right answers per second under a saturating load.
    Throughput = "throughput" {
        limit_names: &["throughput", "rps"],
        label: "throughput", noun: None, unit: "per_s", polarity: Polarity::HigherIsBetter, latency: None, by_limit_alone: false,
        words: ["slower", "faster"], verb: "answers",
        objects: ["fewer requests per second", "more requests per second"],
    }
    CpuPerRequest = "cpu_per_request" {
        limit_names: &["cpu", "cpu_per_request"],
        label: "CPU/request", noun: Some("CPU per request"), unit: "ns", polarity: Polarity::LowerIsBetter, latency: None, by_limit_alone: false,
        words: ["more CPU", "less CPU"], verb: "uses",
        objects: ["less CPU per request", "more CPU per request"],
    }
    AllocatedPerRequest = "allocated_per_request" {
        limit_names: &["allocated", "allocated_per_request"],
        label: "allocated/request", noun: Some("allocation per request"), unit: "bytes", polarity: Polarity::LowerIsBetter,
        latency: None, by_limit_alone: false, words: ["heavier", "lighter"],
        verb: "allocates", objects: ["fewer bytes per request", "more bytes per request"],
    }
    LatencyP50 = "latency_p50" {
        limit_names: &["p50", "latency_p50"],
        label: "p50", noun: None, unit: "ns", polarity: Polarity::LowerIsBetter, latency: Some(LatencyFigure::Percentile(50.0)), by_limit_alone: false,
        words: ["later", "sooner"], verb: "has", objects: ["lower {}", "higher {}"],
    }
    LatencyP99 = "latency_p99" {
        limit_names: &["p99", "latency_p99"],
        label: "p99", noun: None, unit: "ns", polarity: Polarity::LowerIsBetter, latency: Some(LatencyFigure::Percentile(99.0)), by_limit_alone: false,
        words: ["later", "sooner"], verb: "has", objects: ["lower {}", "higher {}"],
    }
    LatencyP999 = "latency_p99_9" {
        limit_names: &["p99.9", "latency_p99_9"],
        label: "p99.9", noun: None, unit: "ns", polarity: Polarity::LowerIsBetter,
        latency: Some(LatencyFigure::Percentile(99.9)), by_limit_alone: true,
        words: ["later", "sooner"], verb: "has", objects: ["lower {}", "higher {}"],
    }
    /// 99th percentile of the response time of requests that met neither a stop of the server nor a stall.
    LatencyP99NoStops = "latency_p99_no_stops" {
        limit_names: &["p99(no stops)", "p99_no_stops", "latency_p99_no_stops"],
        label: "p99 without stops", noun: None, unit: "ns", polarity: Polarity::LowerIsBetter,
        latency: Some(LatencyFigure::WithoutStops(99.0)), by_limit_alone: false,
        words: ["later", "sooner"], verb: "has", objects: ["lower {}", "higher {}"],
    }
    StoppedPerRequest = "stopped_per_request" {
        limit_names: &["stopped", "stopped_per_request"],
        label: "stopped/request", noun: Some("stopped time per request"), unit: "ns", polarity: Polarity::LowerIsBetter,
        latency: None, by_limit_alone: false,
        words: ["longer stops", "shorter stops"], verb: "has",
        objects: ["less stopped time per request", "more stopped time per request"],
    }
    LatencyMetStop = "latency_met_stop" {
        limit_names: &["met stop", "met_stop", "latency_met_stop"],
        label: "requests that met a stop", noun: None, unit: "share", polarity: Polarity::LowerIsBetter,
        latency: Some(LatencyFigure::MetStopShare), by_limit_alone: false,
        words: ["more stops met", "fewer stops met"], verb: "has", objects: ["fewer {}", "more {}"],
    }
    LatencySlower = "latency_slower" {
        limit_names: &["slower", "latency_slower"],
        label: "slow requests", noun: None, unit: "share", polarity: Polarity::LowerIsBetter,
        latency: Some(LatencyFigure::SlowerShare), by_limit_alone: true,
        words: ["more slow requests", "fewer slow requests"], verb: "has", objects: ["fewer {}", "more {}"],
    }
}

impl Currency {
    /// The currency of this name in `summary.json`: `cpu_per_request`.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|currency| currency.facts().name == name)
    }

    /// Whether a ratio above 1 is a change for the worse.
    pub fn is_worse_above(self) -> bool {
        self.facts().polarity == Polarity::LowerIsBetter
    }

    pub const fn is_latency(self) -> bool {
        self.facts().latency.is_some()
    }

    /// The percentile of all response times that it is.
    pub const fn percentile(self) -> Option<f64> {
        match self.facts().latency {
            Some(LatencyFigure::Percentile(percentile)) => Some(percentile),
            _ => None,
        }
    }
}

/// The currency that people name so in a limit or a flag: `cpu`.
impl FromStr for Currency {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let of_name = Self::ALL.iter().find(|currency| currency.facts().limit_names.contains(&name));
        of_name.copied().ok_or_else(|| format!("there is no currency \"{name}\""))
    }
}
