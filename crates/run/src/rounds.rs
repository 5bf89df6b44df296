//! What is scored of one scenario in a fork: after a slice that shows what the servers can do, slices of every kind in random
//! alternation.

use tare_plan::plan::{Rate, SliceKind, Slices};
use tare_record::sample::Phase;

use crate::error::RunError;
use crate::order::Order;
use crate::scenario::ScenarioRun;
use crate::slice::SliceLoad;

/// One slice to come: which kind, round and member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RoundSlice {
    kind: SliceKind,
    round: u32,
    member: usize,
}

/// The scored slices of one scenario in a fork, in the order in which they are driven.
pub(crate) struct RoundSchedule {
    slices: Vec<RoundSlice>,
}

impl RoundSchedule {
    /// Mixes the kinds of rounds at random, and the members within each round.
    pub fn new(counts: &Slices, members: usize, mut orders: Order) -> Self {
        let rounds = [
            (SliceKind::Saturating, counts.saturating),
            (SliceKind::Fixed, counts.fixed),
            (SliceKind::Poisson, counts.poisson),
        ];
        let rounds = rounds.into_iter().flat_map(|(kind, count)| (0..count).map(move |round| (kind, round)));
        let mut slices = Vec::new();
        for (kind, round) in orders.shuffled(rounds) {
            let members = orders.shuffled(0..members);
            slices.extend(members.into_iter().map(|member| RoundSlice { kind, round, member }));
        }
        Self { slices }
    }

    /// Measures all slices; the open ones at `rate_per_s`, none of them where it is not known.
    ///
    /// # Errors
    /// When the generator fails or the record cannot be written.
    pub fn run(self, scenario: &mut ScenarioRun<'_, '_>, rate_per_s: Option<f64>) -> Result<(), RunError> {
        let of = self.slices.len() as u32;
        for (number, RoundSlice { kind, round, member }) in (1..).zip(self.slices) {
            // A closed loop has no rate.
            let rate_per_s = if kind == SliceKind::Saturating { Some(0.0) } else { rate_per_s };
            let Some(rate_per_s) = rate_per_s.filter(|_| scenario.may_drive(member)) else { continue };
            scenario.announce(member, kind, (number, of));
            let load = scenario.load(kind, round, rate_per_s);
            scenario.whole_slice(member, &load)?;
        }
        Ok(())
    }
}

/// Measures one unscored slice of each server on the cores where it will be scored. Returns the rate for open slices;
/// `None` where it is a share of a capacity that no server has shown.
///
/// # Errors
/// When the generator fails or the record cannot be written.
pub(crate) fn settle(scenario: &mut ScenarioRun<'_, '_>) -> Result<Option<f64>, RunError> {
    let load = SliceLoad { phase: Phase::Warmup, ..scenario.load(SliceKind::Saturating, u32::MAX, 0.0) };
    let mut slowest: Option<f64> = None;
    for member in 0..scenario.members() {
        if !scenario.may_drive(member) {
            continue;
        }
        let per_s = scenario.slice(member, &load)?.load.throughput_per_s();
        if scenario.member(member).is_healthy() && per_s > 0.0 {
            slowest = Some(slowest.map_or(per_s, |slowest| slowest.min(per_s)));
        }
    }
    Ok(match scenario.plan().load.rate {
        Rate::PerSecond { per_s } => Some(per_s),
        Rate::OfCapacity { share } => slowest.map(|slowest| two_digits(slowest * share)),
    })
}

/// A rate that people can read and type again: two significant digits.
fn two_digits(rate: f64) -> f64 {
    let scale = 10_f64.powi(rate.abs().max(1.0).log10().floor() as i32 - 1);
    (rate / scale).floor().max(1.0) * scale
}

#[cfg(test)]
mod tests {
    use super::two_digits;

    #[test]
    fn rates_have_two_significant_digits_and_never_exceed_the_share() {
        for (rate, rounded) in [(9437.0, 9400.0), (18_812.0, 18_000.0), (7.3, 7.3), (103.0, 100.0)] {
            assert!((two_digits(rate) - rounded).abs() < 1e-9, "{rate} became {}", two_digits(rate));
        }
    }
}
