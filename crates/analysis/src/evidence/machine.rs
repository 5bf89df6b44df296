//! What disturbs a measurement, by the facts about the machine. Facts are text; facts of unknown form are ignored.

use tare_record::EventKind;
use tare_record::environment::Environment;

/// Above this share of time in which something waited for a CPU, the machine is busy with other work.
const PRESSURE: f64 = 0.05;
/// Governors that change the clock speed with the load.
const SCALING: [&str; 4] = ["powersave", "schedutil", "ondemand", "conservative"];

/// Everything in the facts that disturbs, as the event that the preflight would make of it.
pub(crate) fn disturbances(environment: &Environment) -> Vec<EventKind> {
    environment.sections.iter().flat_map(|s| &s.facts).filter_map(|(key, value)| of_fact(key, value)).collect()
}

fn of_fact(key: &str, value: &str) -> Option<EventKind> {
    if key == "governor" && SCALING.contains(&value) {
        return Some(EventKind::CpuGovernor { governor: value.to_owned() });
    }
    let (_, pressure) = value.split_once("CPU pressure ")?;
    let waiting_share = pressure.strip_suffix(" %")?.parse::<f64>().ok()? / 100.0;
    (waiting_share > PRESSURE).then_some(EventKind::CpuPressure { waiting_share })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_where_they_are_understood() {
        for (key, value, expected) in [
            ("governor", "powersave", Some(EventKind::CpuGovernor { governor: "powersave".into() })),
            ("governor", "performance", None),
            ("governor", "not available", None),
            ("load", "load 1.20, CPU pressure 25.0 %", Some(EventKind::CpuPressure { waiting_share: 0.25 })),
            ("load", "load 1.20, CPU pressure 2.5 %", None),
            ("load", "load 1.20, CPU pressure unknown", None),
            ("CPU", "Xeon at 99 %", None),
        ] {
            assert_eq!(of_fact(key, value), expected, "{key}: {value}");
        }
    }
}
