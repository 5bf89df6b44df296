//! The known servers: `servers/catalog.toml`, and the build results of each family and version. `crate::build` builds
//! them and `crate::launch` makes their command lines.

mod manifest;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use serde::Deserialize;
use tare_plan::document;
use tare_plan::inventory::{Inventory, KnownServer};
use tare_plan::names::nearest_name;
use tare_plan::plan::HttpVersion;

use crate::SutError;
use crate::jdk::Jdk;
pub use manifest::{Built, Main, Manifest, Unavailable};

/// The version of the file formats that this tare reads.
const SCHEMA: u32 = 1;

#[derive(Debug, Clone)]
pub struct Catalog {
    /// The servers' folder.
    pub root: PathBuf,
    pub file: CatalogFile,
}

/// `catalog.toml`, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogFile {
    pub schema: u32,
    /// A regular expression for the frames of the layers under test. A profile reports their share.
    #[serde(default)]
    pub focus: String,
    pub jvm: JvmOptions,
    pub families: BTreeMap<String, Family>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JvmOptions {
    pub options: Vec<String>,
    /// Additional ones from Java 24 on.
    #[serde(default)]
    pub options_java_24: Vec<String>,
}

/// Servers that are built together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    pub title: String,
    /// The tool that builds it: a file in `servers/toolchains`; sbt by default.
    pub toolchain: Option<String>,
    pub default_version: String,
    #[serde(default)]
    pub versions: Vec<String>,
    /// The oldest Java that runs them; absent if they need none.
    pub min_java: Option<u32>,
    /// What they speak besides HTTP/1.1, where `TARE_PROTOCOL` in their environment asks for it.
    #[serde(default)]
    pub protocols: Vec<HttpVersion>,
    /// Why they speak HTTP/1.1 alone, or all but those that state protocols of their own.
    pub only_http1: Option<String>,
    pub servers: Vec<CatalogServer>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogServer {
    /// `http4s.Tapir`.
    pub name: String,
    pub routes: u32,
    /// `vanilla`, `tapir`, …
    pub kind: String,
    pub baseline: Option<String>,
    /// What it speaks besides HTTP/1.1, where that is not what its family does.
    pub protocols: Option<Vec<HttpVersion>>,
}

impl CatalogServer {
    /// What it speaks besides HTTP/1.1.
    pub fn protocols<'a>(&'a self, family: &'a Family) -> &'a [HttpVersion] {
        self.protocols.as_deref().unwrap_or(&family.protocols)
    }
}

/// A unit of building: a family at a version, written `FAMILY@VERSION`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    pub family: String,
    pub version: String,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.family, self.version)
    }
}

impl Catalog {
    /// Reads the catalog in the servers' folder.
    pub fn load(servers: &Path) -> Result<Self, SutError> {
        let path = servers.join("catalog.toml");
        let text = fs::read_to_string(&path).map_err(SutError::file("read the catalog of servers", &path))?;
        let root = servers.canonicalize().unwrap_or_else(|_| servers.to_owned());
        Ok(Self { root, file: parse(&path.display().to_string(), &text)? })
    }

    /// All servers for the planner, with the reason if one is not available on this machine.
    pub fn inventory(&self) -> Inventory {
        let mut servers = Vec::new();
        for (family_name, family) in &self.file.families {
            let unavailable = self.unavailable_family(family_name, family);
            servers.extend(family.servers.iter().map(|server| KnownServer {
                name: server.name.clone(),
                family: family_name.clone(),
                kind: server.kind.clone(),
                jvm: family.min_java.is_some(),
                routes: server.routes,
                protocols: server.protocols(family).to_vec(),
                only_http1: family.only_http1.clone().filter(|_| server.protocols(family).is_empty()),
                baseline: server.baseline.clone(),
                default_version: family.default_version.clone(),
                versions: family.versions.clone(),
                unavailable: unavailable.clone(),
            }));
        }
        Inventory {
            servers,
            jvm_options: self.file.jvm.options.clone(),
            focus: self.file.focus.clone(),
            certificate: Some(self.certificate().display().to_string()),
        }
    }

    /// The PEM file with the certificate that servers have over TLS, and with its private key.
    pub fn certificate(&self) -> PathBuf {
        self.root.join("certificate.pem")
    }

    pub fn family_of(&self, server: &str) -> Result<(&str, &Family), SutError> {
        let mut families = self.file.families.iter();
        let found = families.find(|(_, family)| family.servers.iter().any(|one| one.name == server));
        found.map(|(name, family)| (name.as_str(), family)).ok_or_else(|| {
            let names = self.file.families.values().flat_map(|family| &family.servers).map(|one| one.name.as_str());
            let near =
                nearest_name(server, names).map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
            SutError::Other(format!("there is no server \"{server}\" in {}{near}", self.path().display()))
        })
    }

    fn family(&self, name: &str) -> Result<&Family, SutError> {
        let unknown = || SutError::Other(format!("there is no family \"{name}\" in {}", self.path().display()));
        self.file.families.get(name).ok_or_else(unknown)
    }

