//! What is scored of one scenario in a fork: after a slice that shows what the servers can do, slices of every kind in random
//! alternation.

use tare_plan::plan::{Rate, SliceKind};
use tare_record::sample::Phase;

use crate::driver::Driver;
use crate::error::RunError;
use crate::slice::Order;

/// One slice to come: which kind, round and member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    kind: SliceKind,
    round: u32,
    member: usize,
}

impl Driver<'_, '_, '_> {
    /// One unscored slice of each as it will be measured: the capacity is seen, and with it the rate for open slices.
    pub fn settle(&mut self) -> Result<Option<f64>, RunError> {
        let order = Order { phase: Phase::Warmup, ..self.order(SliceKind::Saturating, u32::MAX, 0.0) };
        let mut slowest: Option<f64> = None;
        for member in 0..self.fleet.members.len() {
            if !self.may_drive(member) {
                continue;
            }
            let per_s = self.slice(member, &order)?.load.throughput_per_s();
            if self.fleet.members[member].healthy && per_s > 0.0 {
                slowest = Some(slowest.map_or(per_s, |slowest| slowest.min(per_s)));
            }
        }
        Ok(match self.plan().load.rate {
            Rate::PerSecond { per_s } => Some(per_s),
            Rate::OfCapacity { share } => slowest.map(|slowest| two_digits(slowest * share)),
        })
    }

    /// All scored slices; the open ones at `rate_per_s`, none of them where it is not known.
    pub fn rounds(&mut self, rate_per_s: Option<f64>) -> Result<(), RunError> {
        let turns = self.turns();
        let of = turns.len() as u32;
        for (number, Turn { kind, round, member }) in (1..).zip(turns) {
            // A closed loop has no rate.
            let rate_per_s = if kind == SliceKind::Saturating { Some(0.0) } else { rate_per_s };
            let Some(rate_per_s) = rate_per_s.filter(|_| self.may_drive(member)) else { continue };
            let last_per_s = self.journal.record().slices.last().map(|slice| slice.load.throughput_per_s());
            self.announce(member, kind, (number, of), last_per_s);
            let order = self.order(kind, round, rate_per_s);
            self.whole_slice(member, &order)?;
        }
        Ok(())
    }

    /// The slices in order: kinds of rounds mixed, variants shuffled within each round.
    fn turns(&self) -> Vec<Turn> {
        let slices = &self.plan().slices;
        let rounds = [
            (SliceKind::Saturating, slices.saturating),
            (SliceKind::Fixed, slices.fixed),
            (SliceKind::Poisson, slices.poisson),
        ];
        let rounds = rounds.into_iter().flat_map(|(kind, count)| (0..count).map(move |round| (kind, round)));
        let mut orders = self.orders("slices");
        let mut turns = Vec::new();
        for (kind, round) in orders.shuffled(rounds) {
            let members = orders.shuffled(0..self.fleet.members.len());
            turns.extend(members.into_iter().map(|member| Turn { kind, round, member }));
        }
        turns
    }
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
