//! What there is to plan with: the servers that a suite may name, from the catalog and the builds, and the machine.

use serde::Serialize;
use tare_units::{CpuSet, distinct};

use crate::plan::HttpVersion;

/// Every server that a suite may name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// In the order of the catalog.
    pub servers: Vec<KnownServer>,
    /// Options of every JVM, alike, from the catalog.
    pub jvm_options: Vec<String>,
    /// A regular expression for the frames of the layers under test; empty where unknown.
    pub focus: String,
    /// The PEM file with the certificate that servers have over TLS; `None` without a catalog.
    pub certificate: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KnownServer {
    /// `http4s.Tapir`.
    pub name: String,
    /// `http4s`.
    pub family: String,
    /// `vanilla`, `tapir`, …
    pub kind: String,
    pub jvm: bool,
    pub routes: u32,
    /// What it speaks besides HTTP/1.1, where a suite asks for it.
    pub protocols: Vec<HttpVersion>,
    /// Why it speaks HTTP/1.1 alone; `None` where that is not known, or it speaks more.
    pub only_http1: Option<String>,
    pub baseline: Option<String>,
    /// The version that is taken when none is asked for.
    pub default_version: String,
    pub versions: Vec<String>,
    /// Why it is not available on this machine; `None` if it is.
    pub unavailable: Option<String>,
}

impl Inventory {
    pub fn get(&self, name: &str) -> Option<&KnownServer> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Adds releases that the catalog does not list, to these servers and to their baselines of the same family.
    pub fn add_releases(&mut self, servers: &[String], releases: &[String]) {
        let chosen = self.servers.iter().filter(|server| servers.contains(&server.name));
        let beneath: Vec<(String, String)> =
            chosen.filter_map(|server| Some((server.baseline.clone()?, server.family.clone()))).collect();
        for known in &mut self.servers {
            if servers.contains(&known.name) || beneath.contains(&(known.name.clone(), known.family.clone())) {
                known.versions = distinct(std::mem::take(&mut known.versions).into_iter().chain(releases.to_owned()));
            }
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.servers.iter().map(|server| server.name.clone()).collect()
    }
}

/// What a plan needs to know of the machine of the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineFacts {
    /// The physical cores that tare may use, ascending, each with its hardware threads.
    pub cores: Vec<CpuSet>,
    /// Those of the generator, where it is on a machine of its own.
    pub generator_cpus: Option<CpuSet>,
    /// Processor, cores and memory, as text.
    pub identity: String,
    /// Feature release of the JDK that runs the servers, where there is one.
    pub jdk: Option<u32>,
}

impl MachineFacts {
    /// The CPUs of servers and generator. The generator gets the last quarter, at least one, and with them all hardware threads
    /// of their cores, because two threads of a core slow each other; the servers get the rest. One core is divided by threads,
    /// and one thread is shared. On machines of their own, each side has all.
    pub fn split_cpus(&self) -> (CpuSet, CpuSet) {
        let all = CpuSet::from_indices(self.cores.iter().flat_map(CpuSet::iter));
        if let Some(generator) = &self.generator_cpus {
            return (all, generator.clone());
        }
        let single = |cpu| CpuSet::from_indices([cpu]);
        let units =
            if let [core] = self.cores.as_slice() { core.iter().map(single).collect() } else { self.cores.clone() };
        let Some((_, others)) = units.split_first().filter(|(_, others)| !others.is_empty()) else {
            let only = if all.is_empty() { single(0) } else { all };
            return (only.clone(), only);
        };
        let wanted = (all.len() / 4).max(1);
        let add =
            |generator: CpuSet, core: &CpuSet| if generator.len() < wanted { generator.union(core) } else { generator };
        let generator = others.iter().rev().fold(CpuSet::default(), add);
        (all.difference(&generator), generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_generator_share_no_physical_core_where_there_are_two() {
        let split = |cores: &str| {
            let cores = cores.split_whitespace().map(|core| core.parse().unwrap()).collect();
            let (servers, generator) = MachineFacts { cores, ..MachineFacts::default() }.split_cpus();
            format!("{servers} | {generator}")
        };
        assert_eq!(split("0 1"), "0 | 1");
        assert_eq!(split("0 1 2 3 4 5 6 7"), "0-5 | 6-7");
        assert_eq!(split("0-1 2-3"), "0-1 | 2-3");
        assert_eq!(split("0,3 1,4 2,5"), "0-1,3-4 | 2,5", "a quarter is one thread, and its core has two");
        assert_eq!(split("0,4 1,5 2,6 3,7"), "0-2,4-6 | 3,7");
        assert_eq!(split("0-1"), "0 | 1", "threads of one core");
        assert_eq!(split("5"), "5 | 5");
        assert_eq!(split(""), "0 | 0", "nothing is known");
    }

    #[test]
    fn on_machines_of_their_own_each_side_has_all_cores() {
        let cpus = |list: &str| list.parse::<CpuSet>().unwrap();
        let machine =
            MachineFacts { cores: vec![cpus("0-3")], generator_cpus: Some(cpus("0-1")), ..MachineFacts::default() };
        assert_eq!(machine.split_cpus(), (cpus("0-3"), cpus("0-1")));
    }
}
