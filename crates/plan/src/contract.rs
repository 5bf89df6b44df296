//! The contract: what each server must answer. One plain-data file drives the verifier and the load.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::PlanError;
use crate::body::BodySpec;
use crate::document;
use crate::push::Push;

/// The contract of a set of servers, as written in `contract.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Version of the format; 1.
    pub schema: u32,
    /// What is timed, by name.
    #[serde(default)]
    pub scenarios: BTreeMap<String, Scenario>,
    /// What is verified and never timed.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// Where a server legitimately answers otherwise, and why.
    #[serde(default)]
    pub differences: Vec<Difference>,
    /// What a server cannot be asked at all, and why.
    #[serde(default)]
    pub lacks: Vec<Lack>,
}

/// One exchange that is timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// One line for people.
    #[serde(default)]
    pub title: String,
    /// The least number of routes a server must have to be asked this.
    #[serde(default = "one")]
    pub routes: u32,
    /// What is sent.
    pub request: Request,
    /// What must come back, on every single answer.
    pub expect: Expect,
    /// Where the request opens a WebSocket: what the server then pushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<Push>,
}

/// One exchange that is verified before anything is timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A sentence: what holds when the check passes.
    pub name: String,
    /// The least number of routes a server must have to be asked this.
    #[serde(default = "one")]
    pub routes: u32,
    /// What is sent.
    pub request: Request,
    /// What must come back.
    pub expect: Expect,
}

/// A request, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// HTTP method.
    #[serde(default = "get")]
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers beside `Host` and `Content-Length`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<BodySpec>,
}

/// What must come back. What is absent is not checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Status code; 200 when absent.
    #[serde(default = "ok")]
    pub status: u16,
    /// Headers that matter: names without regard to case, values exact.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body, exactly; or only its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<ExpectBody>,
}

/// What is demanded of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "an expected body is a string, { bytes = LENGTH } or { same_as = \"request\" }")]
pub enum ExpectBody {
    /// Byte for byte.
    Exact(String),
    /// Only its length.
    Length {
        /// Length in bytes.
        bytes: u64,
    },
    /// What was sent, byte for byte.
    Same {
        /// What it equals.
        same_as: SameAs,
    },
}

/// What a body may have to equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameAs {
    /// The request's body.
    Request,
}

/// A difference that is legitimate: the check is not held against these servers, and `tare verify` shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Globs over server names (`http4s.*`), or over names with versions (`http4s.Tapir@1.8.*`).
    pub servers: Vec<String>,
    /// Name of the check or scenario.
    pub check: String,
    /// Why the library answers otherwise.
    pub because: String,
    /// What these servers must answer instead.
    pub expect: Expect,
}

/// Something that a server's library does not have: the server is not asked, and the planning says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lack {
    /// Globs over server names, or over names with versions, as in [`Difference::servers`].
    pub servers: Vec<String>,
    /// Globs over scenarios.
    pub scenarios: Vec<String>,
    /// What is not there.
    pub because: String,
}

/// A request with what must come back, under the name it is reported by.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange<'a> {
    /// Name of the scenario or check.
    pub name: &'a str,
    /// What is sent.
    pub request: &'a Request,
    /// What must come back from this server.
    pub expect: &'a Expect,
    /// What is pushed afterwards, where the exchange opens a WebSocket.
    pub push: Option<&'a Push>,
    /// Why this server is held to another answer than the others, where it is.
    pub because: Option<&'a str>,
}

impl Request {
    /// The bytes of the body to send; none where there is no body.
    pub fn body_bytes(&self) -> Arc<[u8]> {
        self.body.as_ref().map_or_else(|| [].into(), BodySpec::bytes)
    }
}

fn one() -> u32 {
    1
}

fn ok() -> u16 {
    200
}

fn get() -> String {
    "GET".to_owned()
}

