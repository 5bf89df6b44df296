//! A suite as written: `suites/*.toml`. Nothing is resolved here; what is absent stays absent.

mod chains;
mod likes;

use core::net::IpAddr;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::PlanError;
use crate::contract::{Check, Contract, Scenarios, complete_all};
use crate::document;
use crate::names::wrong_expression;
use crate::plan::CommandServer;
use crate::profile::ProfileOptions;
use crate::ratio_limit::RatioLimit;
use crate::settings::{Options, all_settings};

pub use chains::{FILES, UPSTREAM};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Suite {
    pub suite: About,
    /// How to measure: every key is also a flag of `tare run`.
    pub run: Options,
    /// Profiling starts after the scored ones; none when absent.
    pub profile: Option<ProfileOptions>,
    pub check: CheckOptions,
    /// What is compared with what; without any, servers are grouped by their own `baseline`.
    pub groups: Vec<GroupSpec>,
    /// Servers in addition to those of the catalog.
    pub servers: BTreeMap<String, CommandServer>,
    /// Scenarios in addition to those of the contract. One with the same name replaces that of the contract.
    pub scenarios: Scenarios,
    /// Checks of this suite's own servers.
    pub checks: Vec<Check>,
    /// File name as the user gave it, for messages.
    #[serde(skip)]
    pub file: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct About {
    /// Short name; the file's name when absent.
    pub name: Option<String>,
    /// The question in words, the first line of the report.
    pub question: Option<String>,
}

/// What `tare check` compares with, and the limits that it judges.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckOptions {
    /// A git revision, a folder or a command; `--baseline` wins.
    pub baseline: Option<String>,
    /// What a change may not cost, such as `cpu > +3%`; `--fail-if` wins.
    pub fail_if: Vec<RatioLimit>,
}

/// Servers that are compared with one baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    pub baseline: String,
    /// Library version of the baseline, where it is another than that of the servers (catalog servers).
    pub baseline_version: Option<String>,
    /// Folder of the copy of the project that the baseline is built from, where it is another (`tare check`).
    #[serde(skip)]
    pub baseline_home: Option<String>,
    /// Catalog servers at versions of their own that are compared too (`tare bisect`).
    #[serde(skip)]
    pub pinned: Vec<(String, String)>,
    /// Names or globs; the baseline need not be among them.
    pub servers: Vec<String>,
    /// Names or globs; all that the servers can answer when absent.
    pub scenarios: Option<Vec<String>>,
    /// Each server adds one thing to the one before it: what does each step cost?
    #[serde(default)]
    pub ladder: bool,
    /// Whether the baseline is measured where nothing is compared, too: groups of a suite name it, `-s` may omit it.
    #[serde(skip)]
    pub with_baseline: bool,
}

