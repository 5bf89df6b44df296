//! Whose a change between two releases is: the layer's, or that of the server beneath it, whose libraries change too.

use std::collections::{BTreeMap, BTreeSet};

use tare_stats::{Interval, SD_FLOOR, SampleMean, StatsError};

use crate::format::count;
use crate::summary::{Comparison, CurrencyRatio, Summary};
use tare_plan::Currency;

/// The four cells of an attribution, by variant. The old release of the layer is the baseline of the run.
#[derive(Debug, Clone)]
pub struct ReleasePair {
    pub new_layer: String,
    pub old_server: String,
    pub new_server: String,
}

/// A change between two releases and its two parts, as shares of what the old release of the layer cost: 0.12 is 12 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attribution {
    pub whole: Interval,
    pub layer: Interval,
    pub server: Interval,
    /// The forks that it rests on: those that count in all three comparisons.
    pub forks: u32,
    /// The forks that were compared and do not count: a server was missing in them, or settled in another mode.
    pub forks_left_out: u32,
}

/// Splits the change of a run in one currency. Costs add up: what the layer costs is its server's cost beyond that of
/// the bare server of the same release. The intervals are Student's over the forks that have all four servers; their
/// number must have been fixed before the run. The error says which variant does not count.
pub fn attribute_change(summary: &Summary, pair: &ReleasePair, currency: Currency) -> Result<Attribution, String> {
    let variants = [&pair.new_layer, &pair.old_server, &pair.new_server];
    let compared = variants.map(|variant| summary.comparisons.iter().find(|compared| compared.variant == *variant));
    let [layer, old, new] = [0, 1, 2].map(|at| costs_of(compared[at], variants[at], currency));
    let (layer, old, new) = (layer?, old?, new?);
    let of_fork = |(fork, layer): (&u32, &f64)| {
        Some(ForkCosts { layer: *layer, old_server: *old.get(fork)?, new_server: *new.get(fork)? })
    };
    let forks: Vec<ForkCosts> = layer.iter().filter_map(of_fork).collect();
    let odd = compared.into_iter().flatten().flat_map(|compared| compared.odd_forks.iter().map(|odd| odd.fork));
    let all: BTreeSet<u32> = [&layer, &old, &new].into_iter().flat_map(BTreeMap::keys).copied().chain(odd).collect();
    let left_out = all.len().saturating_sub(forks.len()) as u32;
    let parts = Attribution::over_forks(&forks, summary.run.alpha);
    let parts = parts.map_err(|_| format!("{} of {} can be split", forks.len(), count(all.len() as u64, "start")))?;
    Ok(Attribution { forks_left_out: left_out, ..parts })
}

fn costs_of(compared: Option<&Comparison>, variant: &str, currency: Currency) -> Result<BTreeMap<u32, f64>, String> {
    let ratio = compared.and_then(|compared| compared.ratio_in(currency));
    let ratio: &CurrencyRatio = ratio.ok_or_else(|| format!("{variant} was not measured"))?;
    if !ratio.is_known() {
        let reason = ratio.reason.as_deref().unwrap_or("it is void");
        return Err(format!("{variant} does not count: {reason}"));
    }
    // Of a currency of which more is better, the cost is the reciprocal: time per request.
    let cost = |value: f64| if ratio.higher_is_better { 1.0 / value } else { value };
    Ok(ratio.by_fork().map(|(fork, value)| (fork, cost(value))).collect())
}

/// What one fork says: costs relative to that of the old release of the layer in it.
struct ForkCosts {
    layer: f64,
    /// Of the bare server with the libraries of the old release.
    old_server: f64,
    new_server: f64,
}

impl Attribution {
    fn over_forks(forks: &[ForkCosts], alpha: f64) -> Result<Self, StatsError> {
        let part = |of: fn(&ForkCosts) -> f64| {
            let values: Vec<f64> = forks.iter().map(of).collect();
            SampleMean::of_values(&values, SD_FLOOR)?.interval(alpha)
        };
        Ok(Self {
            whole: part(|fork| fork.layer - 1.0)?,
            layer: part(|fork| fork.layer - 1.0 - (fork.new_server - fork.old_server))?,
            server: part(|fork| fork.new_server - fork.old_server)?,
            forks: forks.len() as u32,
            forks_left_out: 0,
        })
    }

