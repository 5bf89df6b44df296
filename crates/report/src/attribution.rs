//! Whose a change between two releases is: the layer's, or that of the server beneath it, whose libraries change too.

use tare_stats::{Contrast, Interval, SampleMean, StatsError};

use crate::currency::Currency;
use crate::summary::{CurrencyRatio, Summary};

/// The four cells of an attribution, by variant. The old release of the layer is the baseline of the run.
#[derive(Debug, Clone)]
pub struct ReleasePair {
    /// The layer in the new release.
    pub new_layer: String,
    /// The bare server with the libraries of the old release.
    pub old_server: String,
    /// The bare server with those of the new release.
    pub new_server: String,
}

/// A change between two releases and its two parts, as shares of what the old release of the layer cost: 0.12 is 12 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attribution {
    /// The whole change.
    pub whole: Interval,
    /// The layer's part: whole − server.
    pub layer: Interval,
    /// The part of the server beneath.
    pub server: Interval,
}

/// Splits the change of a run in one currency. Costs add up: what the layer costs is its server's cost beyond that of the
/// bare server of the same release. Each fork gives one value of each part; the intervals are Student's over the forks,
/// whose number must have been fixed before the run.
///
/// # Errors
/// In words, where a variant was not measured or there are too few forks.
pub fn attribute_change(summary: &Summary, pair: &ReleasePair, currency: Currency) -> Result<Attribution, String> {
    let costs = |variant: &str| costs_of(summary, variant, currency);
    let (layer, old, new) = (costs(&pair.new_layer)?, costs(&pair.old_server)?, costs(&pair.new_server)?);
    if layer.len() != old.len() || layer.len() != new.len() {
        return Err("not every start measured all four servers".to_owned());
    }
    Attribution::over_forks(&layer, &old, &new, summary.run.alpha)
        .map_err(|_| "more than one start is needed".to_owned())
}

/// Cost of a variant / cost of the old release of the layer, fork by fork.
fn costs_of(summary: &Summary, variant: &str, currency: Currency) -> Result<Vec<f64>, String> {
    let comparison = summary.comparisons.iter().find(|comparison| comparison.variant == variant);
    let measured = |comparison: &&crate::summary::Comparison| {
        comparison.currencies.iter().find(|ratio| ratio.name == currency).cloned()
    };
    let ratio = comparison.as_ref().and_then(measured);
    let ratio: CurrencyRatio = ratio.ok_or_else(|| format!("{variant} was not measured"))?;
    // Of a currency of which more is better, the cost is the reciprocal: time per request.
    let cost = |value: &f64| if ratio.higher_is_better { 1.0 / value } else { *value };
    Ok(ratio.fork_ratios.iter().map(cost).collect())
}

impl Attribution {
    /// The parts from costs relative to the old release of the layer: of its new release, and of the bare server in both.
    fn over_forks(layer: &[f64], old_server: &[f64], new_server: &[f64], alpha: f64) -> Result<Self, StatsError> {
        let part = |values: Vec<f64>| Contrast::paired(&SampleMean::of_values(&values, 0.0)?).interval(alpha);
        let whole: Vec<f64> = layer.iter().map(|layer| layer - 1.0).collect();
        let server: Vec<f64> = old_server.iter().zip(new_server).map(|(old, new)| new - old).collect();
        let of_layer = whole.iter().zip(&server).map(|(whole, server)| whole - server).collect();
        Ok(Self { layer: part(of_layer)?, whole: part(whole)?, server: part(server)? })
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forks in which the server's part and the layer's part are planted, with noise that all of a fork share.
    fn planted(layer: f64, server: f64) -> Attribution {
        let noise = [0.002, -0.001, 0.0, 0.001, -0.002, 0.001];
        let of = |value: f64, weight: f64| noise.map(|noise| value + weight * noise);
        Attribution::over_forks(&of(1.0 + layer + server, 1.0), &of(0.6, 0.5), &of(0.6 + server, 0.8), 0.05).unwrap()
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
        assert!(sentence.starts_with("of +12.0 % [+11.9, +12.2], +9.0 ["), "{sentence}");
        assert!(sentence.contains("] is the layer's, +3.0 [") && sentence.ends_with("] the server's"), "{sentence}");
        let [whole, layer, server] = [-0.12, -0.1, -0.02].map(|part| Interval::around(part, 0.02));
        let wide = Attribution { whole, layer, server }.sentence();
        assert!(wide.starts_with("of −12 % [−14, −10], −10 [−12, −8] is the layer's, −2 ["), "{wide}");
    }

    #[test]
    fn one_fork_gives_no_parts() {
        assert!(Attribution::over_forks(&[1.1], &[0.6], &[0.6], 0.05).is_err());
    }
}
