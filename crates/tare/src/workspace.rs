//! The project's folder and what lies in it: the catalog of servers, the contract, the suites.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tare_plan::PlanError;
use tare_plan::contract::{BodySpec, Contract, Request, requests_mut};
use tare_plan::inventory::Inventory;
use tare_plan::names::select_names;
use tare_plan::suite::Suite;
use tare_sut::catalog::Catalog;

use crate::args::Global;
use crate::failure::wrong_usage;
use crate::protoset::Protoset;

/// The suite of a folder, which is read where none is named.
pub const SUITE_FILE: &str = "tare.toml";

/// The servers that are known here, with their contract.
pub struct Workspace {
    pub home: Option<PathBuf>,
    pub catalog: Option<Catalog>,
    /// What the catalog's servers must answer.
    pub contract: Contract,
    /// The catalog's servers, as the planning knows them.
    pub inventory: Inventory,
}

impl Workspace {
    /// Reads the project's catalog and contract. Without a project there are only the servers of a suite file.
    pub fn load(global: &Global) -> anyhow::Result<Self> {
        let Some(home) = find(global)? else {
            let contract = Contract { schema: 1, ..Contract::default() };
            return Ok(Self { home: None, catalog: None, contract, inventory: Inventory::default() });
        };
        let catalog = Catalog::load(&home.join("servers"))?;
        let contract = read_contract(&home.join("servers/contract.toml"))?;
        let inventory = catalog.inventory();
        Ok(Self { home: Some(home), catalog: Some(catalog), contract, inventory })
    }

    /// Adds releases that only the user names, such as 1.11.13. The build shows whether they exist. A version that one of the
    /// chosen servers has is not added: a server that lacks it cannot have it.
    pub fn add_releases<'a>(&mut self, servers: Option<&[String]>, versions: impl IntoIterator<Item = &'a String>) {
        let chosen = servers.map(|patterns| select_names("--servers", "server", patterns, &self.inventory.names()));
        // The plan says what is wrong with the names.
        let Some(Ok(chosen)) = chosen else { return };
        let is_listed = |version: &String| {
            let mut known = chosen.iter().filter_map(|name| self.inventory.get(name));
            known.any(|server| server.versions.contains(version))
        };
        let named = versions.into_iter().filter(|version| is_release(version) && !is_listed(version));
        let named: Vec<String> = named.cloned().collect();
        self.inventory.add_releases(&chosen, &named);
    }

    /// The suite that is named, or else that of the working directory; none where there is none.
    pub fn usual_suite(&self, named: Option<&Path>) -> anyhow::Result<Option<Suite>> {
        let usual = Some(Path::new(SUITE_FILE)).filter(|file| file.exists());
        named.or(usual).map(|path| self.read_suite(path)).transpose()
    }

    /// The same, for commands that need servers and no comparison: the catalog's will do.
    pub fn suite_for(&self, named: Option<&Path>) -> anyhow::Result<Suite> {
        match self.usual_suite(named)? {
            None if self.inventory.servers.is_empty() => Err(no_suite()),
            suite => Ok(suite.unwrap_or_default()),
        }
    }

    /// The suite of that name: as a path, or one of the project's `suites/`.
    pub fn read_suite(&self, named: &Path) -> anyhow::Result<Suite> {
        let mut path = named.to_owned();
        if !path.exists() {
            let of_home = self.home.iter().flat_map(|home| {
                let of_suites = home.join("suites").join(named);
                [home.join(named), of_suites.clone(), of_suites.with_extension("toml")]
            });
            path = of_home.into_iter().find(|path| path.is_file()).unwrap_or(path);
        }
        let bytes = std::fs::read(&path).map_err(|error| {
            let suites = if error.kind() == ErrorKind::NotFound { self.suites() } else { String::new() };
            anyhow::anyhow!("cannot read the suite {}{suites}: {error}", shown_path(&path))
        })?;
        let no_text = "is not text in UTF-8; a suite is a TOML file";
        let text = String::from_utf8(bytes).map_err(|_| PlanError::value(shown_path(&path), no_text))?;
        let mut suite = Suite::parse(&shown_path(&path), &text)?;
        read_bodies(&path, requests_mut(&mut suite.scenarios, &mut suite.checks))?;
        Ok(suite)
    }

    /// The project's suites, or how to make one, for an error message.
    fn suites(&self) -> String {
        let Some(home) = &self.home else { return format!("; tare init writes {SUITE_FILE} for your project") };
        let names = names_in(&home.join("suites")).into_iter().filter(|name| name.ends_with(".toml"));
        let names: Vec<String> = names.map(|name| format!("suites/{name}")).collect();
        format!("; there are: {}", names.join(", "))
    }

    pub fn quick_suite(&self) -> anyhow::Result<Suite> {
        let home = self.home.as_ref().ok_or_else(no_suite)?;
        self.read_suite(&home.join("suites/quick.toml"))
    }
}

