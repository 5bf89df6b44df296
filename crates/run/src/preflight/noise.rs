//! How noisy is this machine? One server of known behaviour is measured against itself.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tare_load::{Cancel, Schedule, SliceSample, SliceSpec, StopRule};
use tare_stats::Method;
use tare_stats::power::{DEFAULT_POWER, detectable_difference};
use tare_stats::quantile::sd;

use crate::error::RunError;
use crate::preflight::KnownServer;

/// One slice. Two neighbours are a pair, as in a run.
const SLICE: Duration = Duration::from_millis(100);
/// Slices before the first pair: the server and its connections settle.
const SETTLING: usize = 4;
/// Error probability of the reported differences.
const ALPHA: f64 = 0.05;

/// How the throughput of one server differs between neighbouring slices, although nothing changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseFigures {
    pub pairs: u32,
    /// Standard deviation of the log-ratios of the pairs: 0.02 stands for 2 %.
    pub sd: f64,
}

impl NoiseFigures {
    /// The smallest difference (0.02: 2 %) that so many pairs show with probability 0.8; `None` with fewer than two.
    pub fn visible_difference(&self, pairs: u32) -> Option<f64> {
        let method = Method::FIXED_FORKS.at_level(ALPHA);
        Some(detectable_difference(self.sd, method, pairs, DEFAULT_POWER).ok()?.exp_m1())
    }

    pub fn pairs_within(time: Duration) -> u32 {
        (time.as_millis() / (2 * SLICE).as_millis()) as u32
    }

    /// The figures of slices in the order in which they were measured; `None` with fewer than two pairs.
    fn of(slices: &[SliceSample]) -> Option<Self> {
        let per_s = |slice: &SliceSample| slice.completed as f64 / slice.window_ns.max(1) as f64;
        let pairs = slices.chunks_exact(2).map(|pair| (per_s(&pair[0]) / per_s(&pair[1])).ln());
        let ratios: Vec<f64> = pairs.filter(|ratio| ratio.is_finite()).collect();
        Some(Self { pairs: ratios.len() as u32, sd: sd(&ratios).ok()? })
    }
}

impl KnownServer<'_> {
    /// Saturates the server for `span`. `None` if that was interrupted too early to say anything.
    pub fn measure_noise(&self, span: Duration) -> Result<Option<NoiseFigures>, RunError> {
        let (server, mut session, connections) = self.start(Duration::ZERO)?;
        let spec = SliceSpec {
            drain_timeout: Duration::from_secs(2),
            ..SliceSpec::new(Schedule::Closed, connections, StopRule::Duration(SLICE))
        };
        let count = SETTLING + 2 * NoiseFigures::pairs_within(span) as usize;
        let mut slices = Vec::with_capacity(count);
        while slices.len() < count && !self.cancelled.load(Ordering::Relaxed) {
            slices.push(session.run(&spec, &Cancel::new())?);
        }
        server.stop()?;
        Ok(slices.get(SETTLING..).and_then(NoiseFigures::of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(completed: &[u64]) -> Vec<SliceSample> {
        let slice = |&completed| SliceSample { completed, window_ns: 100_000_000, ..SliceSample::default() };
        completed.iter().map(slice).collect()
    }

    #[test]
    fn noise_is_the_spread_of_the_pairs_and_not_the_drift_of_the_level() {
        let drifting = NoiseFigures::of(&slices(&[100, 100, 200, 200, 400, 400])).unwrap();
        assert_eq!((drifting.pairs, drifting.sd), (3, 0.0));
        let noisy = NoiseFigures::of(&slices(&[110, 100, 100, 110])).unwrap();
        assert!((noisy.sd - 2f64.sqrt() * 1.1f64.ln()).abs() < 1e-12, "{noisy:?}");
        assert_eq!(NoiseFigures::of(&slices(&[100, 100])), None, "one pair has no spread");
    }

    #[test]
    fn more_pairs_show_smaller_differences() {
        let noise = NoiseFigures { pairs: 25, sd: 0.02 };
        let (few, many) = (noise.visible_difference(25).unwrap(), noise.visible_difference(300).unwrap());
        assert!(many < few && few < 0.02, "{few} {many}");
        assert_eq!(noise.visible_difference(1), None);
        assert_eq!(NoiseFigures::pairs_within(Duration::from_secs(5)), 25);
    }
}
