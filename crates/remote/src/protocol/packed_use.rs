//! What a server used, as it is sent between machines.

use serde::{Deserialize, Serialize};
use tare_record::{Hiccups, PackedHistogram, ServerUse};
use tare_stats::StatsError;

use super::bytes::Bytes;

/// What a server used, with its histograms as bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PackedUse {
    /// Without histograms: their form in JSON has none.
    usage: ServerUse<PackedHistogram>,
    /// Of the meter outside the server, and of that inside its JVM.
    hiccups: Option<(Bytes, Option<Bytes>)>,
}

impl PackedUse {
    pub fn pack(usage: ServerUse) -> Self {
        let usage = usage.pack();
        let bytes = |histogram: &PackedHistogram| Bytes(histogram.as_bytes().to_vec());
        let hiccups = usage.hiccups.as_ref().map(|of| (bytes(&of.machine), of.jvm.as_ref().map(bytes)));
        Self { usage, hiccups }
    }

    pub fn unpack(self) -> Result<ServerUse, StatsError> {
        let Self { usage, hiccups } = self;
        let histogram = |bytes: Bytes| PackedHistogram::from_bytes(bytes.0).map(|packed| packed.unpack());
        let read =
            hiccups.map(|(machine, jvm)| Ok::<_, StatsError>((histogram(machine)?, jvm.map(histogram).transpose()?)));
        let read = read.transpose()?;
        // Its stops stay there: their times are those of another clock.
        let ServerUse { cpu, rss_bytes, rss_peak_bytes, runtime, hiccups, others_share, .. } = usage;
        let hiccups = hiccups.zip(read).map(|(of, (machine, jvm))| Hiccups { machine, jvm, pauses: of.pauses });
        Ok(ServerUse { cpu, rss_bytes, rss_peak_bytes, runtime, hiccups, others_share, ..ServerUse::default() })
    }
}

#[cfg(test)]
mod tests {
    use tare_record::{Pause, PauseCause, RuntimeUse};
    use tare_stats::histogram::LatencyHistogram;

    use super::*;

    #[test]
    fn what_a_server_used_arrives_with_its_histograms() {
        let mut machine = LatencyHistogram::new();
        machine.record_ns(7_000_000);
        let pauses = vec![Pause { at_ns: 5, length_ns: 7_000_000, cause: PauseCause::Machine }];
        let hiccups = Hiccups { machine: machine.clone(), jvm: Some(machine), pauses };
        let runtime = Some(RuntimeUse { collections: Some(3), ..RuntimeUse::default() });
        let used = ServerUse { rss_bytes: Some(9), runtime, hiccups: Some(hiccups), ..ServerUse::default() };
        for used in [used, ServerUse::default()] {
            let text = serde_json::to_string(&PackedUse::pack(used.clone())).unwrap();
            assert_eq!(serde_json::from_str::<PackedUse>(&text).unwrap().unpack().unwrap(), used);
        }
        let broken = r#"{"usage": {"hiccups": {"pauses": []}}, "hiccups": ["AQID", null]}"#;
        assert!(serde_json::from_str::<PackedUse>(broken).unwrap().unpack().is_err());
    }
}
