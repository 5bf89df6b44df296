//! OpenMetrics text (1.0, sections 3.1 and 5.1): gauges for Prometheus and what reads its form. Written here, because
//! the crate that writes it brings 17 others. `scripts/readers` reads the result with Prometheus's strict parser.

use std::fmt::Write;

use super::gauges::{Labels, families, run_labels};
use tare_analysis::summary::Summary;

pub fn render(summary: &Summary) -> String {
    let mut text = String::new();
    // The type "info" of OpenMetrics is refused by readers of the older text form, such as the text files of node_exporter.
    write_head(&mut text, "tare_run_info", "gauge", "The run that was measured");
    write_sample(&mut text, "tare_run_info", &run_labels(summary), 1.0);
    for family in families(summary) {
        write_head(&mut text, family.name, "gauge", family.help);
        family.samples.iter().for_each(|(labels, value)| write_sample(&mut text, family.name, labels, *value));
    }
    text + "# EOF\n"
}

fn write_head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}");
}

fn write_sample(text: &mut String, name: &str, labels: &Labels, value: f64) {
    let escape = |value: &str| value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
    let _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
}