impl Suite {
    /// Reads a suite; `file` names the place of an error. Errors: [`PlanError::Document`] with the line,
    /// [`PlanError::Value`] for a server without a command or a scenario that cannot be sent.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let mut suite: Self = document::parse_document(file, text)?;
        file.clone_into(&mut suite.file);
        for server in suite.servers.values_mut() {
            server.tls = server.tls.take().map(|tls| tls.beside(file));
        }
        suite.check_contradictions()?;
        suite.check_names()?;
        suite.resolve_likes()?;
        for (name, server) in &suite.servers {
            let checked = suite.check_chain(name, server).and_then(|()| check_server(server));
            checked.map_err(|(key, message)| suite.value_error(&format!("[servers.{name}] {key}"), message))?;
        }
        // A proxy is compared with the server behind it, unless it names another one.
        for server in suite.servers.values_mut() {
            server.baseline = server.baseline.take().or_else(|| server.in_front_of.clone());
        }
        complete_all(file, &mut suite.scenarios, &mut suite.checks)?;
        Ok(suite)
    }

    /// Refuses settings of which one would be ignored.
    fn check_contradictions(&self) -> Result<(), PlanError> {
        let given: Vec<&str> = self.run.given_values().into_iter().map(|(key, _)| key).collect();
        let settings = all_settings();
        for setting in settings.iter().filter(|setting| given.contains(&setting.key) && setting.flag.conflicts_in_suite)
        {
            if let Some(other) = setting.flag.conflicts.iter().find(|other| given.contains(other)) {
                let message = format!("contradicts {other}; leave out one of them");
                return Err(self.value_error(&format!("[run] {}", setting.key), message));
            }
        }
        // A group names its baseline itself.
        let unused = given.iter().find(|key| !self.groups.is_empty() && ["baseline", "aa"].contains(key));
        unused.map_or(Ok(()), |key| {
            let message = "contradicts [[groups]]; leave out this key, or the groups".to_owned();
            Err(self.value_error(&format!("[run] {key}"), message))
        })
    }

    /// Refuses names that no flag could choose, and lists that choose nothing.
    fn check_names(&self) -> Result<(), PlanError> {
        let servers = self.servers.keys().map(|name| ("servers", name));
        let scenarios = self.scenarios.keys().map(|name| ("scenarios", name));
        let is_wrong =
            |name: &str| name.trim().is_empty() || name.contains(|c: char| "*?[]{},\\".contains(c) || c.is_control());
        if let Some((table, name)) = servers.chain(scenarios).find(|(_, name)| is_wrong(name)) {
            let message = "a name has letters, and none of * ? [ ] { } , \\, which mean several names".to_owned();
            return Err(self.value_error(&format!("[{table}.{name:?}]"), message));
        }
        let is_empty = |list: &Option<Vec<String>>| list.as_ref().is_some_and(Vec::is_empty);
        let of_run = [("[run] servers", &self.run.servers), ("[run] scenarios", &self.run.scenarios)];
        let of_groups = self.groups.iter().map(|group| ("[[groups]] scenarios", &group.scenarios));
        let empty = of_run.into_iter().chain(of_groups).find(|(_, list)| is_empty(list));
        empty.map_or(Ok(()), |(key, _)| {
            Err(self.value_error(key, "is empty; name one, or leave out the key".to_owned()))
        })
    }

    /// Adds a server that runs already, given as `http://HOST:PORT`, `https://HOST:PORT` or `NAME=http://HOST:PORT`;
    /// alone it is called `External`. Returns its name. Errors: [`PlanError::Value`] when that is no address, or the
    /// name is taken.
    pub fn add_external(&mut self, given: &str) -> Result<String, PlanError> {
        let wrong = |message: String| PlanError::value("--external", message);
        let (name, url) = match given.split_once('=') {
            Some((name, url)) if !name.is_empty() && !name.contains([':', '/']) => (name, url),
            _ => ("External", given),
        };
        external_host(url).map_err(wrong)?;
        let server = CommandServer { url: Some(url.to_owned()), ..CommandServer::default() };
        match self.servers.insert(name.to_owned(), server) {
            None => Ok(name.to_owned()),
            Some(_) => Err(wrong(format!("there are two servers called {name}; give each a name, as NAME={url}"))),
        }
    }

    /// Where a setting is written, before there is a plan: the flag, which wins, or this file and its key.
    pub fn origin_of(&self, key: &str, flags: &Options) -> String {
        let is_given = |options: &Options| options.given_values().iter().any(|(given, _)| *given == key);
        if is_given(&self.run) && !is_given(flags) {
            return format!("{}: [run] {key}", self.file);
        }
        let setting = all_settings().into_iter().find(|setting| setting.key == key);
        format!("--{}", setting.map_or_else(|| key.replace('_', "-"), |setting| setting.long()))
    }

    fn value_error(&self, key: &str, message: String) -> PlanError {
        PlanError::value(format!("{}: {key}", self.file), message)
    }

    /// The scenarios of the catalog's contract and this suite's own.
    pub fn scenarios_with(&self, of_catalog: &Contract) -> Scenarios {
        of_catalog.scenarios.clone().into_iter().chain(self.scenarios.clone()).collect()
    }
}

/// Refuses a server that could not be reached or started. An error names the key.
fn check_server(server: &CommandServer) -> Result<(), (&'static str, String)> {
    server.transport()?;
    // What a server of the catalog starts is known when the plan is made.
    if server.like.is_some() {
        return Ok(());
    }
    if let Some(url) = &server.url {
        if !server.command.is_empty() {
            return Err(("url", "names a server that runs already; leave out either url or command".to_owned()));
        }
        let of_start = ["build", "env", "cwd", "ready", "base_url", "counters"];
        if let Some(key) = server.first_given(&of_start) {
            let message =
                "is for a server that tare starts, and url names one that runs already; leave out one of them";
            return Err((key, message.to_owned()));
        }
        return external_host(url).map(drop).map_err(|message| ("url", message));
    }
    if server.command.first().is_none_or(String::is_empty) {
        let example = "command = [\"./my-server\", \"{port}\"], or like = \"OTHER\"";
        return Err(("command", format!("is empty; write for example {example}")));
    }
    if let Some(name) = server.env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(("env", format!("\"{name}\" is no name of a variable; write NAME = \"value\"")));
    }
    let has_path = |url: &&String| url.trim_start_matches("http://").trim_end_matches('/').contains(['/', '?', '#']);
    if let Some(url) = server.base_url.as_ref().filter(has_path) {
        let message = format!("\"{url}\" has a path, which belongs into the requests; write http://HOST:PORT");
        return Err(("base_url", message));
    }
    if let Some(url) = server.base_url.as_ref().filter(|url| !is_on_this_machine(url)) {
        let message = format!("\"{url}\" must be http:// on this machine, such as http://127.0.0.1:{{port}}");
        return Err(("base_url", message));
    }
    server.ready.as_deref().and_then(wrong_expression).map_or(Ok(()), |message| Err(("ready", message)))
}