impl Contract {
    /// Reads a contract; `file` names the place of an error.
    ///
    /// # Errors
    /// [`PlanError::Document`] with the line, or [`PlanError::Value`] for another schema or a path without `/`.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let contract: Self = document::parse(file, text)?;
        let wrong = |message: String| PlanError::Value { origin: file.to_owned(), message };
        if contract.schema != 1 {
            return Err(wrong(format!("schema = {} is unknown to this tare; write schema = 1", contract.schema)));
        }
        for exchange in contract.exchanges("", u32::MAX) {
            check_exchange(exchange.request, exchange.push)
                .map_err(|message| wrong(format!("\"{}\": {message}", exchange.name)))?;
        }
        for difference in &contract.differences {
            if !contract.exchanges("", u32::MAX).any(|exchange| exchange.name == difference.check) {
                return Err(wrong(format!(
                    "[[differences]] names \"{}\", which is neither a check nor a scenario",
                    difference.check
                )));
            }
        }
        Ok(contract)
    }

    /// Everything that `server` (`http4s.Tapir@1.11.15`, the version where it has one) with so many `routes` must answer: first
    /// the checks, then the scenarios.
    pub fn exchanges<'a>(&'a self, server: &'a str, routes: u32) -> impl Iterator<Item = Exchange<'a>> {
        let checks = self.checks.iter().map(|c| (c.name.as_str(), c.routes, &c.request, &c.expect, None));
        let of =
            |(name, s): (&'a String, &'a Scenario)| (name.as_str(), s.routes, &s.request, &s.expect, s.push.as_ref());
        let all = checks.chain(self.scenarios.iter().map(of)).filter(move |(_, needs, ..)| *needs <= routes);
        let asked = all.filter(move |(name, ..)| self.lack(server, name).is_none());
        asked.map(move |(name, _, request, expect, push)| {
            let difference = self.difference(server, name);
            Exchange {
                name,
                request,
                expect: difference.map_or(expect, |d| &d.expect),
                push,
                because: difference.map(|d| d.because.as_str()),
            }
        })
    }

    /// What `server` must answer to the named scenario.
    pub fn exchange<'a>(&'a self, server: &'a str, scenario: &str) -> Option<Exchange<'a>> {
        self.exchanges(server, u32::MAX).find(|exchange| exchange.name == scenario)
    }

    fn difference(&self, server: &str, check: &str) -> Option<&Difference> {
        self.differences.iter().find(|d| d.check == check && names_server(&d.servers, server))
    }

    /// Why `server` cannot be asked the named scenario, where it cannot.
    pub fn lack(&self, server: &str, scenario: &str) -> Option<&str> {
        let holds = |lack: &&Lack| names_server(&lack.servers, server) && names(&lack.scenarios, scenario);
        self.lacks.iter().find(holds).map(|lack| lack.because.as_str())
    }
}

/// Whether a glob is for this server, with its version or without.
fn names_server(globs: &[String], server: &str) -> bool {
    names(globs, server) || names(globs, server.split('@').next().unwrap_or(server))
}

fn names(globs: &[String], name: &str) -> bool {
    let is = |glob: &String| globset::Glob::new(glob).is_ok_and(|glob| glob.compile_matcher().is_match(name));
    globs.iter().any(is)
}

/// Refuses what could not be sent as one HTTP/1.1 request, and pushes that cannot be.
pub(crate) fn check_exchange(request: &Request, push: Option<&Push>) -> Result<(), String> {
    check_request(request)?;
    push.and_then(Push::contradiction).map_or(Ok(()), |wrong| Err(wrong.to_owned()))
}

