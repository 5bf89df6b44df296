//! Which variants are compared, and under which scenarios: groups, variants, and how each is started.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::like::Changes;
use super::transport::Transport;
use crate::contract::{HttpVersion, Scenario, TlsKeys, TransportKeys};

/// Variants that are compared with the first of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Unique in the plan: `http4s.Vanilla` or `http4s.Vanilla/SimpleGet`.
    pub id: String,
    /// The baseline stands first; an A/A control, where there is one, last.
    pub variants: Vec<Variant>,
    pub scenarios: Vec<NamedScenario>,
    /// Each variant adds one thing to the one before it: the steps are reported beside the comparisons.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ladder: bool,
}

impl Group {
    /// The variant that the others are compared with. Panics: never for a plan made by [`crate::resolve`]: a group
    /// holds at least its baseline.
    pub fn baseline(&self) -> &Variant {
        &self.variants[0]
    }

    /// The variants that start in the `fork`-th fork (1-based). A control joins the first three forks, which can decide, and
    /// then every second one: it guards the comparisons, and would take a third of their time. A group of a baseline and
    /// its control alone has both in each fork.
    pub fn variants_of_fork(&self, fork: u32) -> &[Variant] {
        let may_lack_control = fork > 3 && fork.is_multiple_of(2);
        match self.variants.as_slice() {
            [others @ .., last] if may_lack_control && last.role == Role::Control && others.len() > 1 => others,
            all => all,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedScenario {
    /// `SimpleGet`.
    pub name: String,
    pub scenario: Scenario,
}

/// A server with a version: one thing that is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// As shown, unique in its group: `http4s.Tapir`, `http4s.Tapir@1.9.11`, `http4s.Vanilla (again)`.
    pub name: String,
    pub server: String,
    /// Family in the catalog, or the server's own name.
    pub family: String,
    /// `vanilla`, `tapir`, `tapir-interceptor`; empty where unknown.
    pub kind: String,
    /// Version of the library, where the server has several.
    pub version: Option<String>,
    pub routes: u32,
    pub role: Role,
    pub program: Program,
    /// Of a proxy: the server behind it. Both are started together, and the proxy gets the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Box<Variant>>,
}

impl Variant {
    /// It, the server behind it, the one behind that, and so on.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |variant| variant.upstream.as_deref())
    }

    /// The server that answers: the last one behind a proxy, or itself.
    pub fn last_server(&self) -> &Self {
        self.upstream.as_deref().map_or(self, Self::last_server)
    }

    /// `http4s.Tapir@1.11.15`: the server that answers, with its version, as a contract names it; the bare server where it
    /// has none. Over HTTP/2 it ends with that.
    pub fn identity(&self) -> String {
        let last = self.last_server();
        let version = last.version.as_ref().map_or_else(String::new, |version| format!("@{version}"));
        let protocol = if last.program.transport().is_http2() { " HTTP/2" } else { "" };
        format!("{}{version}{protocol}", last.catalog_server())
    }

    /// The server of the catalog that it is, or is like; its own name where it is none.
    pub fn catalog_server(&self) -> &str {
        match &self.program {
            Program::CatalogLike { like, .. } => like,
            _ => &self.server,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Baseline,
    #[serde(rename = "weighed")]
    Compared,
    /// A second start of the baseline: any difference from the first is noise.
    Control,
}

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "program", rename_all = "snake_case")]
pub enum Program {
    /// A server of the catalog, built by `servers/build` and started from its manifest.
    Catalog,
    /// The same in another copy of the project, such as an earlier revision of it; `home` has `servers/catalog.toml`.
    CatalogIn { home: String },
    /// A server of the catalog with other options.
    CatalogLike {
        /// Its name in the catalog.
        like: String,
        changes: Changes,
        /// What it shall speak.
        #[serde(default)]
        transport: Transport,
    },
    /// A server that a suite describes.
    Command(Box<CommandServer>),
    /// A server that is already running, started outside tare.
    External {
        /// `http://HOST:PORT`, or `https://`.
        url: String,
        #[serde(default)]
        transport: Transport,
    },
}

impl Program {
    /// Whether it is a server of a catalog: of the project's, or of another copy of the project.
    pub const fn is_of_catalog(&self) -> bool {
        matches!(self, Self::Catalog | Self::CatalogIn { .. } | Self::CatalogLike { .. })
    }

