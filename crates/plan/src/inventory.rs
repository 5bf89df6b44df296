//! What there is to plan with: the servers that a suite may name, from the catalog and the builds, and the machine.

use serde::Serialize;

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
    /// Every version that may be asked for.
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
        let beneath: Vec<(String, String)> = servers
            .iter()
            .filter_map(|name| self.get(name))
            .filter_map(|server| Some((server.baseline.clone()?, server.family.clone())))
            .collect();
        for known in &mut self.servers {
            let is_beneath = beneath.iter().any(|(name, family)| *name == known.name && *family == known.family);
            if is_beneath || servers.contains(&known.name) {
                let missing: Vec<String> =
                    releases.iter().filter(|release| !known.versions.contains(release)).cloned().collect();
                known.versions.extend(missing);
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
    /// Numbers of the cores that tare may use, ascending.
    pub cpus: Vec<usize>,
    /// Those of the generator, where it is on a machine of its own.
    pub generator_cpus: Option<Vec<usize>>,
    /// Processor, cores and memory, as text.
    pub identity: String,
    /// Feature release of the JDK that runs the servers, where there is one.
    pub jdk: Option<u32>,
}

impl MachineFacts {
    /// The cores of servers and generator, as lists. The generator gets the last quarter of the cores, at least one; the
    /// servers the rest; one core is shared. On machines of their own, each has all.
    pub fn split_cpus(&self) -> (String, String) {
        let list = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        if let Some(generator) = &self.generator_cpus {
            return (list(&self.cpus), list(generator));
        }
        match self.cpus.as_slice() {
            [] => ("0".into(), "0".into()),
            [only] => (only.to_string(), only.to_string()),
            cpus => {
                let (server, generator) = cpus.split_at(cpus.len() - (cpus.len() / 4).max(1));
                (list(server), list(generator))
            }
        }
    }
}
