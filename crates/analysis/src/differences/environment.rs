//! What was different around the servers: machine, kernel, JVM, settings, commands, libraries.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tare_units::{CpuSet, distinct};

use crate::summary::{Cell, Row, Section, Summary};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentChange {
    /// `JVM`, `Kernel`, `setting` or the name of a server.
    pub section: String,
    pub key: String,
    /// Value of the first record; `null` where it does not say.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Facts of a moment, and settings that change no figure.
const WITHOUT_MEANING: [&str; 2] = ["hypervisor steal and load at the start", "seed"];
/// Library versions stand at each server.
const VERSIONS: &str = "Versions: ";

pub fn environment_changes(before: &Summary, after: &Summary, cells: &[(&Cell, &Cell)]) -> Vec<EnvironmentChange> {
    let mut changes = section_changes(&before.environment, &after.environment, None);
    let programs = [before, after].map(|summary| {
        let run = &summary.run;
        let revision = run.git_revision.clone().map(|revision| (of_tare("git revision"), revision));
        [(of_tare("tare"), run.tare_version.clone())].into_iter().chain(revision).collect::<Facts>()
    });
    changes.extend(changed_facts(&programs[0], &programs[1]));
    changes.extend(section_changes(&before.plan, &after.plan, Some("setting")));
    changes.extend(server_changes(cells));
    changes
}

/// Every difference of two tables of facts, under their own titles or under this one.
pub fn section_changes(before: &[Section], after: &[Section], title: Option<&str>) -> Vec<EnvironmentChange> {
    changed_facts(&facts(before, title), &facts(after, title))
}

/// Every difference of the commands, versions and libraries of two servers, or of one in two records.
fn server_changes(cells: &[(&Cell, &Cell)]) -> Vec<EnvironmentChange> {
    let of_pair = |(old, new): &(&Cell, &Cell)| {
        let of = |cell: &Cell| {
            let command = [("command", cell.command.as_str())].into_iter().filter(|(_, command)| !command.is_empty());
            let version = cell.version.iter().map(|version| ("version", version.as_str()));
            let libraries = cell.resolved.iter().map(|row| (row.key.as_str(), row.value.as_str()));
            let fact = |(key, value): (&str, &str)| ((new.variant.clone(), key.to_owned()), value.to_owned());
            command.chain(version).chain(libraries).map(fact).collect::<Facts>()
        };
        changed_facts(&of(old), &of(new))
    };
    // A server stands in as many cells as it has scenarios.
    distinct(cells.iter().flat_map(of_pair))
}

type Facts = BTreeMap<(String, String), String>;

fn of_tare(key: &str) -> (String, String) {
    ("program".to_owned(), key.to_owned())
}

fn facts(sections: &[Section], title: Option<&str>) -> Facts {
    let told = sections.iter().filter(|section| !section.title.starts_with(VERSIONS));
    let rows = told.flat_map(|section| section.rows.iter().map(move |row| (section, row)));
    let fact = |(section, row): (&Section, &Row)| {
        ((title.unwrap_or(&section.title).to_owned(), row.key.clone()), row.value.clone())
    };
    rows.filter(|(_, row)| !WITHOUT_MEANING.contains(&row.key.as_str())).map(fact).collect()
}

fn changed_facts(before: &Facts, after: &Facts) -> Vec<EnvironmentChange> {
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differs = keys
        .into_iter()
        .filter(|key| !is_same(&key.1, [before, after].map(|facts| facts.get(*key).map(String::as_str))));
    let change = |key: &(String, String)| EnvironmentChange {
        section: key.0.clone(),
        key: key.1.clone(),
        before: before.get(key).cloned(),
        after: after.get(key).cloned(),
    };
    differs.map(change).collect()
}

/// Whether two values say the same. Lists of cores do that also if one is written `0,1,2`, as in records of before, and the
/// other `0-2`.
fn is_same(key: &str, values: [Option<&str>; 2]) -> bool {
    let cores = |value: Option<&str>| value?.parse::<CpuSet>().ok().filter(|_| key.ends_with("cpus"));
    let [before, after] = values;
    before == after || cores(before).is_some_and(|cores_before| Some(cores_before) == cores(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_cores_in_another_form_are_no_change() {
        let changes = |key: &str, before: &str, after: &str| {
            let plan = |value: &str| {
                let row = Row { key: key.to_owned(), value: value.to_owned(), source: None };
                [Section { title: "machine".to_owned(), rows: vec![row] }]
            };
            section_changes(&plan(before), &plan(after), Some("setting")).len()
        };
        for key in ["server_cpus", "load_cpus", "load-cpus"] {
            assert_eq!((changes(key, "0,1,2", "0-2"), changes(key, "0,1,2", "0-3")), (0, 1), "{key}");
        }
        assert_eq!((changes("versions", "1,2", "1-2"), changes("server_cpus", "", "none")), (1, 1));
    }
}