    pub fn transport(&self) -> Transport {
        match self {
            Self::Command(server) => server.transport().unwrap_or_default(),
            Self::External { transport, .. } | Self::CatalogLike { transport, .. } => transport.clone(),
            Self::Catalog | Self::CatalogIn { .. } => Transport::default(),
        }
    }

    /// The copy of the project that it belongs to, where that is another than tare's own.
    pub fn other_home(&self) -> Option<&str> {
        match self {
            Self::CatalogIn { home } => Some(home),
            Self::Catalog | Self::CatalogLike { .. } | Self::Command(_) | Self::External { .. } => None,
        }
    }
}

/// A server that a suite file describes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandServer {
    /// Program and arguments; `{port}` is replaced by the port.
    pub command: Vec<String>,
    /// Instead of a command: the server that it is like, but for the following keys and `env`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// The home of another JDK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub java: Option<String>,
    /// Options of its JVM; each replaces those that set the same thing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
    /// Arguments after those of the other server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The version of HTTP that it is asked in; HTTP/1.1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<HttpVersion>,
    /// Requests that a connection of HTTP/2 carries at a time; 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// Whether a new connection over TLS may resume the session of an earlier one; it may when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumption: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsKeys>,
    /// Of a proxy: the server behind it. `{upstream}` is replaced by host and port of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_front_of: Option<String>,
    /// Files that are written before each start, by name; `{files}` is replaced by their folder.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// In words, how it differs from the server that it is like. Only a suite has it; a plan says it in its question.
    #[serde(skip)]
    pub differs: Option<String>,
    /// Shell command that builds it, run in its working directory before the first start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Instead of a command: the URL of a server that was started outside tare.
    pub url: Option<String>,
    /// Environment added to tare's own; `{port}` is replaced.
    pub env: BTreeMap<String, String>,
    /// Working directory; the suite file's folder when absent.
    pub cwd: Option<String>,
    /// Regular expression of the line that says the server is ready; a group named `port` gives its port.
    pub ready: Option<String>,
    /// Where it answers, `http://127.0.0.1:{port}` when absent.
    pub base_url: Option<String>,
    /// What it is compared with, unless the group says otherwise.
    pub baseline: Option<String>,
    /// How many routes it has; scenarios that need more are left out.
    pub routes: Option<u32>,
    /// For the report: `vanilla`, `middleware`, …
    pub kind: Option<String>,
    /// The source of its runtime's counters (bytes, collections); none when absent. A JVM's are always read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<CounterSource>,
}

impl CommandServer {
    /// What is spoken on the connections to it. Errors: the key, and what is wrong with it.
    pub fn transport(&self) -> Result<Transport, (&'static str, String)> {
        Transport::of(&self.transport_keys(), self.url.as_deref())
    }

    pub fn transport_keys(&self) -> TransportKeys {
        let Self { protocol, streams, resumption, tls, .. } = self;
        TransportKeys { protocol: *protocol, streams: *streams, resumption: *resumption, tls: tls.clone() }
    }

    /// It with these keys in the place of its own.
    #[must_use]
    pub fn asked_in(self, keys: TransportKeys) -> Self {
        let TransportKeys { protocol, streams, resumption, tls } = keys;
        Self { protocol, streams, resumption, tls, ..self }
    }

    /// The first of these keys that it has.
    pub(crate) fn first_given(&self, keys: &[&'static str]) -> Option<&'static str> {
        let [own, none] = [self, &Self::default()].map(|server| serde_json::to_value(server).unwrap_or_default());
        keys.iter().copied().find(|key| own.get(key) != none.get(key))
    }

    pub fn changes(&self) -> Changes {
        Changes {
            java: self.java.clone(),
            jvm_options: self.jvm_options.clone(),
            env: self.env.clone(),
            args: self.args.clone(),
        }
    }

    /// The texts in which placeholders are replaced.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        let Self { command, args, env, files, .. } = self;
        command.iter().chain(args).chain(env.values()).chain(files.values())
    }

    /// Whether its command starts a JVM, as far as it says: `java`, also behind `taskset`, `env` or a shell. A script that
    /// calls `java` does not show it.
    pub fn starts_jvm(&self) -> bool {
        let mut words = self.command.iter().flat_map(|argument| argument.split_whitespace());
        words.any(|word| word.rsplit('/').next() == Some("java"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterSource {
    /// A script that Node loads before the application.
    Node,
    /// The server itself.
    Own,
}
