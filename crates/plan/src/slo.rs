//! A curve of latencies that a load must keep (`p90<2ms,p99<4ms,p99.9<8ms`), and the range in which the largest such load
//! is searched.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Metric};
use crate::contract::Scenario;
use tare_units::{Span, named_values, serde_as_text};

/// The curve to keep, and the loads to try.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slo {
    pub curve: Curve,
    /// What the search increases where the client sends requests. Where the server pushes, it is always users.
    pub by: LoadBy,
    pub most_users: u32,
    pub most_per_s: f64,
    /// How long each try lasts, its head included.
    pub each: Span,
}

/// The most users that are tried, where the given limit is a rate and would be too many users.
const MOST_USERS_BESIDE_A_RATE: u32 = 4_096;

impl Slo {
    /// Tries no load above `most`, in users and in requests per second.
    pub(crate) fn limit_to(&mut self, most: u32) {
        let is_number_of_users = self.by == LoadBy::Users || most <= 60_000;
        self.most_users = if is_number_of_users { most } else { MOST_USERS_BESIDE_A_RATE };
        self.most_per_s = f64::from(most);
    }

    pub fn grows_by(&self, scenario: &Scenario) -> LoadBy {
        if scenario.push.is_some() { LoadBy::Users } else { self.by }
    }

    /// The first load tried, and the largest.
    pub fn load_range(&self, by: LoadBy) -> (f64, f64) {
        match by {
            LoadBy::Users => (16.0, f64::from(self.most_users)),
            LoadBy::Rate => (200.0, self.most_per_s),
        }
    }
}

named_values! {
    #[derive(Default)]
    pub enum LoadBy: "what a load is counted in" {
        /// Users of the closed loop, or who listen to what is pushed.
        Users = "users",
        /// Requests per second of an open Poisson load.
        #[default]
        Rate = "rate",
    }
}

/// Conditions that must all be met.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve(pub Vec<Condition>);

serde_as_text!(Curve);

impl FromStr for Curve {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let conditions: Vec<Condition> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let grows = |condition: &&Condition| condition.metric == Metric::Throughput || condition.above;
        if let Some(wrong) = conditions.iter().find(grows) {
            return Err(format!(
                "\"{}\" is easier to keep the larger the load; write upper limits, such as p99<4ms or errors<0.1%",
                wrong.text
            ));
        }
        let is_of_load = |condition: &&Condition| {
            condition.url.is_some() || matches!(condition.metric, Metric::Status(..) | Metric::StatusShare(..))
        };
        if let Some(wrong) = conditions.iter().find(is_of_load) {
            return Err(format!("\"{}\" is for --fail-if of tare load; a curve limits all requests", wrong.text));
        }
        match conditions.iter().find(|condition| !condition.is_met_by(0.0)) {
            Some(wrong) => Err(format!("no load keeps \"{}\"; write a limit above 0, or errors<=0", wrong.text)),
            None => Ok(Self(conditions)),
        }
    }
}

impl std::fmt::Display for Curve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts: Vec<&str> = self.0.iter().map(|condition| condition.text.as_str()).collect();
        f.write_str(&texts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_a_list_of_upper_limits() {
        let curve: Curve = "p90<2ms, p99<4ms,p99.9<8ms,errors<0.1%".parse().unwrap();
        assert_eq!((curve.0.len(), curve.to_string()), (4, "p90<2ms,p99<4ms,p99.9<8ms,errors<0.1%".to_owned()));
        for (wrong, why) in [
            ("p99>4ms", "easier to keep the larger the load"),
            ("rps<1000", "easier to keep the larger the load"),
            ("p99<4ms,", "neither > nor <"),
            ("p99", "neither > nor <"),
            ("p99<0ms", "no load keeps \"p99<0ms\""),
            ("p99<4ms,errors<0", "no load keeps \"errors<0\"; write a limit above 0, or errors<=0"),
        ] {
            let error = wrong.parse::<Curve>().unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