    /// `of +12 % [+10, +14], +9 [+6, +12] is the layer's, +3 [+0, +6] the server's`, with a decimal where one of the
    /// intervals is narrower than ±1 %.
    pub fn sentence(&self) -> String {
        let is_narrow = [self.whole, self.layer, self.server].iter().any(|part| part.half_width() < 0.01);
        let decimals = usize::from(is_narrow);
        let show = |share: f64| format!("{:+.decimals$}", share * 100.0).replace('-', "−");
        let part = |part: &Interval, unit: &str| {
            format!("{}{unit} [{}, {}]", show(part.estimate), show(part.lo), show(part.hi))
        };
        let (whole, layer, server) = (part(&self.whole, " %"), part(&self.layer, ""), part(&self.server, ""));
        format!("of {whole}, {layer} is the layer's, {server} the server's")
    }

    /// What it rests on: `6 starts`, or `5 of 6 starts, because in the rest a server was missing or settled in another mode`.
    pub fn basis(&self) -> String {
        match self.forks_left_out {
            0 => count(self.forks.into(), "start"),
            left_out => format!(
                "{} of {}, because in the rest a server was missing or settled in another mode",
                self.forks,
                count(u64::from(self.forks + left_out), "start")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forks in which the server's part and the layer's part are planted, with noise that all of a fork share.
    fn planted(layer: f64, server: f64) -> Attribution {
        let noise = [0.002, -0.001, 0.0, 0.001, -0.002, 0.001];
        let forks = noise.map(|noise| ForkCosts {
            layer: 1.0 + layer + server + noise,
            old_server: 0.6 + 0.5 * noise,
            new_server: 0.6 + server + 0.8 * noise,
        });
        Attribution::over_forks(&forks, 0.05).unwrap()
    }

    #[test]
    fn planted_parts_are_found_and_add_up() {
        for (layer, server) in [(0.09, 0.03), (0.12, 0.0), (0.0, 0.12), (-0.05, 0.08)] {
            let found = planted(layer, server);
            let holds = |interval: &Interval, truth: f64| interval.lo <= truth && truth <= interval.hi;
            assert!(holds(&found.layer, layer) && holds(&found.server, server), "{layer} {server}: {found:?}");
            assert!(holds(&found.whole, layer + server));
            assert!((found.layer.estimate + found.server.estimate - found.whole.estimate).abs() < 1e-12);
        }
    }

    #[test]
    fn the_sentence_says_both_parts_with_their_intervals() {
        let sentence = planted(0.09, 0.03).sentence();
        assert!(sentence.starts_with("of +12.0 % [+11.5, +12.5], +9.0 ["), "{sentence}");
        assert!(sentence.contains("] is the layer's, +3.0 [") && sentence.ends_with("] the server's"), "{sentence}");
        let [whole, layer, server] = [-0.12, -0.1, -0.02].map(|part| Interval::around(part, 0.02));
        let wide = Attribution { whole, layer, server, forks: 5, forks_left_out: 1 };
        assert!(wide.basis().starts_with("5 of 6 starts, because in the rest"), "{}", wide.basis());
        let wide = wide.sentence();
        assert!(wide.starts_with("of −12 % [−14, −10], −10 [−12, −8] is the layer's, −2 ["), "{wide}");
    }

    #[test]
    fn forks_that_agree_by_chance_leave_the_parts_as_wide_as_the_floor() {
        let fork = || ForkCosts { layer: 1.002, old_server: 0.6, new_server: 0.6 };
        let found = Attribution::over_forks(&[fork(), fork(), fork()], 0.05).unwrap();
        for part in [found.whole, found.layer, found.server] {
            assert!(part.half_width() > SD_FLOOR && part.contains(0.0), "{part:?}");
        }
    }

    #[test]
    fn one_fork_gives_no_parts() {
        let fork = ForkCosts { layer: 1.1, old_server: 0.6, new_server: 0.6 };
        assert!(Attribution::over_forks(&[fork], 0.05).is_err());
    }
}
