//! What a server used, as it is sent between machines.

use serde::{Deserialize, Serialize};
use tare_record::{PackedHistogram, ServerUse};

/// What a server used, with its histograms.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PackedUse {
    /// Its form in JSON has no histograms, and no stops, whose times are those of another clock.
    usage: ServerUse,
    /// Of the meter outside the server, and of that inside its JVM.
    hiccups: Option<(PackedHistogram, Option<PackedHistogram>)>,
}

impl PackedUse {
    pub fn pack(usage: ServerUse) -> Self {
        let hiccups = usage.hiccups.as_ref().map(|of| (of.machine.clone(), of.jvm.clone()));
        Self { usage, hiccups }
    }

    pub fn unpack(self) -> ServerUse {
        let Self { mut usage, hiccups } = self;
        if let Some((of, (machine, jvm))) = usage.hiccups.as_mut().zip(hiccups) {
            (of.machine, of.jvm) = (machine, jvm);
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    use tare_record::{Hiccups, Pause, PauseCause, RuntimeUse};
    use tare_stats::histogram::LatencyHistogram;

    use super::*;

    #[test]
    fn what_a_server_used_arrives_with_its_histograms() {
        let mut histogram = LatencyHistogram::new();
        histogram.record_ns(7_000_000);
        let machine = PackedHistogram::from(&histogram);
        let pauses = vec![Pause { at_ns: 5, length_ns: 7_000_000, cause: PauseCause::Machine }];
        let hiccups = Hiccups { machine: machine.clone(), jvm: Some(machine), pauses };
        let runtime = Some(RuntimeUse { collections: Some(3), ..RuntimeUse::default() });
        let used = ServerUse { rss_bytes: Some(9), runtime, hiccups: Some(hiccups), ..ServerUse::default() };
        for used in [used, ServerUse::default()] {
            let text = serde_json::to_string(&PackedUse::pack(used.clone())).unwrap();
            assert_eq!(serde_json::from_str::<PackedUse>(&text).unwrap().unpack(), used);
        }
        let broken = r#"{"usage": {"hiccups": {"pauses": []}}, "hiccups": ["010203", null]}"#;
        assert!(serde_json::from_str::<PackedUse>(broken).is_err());
    }
}
