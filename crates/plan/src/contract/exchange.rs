//! The requests and expected answers of one server: the contract with its differences and lacks applied.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Contract, Difference, Expect, Lack, MayDiffer, Push, Request, Scenario};

/// A request with what must come back, under the name it is reported by. It borrows from a contract, or came from another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange<'a> {
    /// Name of the scenario or check.
    pub name: Cow<'a, str>,
    pub request: Cow<'a, Request>,
    /// What must come back from this server.
    pub expect: Cow<'a, Expect>,
    /// What is pushed afterwards, where the exchange opens a WebSocket.
    pub push: Option<Cow<'a, Push>>,
    /// Where the answer must be like those of the other servers: the parts that may differ.
    pub compared: Option<Cow<'a, [MayDiffer]>>,
    /// Why another answer is expected of this server than of the others; `None` if it is not.
    pub because: Option<Cow<'a, str>>,
}

impl Exchange<'_> {
    /// The same without the contract that it borrows from.
    pub fn into_owned(self) -> Exchange<'static> {
        let Self { name, request, expect, push, compared, because } = self;
        Exchange {
            name: name.into_owned().into(),
            request: Cow::Owned(request.into_owned()),
            expect: Cow::Owned(expect.into_owned()),
            push: push.map(|push| Cow::Owned(push.into_owned())),
            compared: compared.map(|parts| parts.into_owned().into()),
            because: because.map(|because| because.into_owned().into()),
        }
    }
}

impl Contract {
    /// Everything that `server` (`http4s.Tapir@1.11.15`, the version where it has one, and ` HTTP/2` where it is asked in
    /// that) with this number of `routes` must answer: first the checks, then the scenarios.
    pub fn exchanges<'a>(&'a self, server: &'a str, routes: u32) -> impl Iterator<Item = Exchange<'a>> {
        let exchange = |name: &'a str, request, expect| Exchange {
            name: name.into(),
            request: Cow::Borrowed(request),
            expect: Cow::Borrowed(expect),
            push: None,
            compared: None,
            because: None,
        };
        let checks = self.checks.iter().map(move |c| (c.routes, exchange(&c.name, &c.request, &c.expect)));
        let of_scenario = move |(name, s): (&'a String, &'a Scenario)| {
            let compared = s.compares_answers().then_some(s.may_differ.as_slice().into());
            let push = s.push.as_ref().map(Cow::Borrowed);
            (s.routes, Exchange { push, compared, ..exchange(name, &s.request, &s.expect) })
        };
        let all = checks.chain(self.scenarios.iter().map(of_scenario)).filter(move |(needs, _)| *needs <= routes);
        let asked = all.filter(move |(_, exchange)| self.why_not_served(server, &exchange.name).is_none());
        asked.map(move |(_, exchange)| match self.difference(server, &exchange.name) {
            None => exchange,
            Some(allowed) => Exchange {
                expect: Cow::Borrowed(&allowed.expect),
                compared: None,
                because: Some(allowed.because.as_str().into()),
                ..exchange
            },
        })
    }

    /// What `server` must answer to the named scenario.
    pub fn exchange<'a>(&'a self, server: &'a str, scenario: &str) -> Option<Exchange<'a>> {
        self.exchanges(server, u32::MAX).find(|exchange| exchange.name == scenario)
    }

    fn difference(&self, server: &str, check: &str) -> Option<&Difference> {
        self.differences.iter().find(|d| d.check == check && names_server(&d.servers, server))
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
