//! OpenMetrics text: gauges for Prometheus and what reads its form.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::gauges::RunGauges;
use tare_analysis::summary::Summary;

impl Collector for RunGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let info = encoder.encode_descriptor("tare_run", "The run that was measured", None, MetricType::Info)?;
        Info::new(self.run.clone()).encode(info)?;
        for family in &self.families {
            let mut gauges = encoder.encode_descriptor(family.name, family.help, None, MetricType::Gauge)?;
            for (labels, value) in &family.samples {
                ConstGauge::new(*value).encode(gauges.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}

/// Every figure and every ratio that may be used, with the end mark of the form.
pub fn render(summary: &Summary) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(RunGauges::of(summary)));
    let mut text = String::new();
    text::encode(&mut text, &registry).expect("memory takes every byte");
    text
}