/// Whether a URL is `http://` and of this machine: `http://127.0.0.1:{port}`, `http://[::1]`, `http://{address}:8080`.
fn is_on_this_machine(url: &str) -> bool {
    let authority = url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    // Within brackets a colon is no port's.
    let with_port = authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
    let host = with_port.map_or(authority, |(host, _)| host).trim_matches(['[', ']']);
    ["localhost", "{address}"].contains(&host)
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Host and port of a server that runs elsewhere, `127.0.0.1:8080` of `http://127.0.0.1:8080`. The port is 80 where
/// none is written, and 443 after `https://`. Errors: in words, when the address is not `http://HOST:PORT`.
pub fn external_host(url: &str) -> Result<String, String> {
    let wrong = || format!("\"{url}\" is not the address of a server; write http://HOST:PORT, without a path");
    let (rest, port) = match url.strip_prefix("https://") {
        Some(rest) => (Some(rest), 443),
        None => (url.strip_prefix("http://"), 80),
    };
    let host = rest.map(|rest| rest.trim_end_matches('/')).filter(|host| !host.is_empty());
    let host = host.filter(|host| !host.contains(['/', '?', '#', '@', ' '])).ok_or_else(wrong)?;
    match host.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && port.parse::<u16>().is_ok() => Ok(host.to_owned()),
        Some(_) if !host.ends_with(']') => Err(wrong()),
        _ => Ok(format!("{host}:{port}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_server_is_a_host_and_a_port() {
        assert_eq!(external_host("http://127.0.0.1:8080/").unwrap(), "127.0.0.1:8080");
        assert_eq!(external_host("http://[::1]:8080").unwrap(), "[::1]:8080");
        assert_eq!(external_host("http://shop.default").unwrap(), "shop.default:80");
        assert_eq!(external_host("http://[::1]/").unwrap(), "[::1]:80");
        assert_eq!(external_host("https://shop.default/").unwrap(), "shop.default:443");
        assert_eq!(external_host("https://shop.default:8443").unwrap(), "shop.default:8443");
        for wrong in ["127.0.0.1:8080", "ftp://a:1", "https://", "http://", "http://a:b", "http://a:1/x", "http://:1"] {
            assert!(external_host(wrong).unwrap_err().contains("http://HOST:PORT"), "{wrong}");
        }
    }

    #[test]
    fn external_servers_are_added_under_names_of_their_own() {
        let mut suite = Suite::default();
        suite.add_external("http://127.0.0.1:1").unwrap();
        suite.add_external("other=http://127.0.0.1:2").unwrap();
        assert_eq!(suite.servers.keys().collect::<Vec<_>>(), ["External", "other"]);
        assert!(
            suite.add_external("http://127.0.0.1:3").unwrap_err().to_string().contains("two servers called External")
        );
    }

    #[test]
    fn a_server_is_started_or_runs_already_but_not_both() {
        let text = "[servers.a]\nurl = \"http://a:1\"\ncommand = [\"x\"]";
        assert!(Suite::parse("my.toml", text).unwrap_err().to_string().contains("either url or command"));
        for key in ["build = \"make\"", "env = { A = \"1\" }", "cwd = \"a\"", "ready = \"x\"", "counters = \"own\""] {
            let error =
                Suite::parse("my.toml", &format!("[servers.a]\nurl = \"http://a:1\"\n{key}")).unwrap_err().to_string();
            let name = key.split(' ').next().unwrap();
            assert!(
                error.starts_with(&format!("my.toml: [servers.a] {name}: is for a server that tare starts")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_server_without_a_command_is_refused_with_its_key() {
        let error = Suite::parse("my.toml", "[servers.a]\ncommand = []").unwrap_err().to_string();
        assert!(error.starts_with("my.toml: [servers.a] command: is empty"), "{error}");
    }

    #[test]
    fn what_would_not_reach_a_server_is_refused() {
        for (line, says) in [
            ("base_url = \"http://127.0.0.1:{port}/api\"", "base_url: \"http://127.0.0.1:{port}/api\" has a path"),
            ("env = { \"A=B\" = \"c\" }", "env: \"A=B\" is no name of a variable"),
            ("env = { \"\" = \"c\" }", "env: \"\" is no name of a variable"),
        ] {
            let error =
                Suite::parse("my.toml", &format!("[servers.a]\ncommand = [\"x\"]\n{line}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("my.toml: [servers.a] {says}")), "{error}");
        }
        Suite::parse("my.toml", "[servers.a]\ncommand = [\"x\"]\nbase_url = \"http://[::1]:8080/\"").unwrap();
    }

    #[test]
    fn a_server_elsewhere_is_refused() {
        let text = "[servers.a]\ncommand = [\"x\"]\nbase_url = \"http://example.org\"";
        assert!(Suite::parse("my.toml", text).unwrap_err().to_string().contains("on this machine"));
        for url in ["https://[::1]", "http://127.evil.example", "http://[2001:db8::1]:80", "http://[::2]"] {
            assert!(!is_on_this_machine(url), "{url}");
        }
        for host in ["127.0.0.1:{port}", "localhost/", "[::1]:{port}", "[::1]", "127.8.8.8", "{address}:8080"] {
            assert!(is_on_this_machine(&format!("http://{host}")), "{host}");
        }
    }

    #[test]
    fn settings_of_which_one_would_be_ignored_are_refused() {
        let group = "[[groups]]\nbaseline = \"a\"\nservers = [\"b\"]";
        for (text, says) in [
            ("[run]\nforks = 3\nbudget = \"2m\"", "[run] budget: contradicts forks; leave out one of them"),
            ("[run]\nslo = \"p99<4ms\"\nduration = \"5s\"", "[run] slo: contradicts duration; leave out one of them"),
            ("[run]\nduration = 5\nforks = 3", "[run] duration: contradicts forks; leave out one of them"),
            ("[run]\naa = \"a\"\nservers = [\"b\"]", "[run] aa: contradicts servers; leave out one of them"),
            (
                &format!("[run]\nbaseline = \"b\"\n{group}"),
                "[run] baseline: contradicts [[groups]]; leave out this key, or the groups",
            ),
        ] {
            assert_eq!(Suite::parse("my.toml", text).unwrap_err().to_string(), format!("my.toml: {says}"));
        }
        // With --budget they hold.
        Suite::parse("my.toml", "[run]\nforks = 3\nat_least = 4\nmax_forks = 5").unwrap();
    }

    #[test]
    fn a_name_that_no_flag_could_choose_and_a_list_without_names_are_refused() {
        for (text, says) in [
            ("[servers.\"*\"]\ncommand = [\"x\"]", "[servers.\"*\"]: a name has letters, and none of *"),
            ("[servers.\"\"]\ncommand = [\"x\"]", "[servers.\"\"]: a name has letters"),
            (
                "[scenarios.\"a,b\"]\nrequest = { path = \"/\" }\nexpect = {}",
                "[scenarios.\"a,b\"]: a name has letters, and none of *",
            ),
            ("[run]\nservers = []", "[run] servers: is empty; name one, or leave out the key"),
            ("[run]\nscenarios = []", "[run] scenarios: is empty; name one"),
            ("[[groups]]\nbaseline = \"a\"\nservers = [\"b\"]\nscenarios = []", "[[groups]] scenarios: is empty"),
        ] {
            let error = Suite::parse("my.toml", text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("my.toml: {says}")), "{text}: {error}");
        }
        Suite::parse("my.toml", "[servers.\"ünser Dienst (2)\"]\ncommand = [\"x\"]").unwrap();
    }

    #[test]
    fn a_check_that_nothing_could_pass_or_that_is_called_like_a_scenario_is_refused() {
        let scenario = "[scenarios.Home]\nrequest = { path = \"/\" }\nexpect = {}\n";
        for (name, expect, says) in [
            ("odd", "{ body = { hex = \"0\" } }", "\"odd\": expect: \"0\" is not in hex; write two digits"),
            ("odd", "{ grpc_status = \"OK\" }", "\"odd\": expect: grpc_status is that of a gRPC call"),
            ("Home", "{ status = 404 }", "\"Home\": is the name of a scenario too; give the check another one"),
            ("first", "{ status = 404 }", "\"first\": two checks have this name"),
        ] {
            let check = |name: &str, expect: &str| {
                format!("[[checks]]\nname = \"{name}\"\nrequest = {{ path = \"/x\" }}\nexpect = {expect}\n")
            };
            let check = check("first", "{}") + &check(name, expect);
            let error = Suite::parse("my.toml", &(check + scenario)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("my.toml: [[checks]] {says}")), "{error}");
        }
    }

    #[test]
    fn the_error_of_a_misspelt_key_suggests_the_right_one() {
        let error = Suite::parse("my.toml", "[run]\nscenarois = [\"a\"]").unwrap_err().to_string();
        assert_eq!(error, "my.toml:2: unknown key \"scenarois\"; did you mean \"scenarios\"?");
    }
}