/// Refuses what could not be sent as one HTTP/1.1 request.
fn check_request(request: &Request) -> Result<(), String> {
    let token = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&b))
    };
    if !token(&request.method) {
        return Err(format!("method \"{}\" is not an HTTP method", request.method.escape_debug()));
    }
    if !request.path.starts_with('/') || request.path.bytes().any(|b| !b.is_ascii_graphic()) {
        return Err(format!("path \"{}\" must begin with / and hold no blanks", request.path.escape_debug()));
    }
    for (name, value) in &request.headers {
        if !token(name) || value.bytes().any(|b| b < b' ' && b != b'\t' || b == 0x7f) {
            return Err(format!("header \"{}\" cannot be sent", name.escape_debug()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
schema = 1
[scenarios.SimpleGet]
request = { path = "/path0/4" }
expect = { body = "4", headers = { content-type = "text/plain" } }
[scenarios.Multi]
routes = 128
request = { path = "/path127/4" }
expect = { body = "131" }
[[checks]]
name = "a malformed id is refused"
request = { path = "/path0/x" }
expect = { status = 404 }
[scenarios.Push]
request = { path = "/ws/ts" }
expect = { status = 101 }
push = { period = "100ms", messages = 600 }
[[differences]]
servers = ["*.Tapir"]
check = "a malformed id is refused"
because = "Tapir decodes the path after it has matched"
expect = { status = 400 }
[[lacks]]
servers = ["*.Tapir@1.8.*", "old.*"]
scenarios = ["Push*"]
because = "no WebSockets"
"#;

    #[test]
    fn a_server_is_asked_only_what_its_routes_allow() {
        let contract = Contract::parse("c.toml", TEXT).unwrap();
        let names = |routes| contract.exchanges("a", routes).map(|e| e.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(1), ["a malformed id is refused", "Push", "SimpleGet"]);
        assert_eq!(names(128), ["a malformed id is refused", "Multi", "Push", "SimpleGet"]);
    }

    #[test]
    fn a_legitimate_difference_replaces_what_is_expected_and_says_why() {
        let contract = Contract::parse("c.toml", TEXT).unwrap();
        let status = |server| contract.exchange(server, "a malformed id is refused").unwrap().expect.status;
        assert_eq!((status("x.Vanilla"), status("x.Tapir")), (404, 400));
        assert_eq!(status("x.Tapir@1.8.1"), 400);
        let of_a_version = TEXT.replace("*.Tapir", "*.Tapir@1.8.*");
        let contract = Contract::parse("c.toml", &of_a_version).unwrap();
        let status = |server| contract.exchange(server, "a malformed id is refused").unwrap().expect.status;
        assert_eq!((status("x.Tapir@1.8.1"), status("x.Tapir@1.11.15"), status("x.Tapir")), (400, 404, 404));
    }

    #[test]
    fn a_server_is_not_asked_what_its_library_lacks() {
        let contract = Contract::parse("c.toml", TEXT).unwrap();
        for (server, because) in [
            ("x.Tapir@1.8.1", Some("no WebSockets")),
            ("x.Tapir@1.11.15", None),
            ("old.Vanilla", Some("no WebSockets")),
            ("old.Vanilla@2", Some("no WebSockets")),
        ] {
            assert_eq!(contract.lack(server, "Push"), because, "{server}");
            assert_eq!(contract.exchange(server, "Push").is_none(), because.is_some(), "{server}");
            assert_eq!(contract.lack(server, "SimpleGet"), None);
        }
        let endless = TEXT.replace("\"100ms\"", "\"0ms\"");
        assert!(Contract::parse("c.toml", &endless).unwrap_err().to_string().contains("period must be above 0"));
    }

    #[test]
    fn a_contract_of_another_schema_or_with_a_bad_path_is_refused() {
        let other = Contract::parse("c.toml", "schema = 9").unwrap_err().to_string();
        assert_eq!(other, "c.toml: schema = 9 is unknown to this tare; write schema = 1");
        let path = TEXT.replace("\"/path0/4\"", "\"path0/4\"");
        assert!(Contract::parse("c.toml", &path).unwrap_err().to_string().contains("must begin with /"));
        let split = TEXT.replace("/path0/x", "/path0/x\\r\\nHost: evil");
        assert!(Contract::parse("c.toml", &split).is_err());
    }
}