fn no_suite() -> anyhow::Error {
    wrong_usage(
        "no suite is named, and this folder has no tare.toml: name one, as in tare run my.toml or tare verify --suite my.toml; \
         tare init writes one for your project, tare example prints one to start with. For the servers of tare's own project, \
         give its folder with --home or TARE_HOME",
    )
}

/// Three numbers, and what may follow them: 1.11.13, 1.0.0-M7.
fn is_release(text: &str) -> bool {
    regex::Regex::new(r"^[0-9]+\.[0-9]+\.[0-9]+([-+.].*)?$").is_ok_and(|release| release.is_match(text))
}

pub fn read_contract(path: &Path) -> anyhow::Result<Contract> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut contract = Contract::parse(&shown_path(path), &text)?;
    read_bodies(path, requests_mut(&mut contract.scenarios, &mut contract.checks))?;
    Ok(contract)
}

/// Puts the bytes of files and messages in the place of their names, so that a plan holds all that is sent. Paths count
/// from the file that names them.
fn read_bodies<'a>(origin: &Path, requests: impl Iterator<Item = &'a mut Request>) -> anyhow::Result<()> {
    let of_file = |file: &str| {
        let path = origin.with_file_name(file);
        std::fs::read(&path).with_context(|| format!("{}: cannot read {}", shown_path(origin), shown_path(&path)))
    };
    for request in requests {
        let bytes = match &request.body {
            Some(BodySpec::OfFile { file }) => of_file(file)?,
            Some(BodySpec::Json { json, protoset }) => {
                let protoset = Protoset::parse(Path::new(protoset), &of_file(protoset)?)?;
                let message = protoset.message(&request.path, json);
                message.with_context(|| format!("{}: {}", shown_path(origin), request.path))?
            }
            _ => continue,
        };
        request.body = Some(BodySpec::of_bytes(bytes));
    }
    Ok(())
}

/// A folder is the project's when it has a catalog of servers.
fn find(global: &Global) -> anyhow::Result<Option<PathBuf>> {
    let is_home = |path: &Path| path.join("servers/catalog.toml").is_file();
    if let Some(home) = &global.home {
        if !is_home(home) {
            let home = home.display();
            let text = format!("{home} has no servers/catalog.toml; give the folder of the project with --home");
            return Err(wrong_usage(text));
        }
        return Ok(Some(home.clone()));
    }
    let here = std::env::current_dir().context("the working directory is gone")?;
    let program = std::env::current_exe().ok();
    let candidates = here.ancestors().chain(program.as_deref().into_iter().flat_map(Path::ancestors));
    Ok(candidates.map(Path::to_owned).find(|path| is_home(path)))
}

/// The names of what is in a folder, sorted.
pub fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A path as the user would type it: relative to the working directory where it lies below.
pub fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    if shown == Path::new("") { ".".to_owned() } else { shown.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_in_which_a_command_is_typed_has_a_name() {
        let here = std::env::current_dir().unwrap();
        assert_eq!([Path::new(""), &here, &here.join("runs")].map(shown_path), [".", ".", "runs"]);
    }

    #[test]
    fn a_suite_that_is_not_there_says_how_to_make_one() {
        let (contract, inventory) = (Contract::default(), Inventory::default());
        let nowhere = Workspace { home: None, catalog: None, contract, inventory };
        let error = nowhere.read_suite(Path::new("nowhere.toml")).unwrap_err().to_string();
        let told = "cannot read the suite nowhere.toml; tare init writes tare.toml for your project: ";
        assert!(error.starts_with(told), "{error}");
    }

    #[test]
    fn a_release_has_three_numbers() {
        for (text, expected) in [
            ("1.11.13", true),
            ("1.0.0-M7", true),
            ("10.2.10.1", true),
            ("1.11", false),
            ("9.9.x", false),
            ("v1.2.3", false),
            ("main", false),
            ("1..3", false),
            ("1.2.", false),
        ] {
            assert_eq!(is_release(text), expected, "{text}");
        }
    }
}
