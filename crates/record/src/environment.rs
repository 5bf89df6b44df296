//! The environment of a measurement: facts about machine, kernel and JVM, as ordered text.

use serde::{Deserialize, Serialize};

/// Facts in sections, as captured at the start of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// `Machine`, `Kernel`, `JVM`, …
    pub sections: Vec<FactSection>,
    /// The network between the generator and the servers. `None` where both are on one machine, and where agents make the
    /// load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkBandwidth>,
}

impl Environment {
    /// Processor, cores and memory as one text: the same for all runs of one machine.
    pub fn machine_identity(&self) -> String {
        let of_machine =
            ["CPU", "cores tare may use", "memory"].map(|key| self.fact("Machine", key).unwrap_or("unknown"));
        of_machine.join(", ")
    }

    /// The feature release of the JDK that ran the servers: 25 of `25.0.3 (/usr/lib/jvm/…)`.
    pub fn jdk_release(&self) -> Option<u32> {
        let version = self.fact("JVM", "JDK")?.trim_start_matches("JDK ");
        version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    pub fn kernel(&self) -> &str {
        self.fact("Kernel", "release").unwrap_or("unknown")
    }

    fn fact(&self, section: &str, key: &str) -> Option<&str> {
        let facts = self.sections.iter().filter(|s| s.title == section).flat_map(|s| &s.facts);
        facts.filter(|(name, _)| name == key).map(|(_, value)| value.as_str()).next()
    }
}

/// What one TCP connection carried in each direction of a network, in bits per second. `None` where the transfer failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkBandwidth {
    pub to_servers_bits_per_s: Option<u64>,
    pub from_servers_bits_per_s: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactSection {
    pub title: String,
    pub facts: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(title: &str, facts: &[(&str, &str)]) -> Environment {
        let facts = facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let sections = vec![FactSection { title: title.to_owned(), facts }];
        Environment { sections, ..Environment::default() }
    }

    #[test]
    fn a_machine_is_known_by_processor_cores_and_memory() {
        let facts = [("CPU", "Test CPU"), ("cores tare may use", "0-1"), ("memory", "8 GiB"), ("load", "0.3")];
        assert_eq!(environment("Machine", &facts).machine_identity(), "Test CPU, 0-1, 8 GiB");
        assert_eq!(Environment::default().machine_identity(), "unknown, unknown, unknown");
    }

    #[test]
    fn the_release_of_a_jdk_is_its_first_number() {
        for (version, release) in [("25.0.3 (/usr/lib/jvm/25)", Some(25)), ("JDK 21", Some(21)), ("none", None)] {
            assert_eq!(environment("JVM", &[("JDK", version)]).jdk_release(), release, "{version}");
        }
        assert_eq!(environment("Machine", &[]).jdk_release(), None);
    }
}
