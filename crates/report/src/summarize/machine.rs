//! What the facts about the machine say against its numbers. Facts are text; only those that are understood count.

use tare_record::environment::Environment;

/// Above this share of time in which something waited for a CPU, the machine is busy with other work.
const PRESSURE: f64 = 0.05;

/// Something about the machine that moves numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Disturbance {
    /// The CPU's frequency follows the load.
    Governor(String),
    /// Others wait for these CPUs: share of the time.
    Pressure(f64),
    /// The hypervisor takes time away: share.
    Steal(f64),
}

/// Everything found in the facts.
pub(super) fn disturbances(environment: &Environment) -> Vec<Disturbance> {
    environment.sections.iter().flat_map(|s| &s.facts).flat_map(|(key, value)| of_fact(key, value)).collect()
}

fn of_fact(key: &str, value: &str) -> Vec<Disturbance> {
    let (key, text) = (key.to_lowercase(), value.to_lowercase());
    let mut found = Vec::new();
    if key.contains("governor") && ["powersave", "schedutil", "ondemand", "conservative"].contains(&text.trim()) {
        found.push(Disturbance::Governor(value.trim().to_owned()));
    }
    // A number may stand in the value under a key of its name, or behind the name within the value.
    let measured = |name: &str| percent_after(&text, name).or_else(|| percent_after(&text, "").filter(|_| key == name));
    found.extend(measured("pressure").filter(|p| *p > PRESSURE).map(Disturbance::Pressure));
    found.extend(measured("steal").filter(|p| *p > 0.01).map(Disturbance::Steal));
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
            ("governor", "powersave", vec![Disturbance::Governor("powersave".into())]),
            ("governor", "performance", vec![]),
            ("governor", "not available", vec![]),
            ("load at the start", "load 1.20, CPU pressure 25.0 %", vec![Disturbance::Pressure(0.25)]),
            ("load at the start", "load 1.20, CPU pressure 2.5 %", vec![]),
            ("steal", "3 %", vec![Disturbance::Steal(0.03)]),
            ("steal", "much", vec![]),
            ("CPU", "Xeon at 99 %", vec![]),
        ] {
            assert_eq!(of_fact(key, value), expected, "{key}: {value}");
        }
    }
}
