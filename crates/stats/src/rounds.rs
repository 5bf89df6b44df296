//! How many rounds one start should have. More rounds know a start better; more starts know how much starts differ.

/// The most rounds that are suggested: beyond it, servers change while they are measured.
const MOST_ROUNDS: f64 = 50.0;

/// What the starts of one comparison showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartFigures {
    pub rounds: u32,
    /// Standard error of one start's log-ratio, from its rounds.
    pub within_se: f64,
    /// Standard deviation of the starts' log-ratios. It contains the error within a start.
    pub fork_sd: f64,
    /// Time of one start with its rounds, in seconds.
    pub fork_s: f64,
    /// Time of these rounds, in seconds.
    pub rounds_s: f64,
}

/// The number of rounds that makes the narrowest intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestRounds {
    pub rounds: u32,
    /// The rounds of the starts seen.
    pub seen: u32,
    /// The width of intervals after the same time, relative to that of the starts seen: 0.9 is 10 % narrower.
    pub width: f64,
}

impl StartFigures {
    /// The best number of rounds; `None` where a figure is not finite, a time is not positive, or rounds do not scatter.
    ///
    /// # Source
    /// Kalibera & Jones, Rigorous benchmarking in reasonable time, ISMM 2013, section 5 (two levels): √(time of a start
    /// without rounds / time of a round × variance of rounds / variance of starts).
    pub fn best_rounds(&self) -> Option<BestRounds> {
        let known = [self.within_se, self.fork_sd, self.fork_s, self.rounds_s].iter().all(|figure| figure.is_finite());
        if !known || self.rounds == 0 || self.within_se <= 0.0 || self.rounds_s <= 0.0 || self.fork_s <= self.rounds_s {
            return None;
        }
        let relative_time = (self.fork_s - self.rounds_s) / self.rounds_s;
        let relative_variance = self.within_se.powi(2) / self.between_variance();
        let best = f64::from(self.rounds) * (relative_time * relative_variance).sqrt();
        let rounds = best.clamp(1.0, MOST_ROUNDS).round() as u32;
        Some(BestRounds {
            rounds,
            seen: self.rounds,
            width: (self.variance_times_seconds(rounds) / self.variance_times_seconds(self.rounds)).sqrt(),
        })
    }

    /// The variance of starts that were known exactly; 0 where their scatter is that of their rounds.
    fn between_variance(&self) -> f64 {
        (self.fork_sd.powi(2) - self.within_se.powi(2)).max(0.0)
    }

    /// The variance of a result with this many rounds in each start, times the seconds that it takes.
    fn variance_times_seconds(&self, rounds: u32) -> f64 {
        let more = f64::from(rounds) / f64::from(self.rounds);
        (self.between_variance() + self.within_se.powi(2) / more) * (self.fork_s - self.rounds_s + self.rounds_s * more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(within_se: f64, between_sd: f64) -> StartFigures {
        StartFigures { rounds: 4, within_se, fork_sd: within_se.hypot(between_sd), fork_s: 40.0, rounds_s: 8.0 }
    }

    #[test]
    fn the_formula_of_kalibera_and_jones() {
        // A round takes 2 s and has variance 4; a start takes 32 s more and has variance 1: √(32 / 2 × 4 / 1) = 8.
        let best = figures(0.01, 0.01).best_rounds().unwrap();
        assert_eq!(best.rounds, 8);
        // (1 + 1/2) × 48 s instead of (1 + 1) × 40 s.
        assert!((best.width - (72.0_f64 / 80.0).sqrt()).abs() < 1e-12, "{best:?}");
    }

    #[test]
    fn no_other_number_of_rounds_is_better() {
        for (within_se, between_sd) in [(0.01, 0.05), (0.02, 0.01), (0.05, 0.01), (0.001, 0.05)] {
            let seen = figures(within_se, between_sd);
            let best = seen.best_rounds().unwrap();
            let least = (1..=50).map(|rounds| seen.variance_times_seconds(rounds)).fold(f64::INFINITY, f64::min);
            assert!(seen.variance_times_seconds(best.rounds) <= least * 1.02, "{seen:?}: {best:?}");
            assert!(best.width <= 1.0 + 1e-12);
        }
    }

    #[test]
    fn starts_that_do_not_differ_get_the_most_rounds() {
        assert_eq!(figures(0.01, 0.0).best_rounds().unwrap().rounds, 50);
    }

    #[test]
    fn unusable_figures_give_no_number_of_rounds() {
        let seen = figures(0.01, 0.01);
        for wrong in [
            StartFigures { within_se: 0.0, ..seen },
            StartFigures { fork_sd: f64::NAN, ..seen },
            StartFigures { rounds_s: 0.0, ..seen },
            StartFigures { fork_s: 8.0, ..seen },
            StartFigures { rounds: 0, ..seen },
        ] {
            assert_eq!(wrong.best_rounds(), None, "{wrong:?}");
        }
    }
}