    /// The oldest Java that runs the servers of a family; 0 if they need none.
    pub fn min_java(&self, family: &str) -> Result<u32, SutError> {
        Ok(self.family(family)?.min_java.unwrap_or(0))
    }

    pub fn default_target(&self, family: &str) -> Result<Target, SutError> {
        Ok(Target { family: family.to_owned(), version: self.family(family)?.default_version.clone() })
    }

    pub fn resolve_target(&self, server: &str, version: Option<&str>) -> Result<Target, SutError> {
        let (name, family) = self.family_of(server)?;
        Ok(Target { family: name.to_owned(), version: version.unwrap_or(&family.default_version).to_owned() })
    }

    pub fn build_result(&self, target: &Target) -> Result<Built, SutError> {
        manifest::read(&self.manifests(), target)
    }

    fn unavailable_family(&self, name: &str, family: &Family) -> Option<String> {
        if let Some(Err(error)) = family.min_java.map(|minimum| Jdk::find_suitable(minimum, None)) {
            return Some(error.to_string());
        }
        let target = Target { family: name.to_owned(), version: family.default_version.clone() };
        match self.build_result(&target) {
            Ok(Built::Unavailable(unavailable)) => Some(unavailable.reason),
            // A damaged manifest is built again when it is needed.
            Ok(_) | Err(_) => None,
        }
    }

    fn path(&self) -> PathBuf {
        self.root.join("catalog.toml")
    }

    fn manifests(&self) -> PathBuf {
        self.root.join("target/manifests")
    }
}

fn parse(file: &str, text: &str) -> Result<CatalogFile, SutError> {
    let catalog: CatalogFile = document::parse_document(file, text)?;
    let wrong = |message: String| Err(SutError::Other(format!("{file}: {message}")));
    if catalog.schema != SCHEMA {
        return wrong(format!("schema = {} is unknown to this tare; write schema = {SCHEMA}", catalog.schema));
    }
    let names: Vec<&str> = catalog.families.values().flat_map(|f| &f.servers).map(|s| s.name.as_str()).collect();
    for (family, server) in catalog.families.iter().flat_map(|(n, f)| f.servers.iter().map(move |s| (n, s))) {
        let place = format!("families.{family}: server \"{}\"", server.name);
        if names.iter().filter(|name| **name == server.name).count() > 1 {
            return wrong(format!("{place} is there twice; rename one"));
        }
        if let Some(baseline) = server.baseline.as_deref().filter(|baseline| !names.contains(baseline)) {
            let near = nearest_name(baseline, names.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
            return wrong(format!("{place} has the baseline \"{baseline}\", which is no server{near}"));
        }
    }
    Ok(catalog)
}

fn read_optional(path: &Path) -> Result<Option<String>, SutError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SutError::File { doing: "read", path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
schema = 1
[jvm]
options = ["-Xmx1g"]
[families.http4s]
title = "http4s"
default_version = "1.11.15"
versions = ["1.11.15", "1.10.0"]
min_java = 8
[[families.http4s.servers]]
name = "http4s.Vanilla"
routes = 1
kind = "vanilla"
[[families.http4s.servers]]
name = "http4s.Tapir"
routes = 1
kind = "tapir"
baseline = "http4s.Vanilla"
"#;

    #[test]
    fn the_inventory_says_what_the_catalog_says() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("catalog.toml"), TEXT).unwrap();
        let catalog = Catalog::load(directory.path()).unwrap();
        let inventory = catalog.inventory();
        assert_eq!(inventory.names(), ["http4s.Vanilla", "http4s.Tapir"]);
        assert_eq!(inventory.get("http4s.Tapir").unwrap().baseline.as_deref(), Some("http4s.Vanilla"));
        assert_eq!(inventory.jvm_options, ["-Xmx1g"]);
        assert_eq!(catalog.resolve_target("http4s.Tapir", None).unwrap().to_string(), "http4s@1.11.15");
        assert_eq!(catalog.resolve_target("http4s.Tapir", Some("1.10.0")).unwrap().to_string(), "http4s@1.10.0");
        let near = catalog.resolve_target("http4s.Tapr", None).unwrap_err().to_string();
        assert!(near.contains("did you mean \"http4s.Tapir\"?"), "{near}");
    }

    #[test]
    fn the_error_of_a_catalog_names_the_place() {
        for (from, to, says) in [
            ("schema = 1", "schema = 7", "write schema = 1"),
            ("min_java", "min_jave", "did you mean \"min_java\"?"),
            ("routes = 1", "routes = \"1\"", "c.toml:12"),
            ("\"http4s.Tapir\"", "\"http4s.Vanilla\"", "is there twice"),
            ("baseline = \"http4s.Vanilla\"", "baseline = \"http4s.Vanila\"", "did you mean \"http4s.Vanilla\"?"),
        ] {
            let error = parse("c.toml", &TEXT.replace(from, to)).unwrap_err().to_string();
            assert!(error.starts_with("c.toml") && error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_missing_catalog_is_named() {
        let error = Catalog::load(Path::new("/no/such/servers")).unwrap_err().to_string();
        assert!(error.contains("/no/such/servers/catalog.toml"), "{error}");
    }
}
