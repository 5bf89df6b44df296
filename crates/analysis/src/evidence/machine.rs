//! What disturbs a measurement, by the facts about the machine. Facts are text; facts of unknown form are ignored.

use tare_record::EventKind;
use tare_record::environment::Environment;

/// Above this share of time in which something waited for a CPU, the machine is busy with other work.
const PRESSURE: f64 = 0.05;
/// Above this share the CPU time that the hypervisor takes is a disturbance.
const STOLEN: f64 = 0.01;

/// Everything in the facts that disturbs, as the event that the preflight would make of it.
pub(crate) fn disturbances(environment: &Environment) -> Vec<EventKind> {
    environment.sections.iter().flat_map(|s| &s.facts).flat_map(|(key, value)| of_fact(key, value)).collect()
}

fn of_fact(key: &str, value: &str) -> Vec<EventKind> {
    let (key, text) = (key.to_lowercase(), value.to_lowercase());
    let mut found = Vec::new();
    if key.contains("governor") && ["powersave", "schedutil", "ondemand", "conservative"].contains(&text.trim()) {
        found.push(EventKind::CpuGovernor { governor: value.trim().to_owned() });
    }
    // A number may stand in the value under a key of its name, or behind the name within the value.
    let measured = |name: &str| percent_after(&text, name).or_else(|| percent_after(&text, "").filter(|_| key == name));
    found.extend(
        measured("pressure").filter(|p| *p > PRESSURE).map(|waiting_share| EventKind::CpuPressure { waiting_share }),
    );
    let stolen = measured("steal").filter(|p| *p > STOLEN);
    found.extend(stolen.map(|stolen_share| EventKind::StolenTime { cpu: None, stolen_share }));
    found
}

/// The first percentage after `name`, as a share.
fn percent_after(text: &str, name: &str) -> Option<f64> {
    let rest = &text[text.find(name)? + name.len()..];
    let (number, _) = rest.split_once('%')?;
    let number = number.trim_end().rsplit(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    number.parse::<f64>().ok().map(|percent| percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_where_they_are_understood() {
        for (key, value, expected) in [
            ("governor", "powersave", vec![EventKind::CpuGovernor { governor: "powersave".into() }]),
            ("governor", "performance", vec![]),
            ("governor", "not available", vec![]),
            (
                "load at the start",
                "load 1.20, CPU pressure 25.0 %",
                vec![EventKind::CpuPressure { waiting_share: 0.25 }],
            ),
            ("load at the start", "load 1.20, CPU pressure 2.5 %", vec![]),
            ("steal", "3 %", vec![EventKind::StolenTime { cpu: None, stolen_share: 0.03 }]),
            ("steal", "much", vec![]),
            ("CPU", "Xeon at 99 %", vec![]),
        ] {
            assert_eq!(of_fact(key, value), expected, "{key}: {value}");
        }
    }
}
