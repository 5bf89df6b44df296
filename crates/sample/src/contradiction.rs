//! Counts of a sample that contradict one another. No generator makes such a sample; a damaged record can.

use crate::packed::PackedHistogram;
use crate::slice_sample::SliceSample;

impl SliceSample<PackedHistogram> {
    /// The first two counts that contradict one another, in words; `None` if all agree.
    pub fn contradiction(&self) -> Option<String> {
        let ended = self.ok.saturating_add(self.failed);
        let same = [
            ("requests offered", self.offered, "that ended", ended),
            ("requests failed", self.failed, "times of failed requests", self.failed_time.samples()),
            ("requests sent", self.sent, "send lags", self.send_lag.samples()),
        ];
        let at_most = [
            ("requests failed", self.failed, "errors by class", self.errors.total()),
            ("response times", self.response.samples(), "requests answered", self.ok),
            ("service times", self.service.samples(), "requests answered", self.ok),
            ("stamp lags", self.stamp_lag.samples(), "requests answered", self.ok),
            ("requests sent", self.sent, "offered", self.offered),
            ("requests blocked", self.blocked, "offered", self.offered),
            ("answers in the window", self.completed, "in the slice", self.completed_in_slice),
            ("resumed TLS sessions", self.tls_resumed, "handshakes", self.tls_handshakes),
        ];
        let unequal = same.iter().find(|(_, one, _, other)| one != other);
        let found = unequal.or_else(|| at_most.iter().find(|(_, less, _, more)| less > more));
        found.map(|(name, count, other, of)| format!("{count} {name} contradict {of} {other}"))
    }
}

#[cfg(test)]
mod tests {
    use tare_stats::LatencyHistogram;

    use super::*;
    use crate::error_class::ErrorClass;

    type Change = fn(&mut SliceSample);

    fn consistent_sample() -> SliceSample {
        let mut times = LatencyHistogram::new();
        times.record_ns(1_000);
        let mut sample = SliceSample {
            offered: 2,
            sent: 1,
            ok: 1,
            failed: 1,
            completed: 1,
            completed_in_slice: 1,
            tls_handshakes: 1,
            tls_resumed: 1,
            response: times.clone(),
            send_lag: times.clone(),
            failed_time: times,
            ..SliceSample::default()
        };
        sample.errors.add_failure(ErrorClass::Read, "reset");
        sample
    }

    #[test]
    fn counts_that_a_generator_makes_agree() {
        assert_eq!(consistent_sample().pack().contradiction(), None);
        assert_eq!(SliceSample::default().pack().contradiction(), None);
    }

    #[test]
    fn each_count_that_changes_alone_is_named() {
        let changes: [(Change, &str); 9] = [
            (|sample| sample.offered = 3, "3 requests offered contradict 2 that ended"),
            (|sample| sample.ok = u64::MAX, "2 requests offered contradict"),
            (|sample| sample.failed = 0, "2 requests offered contradict 1 that ended"),
            (|sample| sample.failed_time.clear(), "1 requests failed contradict 0 times of failed requests"),
            (|sample| sample.sent = 2, "2 requests sent contradict 1 send lags"),
            (|sample| sample.errors = Default::default(), "1 requests failed contradict 0 errors by class"),
            (|sample| sample.response.record_ns(7), "2 response times contradict 1 requests answered"),
            (|sample| sample.completed = 2, "2 answers in the window contradict 1 in the slice"),
            (|sample| sample.tls_resumed = 9, "9 resumed TLS sessions contradict 1 handshakes"),
        ];
        for (change, says) in changes {
            let mut sample = consistent_sample();
            change(&mut sample);
            let found = sample.pack().contradiction().unwrap_or_default();
            assert!(found.contains(says), "{says}: {found}");
        }
    }
}
