//! The requests and expected answers of one server: the contract with its differences and lacks applied.

use serde::{Deserialize, Serialize};

use super::{Contract, Difference, Expect, Lack, MayDiffer, Push, Request};

/// A request with what must come back, under the name it is reported by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Name of the scenario or check.
    pub name: String,
    pub request: Request,
    /// What must come back from this server.
    pub expect: Expect,
    /// What is pushed afterwards, where the exchange opens a WebSocket.
    pub push: Option<Push>,
    /// Where the answer must be like those of the other servers: the parts that may differ.
    pub compared: Option<Vec<MayDiffer>>,
    /// Why another answer is expected of this server than of the others; `None` if it is not.
    pub because: Option<String>,
}

impl Contract {
    /// Everything that `server` (`http4s.Tapir@1.11.15`, the version where it has one, and ` HTTP/2` where it is asked in
    /// that) with this number of `routes` must answer: first the checks, then the scenarios.
    pub fn exchanges(&self, server: &str, routes: u32) -> impl Iterator<Item = Exchange> {
        let checks = self.checks.iter().map(|one| (&one.name, one.routes, &one.request, &one.expect, None));
        let scenarios = self.scenarios.iter();
        let scenarios = scenarios.map(|(name, one)| (name, one.routes, &one.request, &one.expect, Some(one)));
        let asked = checks
            .chain(scenarios)
            .filter(move |(name, needs, ..)| *needs <= routes && self.why_not_served(server, name).is_none());
        asked.map(move |(name, _, request, expect, scenario)| {
            let is_allowed = |one: &&Difference| one.check == *name && names_server(&one.servers, server);
            let allowed = self.differences.iter().find(is_allowed);
            let compared = scenario.filter(|scenario| allowed.is_none() && scenario.compares_answers());
            Exchange {
                name: name.clone(),
                request: request.clone(),
                expect: allowed.map_or(expect, |allowed| &allowed.expect).clone(),
                push: scenario.and_then(|scenario| scenario.push.clone()),
                compared: compared.map(|scenario| scenario.may_differ.clone()),
                because: allowed.map(|allowed| allowed.because.clone()),
            }
        })
    }

    /// What `server` must answer to the named scenario.
    pub fn exchange(&self, server: &str, scenario: &str) -> Option<Exchange> {
        self.exchanges(server, u32::MAX).find(|exchange| exchange.name == scenario)
    }

    /// Why `server` cannot answer the named scenario; `None` if it can.
    pub fn why_not_served(&self, server: &str, scenario: &str) -> Option<&str> {
        let holds = |lack: &&Lack| names_server(&lack.servers, server) && names(&lack.scenarios, scenario);
        self.lacks.iter().find(holds).map(|lack| lack.because.as_str())
    }
}

/// Whether a glob is for this server, with its version and protocol or without.
fn names_server(globs: &[String], server: &str) -> bool {
    let until = |end: char| server.split(end).next().unwrap_or(server);
    [server, until(' '), until('@')].into_iter().any(|name| names(globs, name))
}

fn names(globs: &[String], name: &str) -> bool {
    globs.iter().any(|glob| is_named(glob, name))
}

/// Whether a glob names it. Most do not even begin as the name does: a glob is compiled only where that is not enough, because a
/// plan asks thousands of times.
fn is_named(glob: &str, name: &str) -> bool {
    let begin = glob.split(['*', '?', '[', ']', '{', '}', '\\']).next().unwrap_or_default();
    if begin == glob {
        return glob == name;
    }
    name.starts_with(begin) && globset::Glob::new(glob).is_ok_and(|glob| glob.compile_matcher().is_match(name))
}
