//! The result of building a target: its manifest, or why it is not available on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{SCHEMA, Target, read_optional};
use crate::SutError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Built {
    /// It has never been built.
    Nothing,
    /// It was built. `crate::build` decides whether the sources have changed since.
    Manifest(Manifest),
    Unavailable(Unavailable),
}

/// `FAMILY@VERSION.json`, of classes or of a program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the file format; 1.
    pub schema: u32,
    pub family: String,
    pub version: String,
    pub sources_sha256: String,
    /// The resolved versions of the important libraries.
    pub resolved: BTreeMap<String, String>,
    /// The resolved versions of all libraries.
    #[serde(default)]
    pub all_modules: Vec<String>,
    /// For classes, the Java release that they were compiled for; `None` for a program.
    pub java_release: Option<u32>,
    /// For classes: files and folders for the class path.
    #[serde(default)]
    pub classpath: Vec<PathBuf>,
    /// For classes: its servers.
    #[serde(default)]
    pub servers: Vec<Main>,
    /// For a program: its command, followed by server and port.
    #[serde(default)]
    pub command: Vec<String>,
}

/// The class that starts a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Main {
    pub name: String,
    pub main: String,
}

/// `FAMILY@VERSION.unavailable.json`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unavailable {
    pub reason: String,
    /// What could not be resolved.
    pub artifact: String,
}

impl Manifest {
    pub fn main_class(&self, server: &str) -> Option<&str> {
        self.servers.iter().find(|one| one.name == server).map(|one| one.main.as_str())
    }

    /// The first missing file of the class path or of the command.
    pub fn missing_file(&self) -> Option<&Path> {
        let of_command = self.command.iter().map(Path::new).filter(|path| path.is_absolute());
        self.classpath.iter().map(PathBuf::as_path).chain(of_command).find(|path| !path.exists())
    }
}

/// Reads the state of a target. "Unavailable" wins, because a build removes that file before it tries again.
pub(super) fn read(folder: &Path, target: &Target) -> Result<Built, SutError> {
    let unavailable = folder.join(format!("{target}.unavailable.json"));
    if let Some(text) = read_optional(&unavailable)? {
        return parse(&unavailable, &text).map(Built::Unavailable);
    }
    let path = folder.join(format!("{target}.json"));
    let Some(text) = read_optional(&path)? else { return Ok(Built::Nothing) };
    let manifest: Manifest = parse(&path, &text)?;
    if manifest.schema != SCHEMA {
        let message = format!("\"schema\" is {}, which is unknown to this tare", manifest.schema);
        return Err(damaged_file_error(&path, &message));
    }
    if manifest.java_release.is_some() != manifest.command.is_empty() {
        return Err(damaged_file_error(&path, "it needs either \"java_release\" or \"command\""));
    }
    Ok(Built::Manifest(manifest))
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, SutError> {
    // The message of serde_json names the key, with the line at its end.
    serde_json::from_str(text).map_err(|error| damaged_file_error(path, &error.to_string()))
}

fn damaged_file_error(path: &Path, message: &str) -> SutError {
    SutError::Other(format!("{}: {message}; delete the file, and it is built again", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const TEXT: &str = r#"{"schema": 1, "family": "f", "version": "1", "sources_sha256": "00", "java_release": 17,
        "resolved": {"tapir": "1"}, "all_modules": [], "classpath": ["/no/such.jar"],
        "servers": [{"name": "f.Tapir", "main": "tare.Main"}]}"#;

    fn read_files(files: &[(&str, &str)]) -> Result<Built, SutError> {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        read(folder.path(), &Target { family: "f".into(), version: "1".into() })
    }

    #[test]
    fn a_manifest_knows_its_mains_and_what_is_missing() {
        let Built::Manifest(manifest) = read_files(&[("f@1.json", TEXT)]).unwrap() else { panic!("no manifest") };
        assert_eq!((manifest.main_class("f.Tapir"), manifest.main_class("f.Other")), (Some("tare.Main"), None));
        assert_eq!(manifest.missing_file(), Some(Path::new("/no/such.jar")));
    }

    #[test]
    fn a_manifest_is_of_classes_or_of_a_program() {
        let Built::Manifest(classes) = read_files(&[("f@1.json", TEXT)]).unwrap() else { panic!("no manifest") };
        assert_eq!((classes.java_release, classes.command.len()), (Some(17), 0));
        let text = TEXT.replace("\"java_release\": 17", "\"command\": [\"/no/such\", \"run\"]");
        let Built::Manifest(program) = read_files(&[("f@1.json", &text)]).unwrap() else { panic!("no manifest") };
        assert_eq!((program.java_release, program.command[1].as_str()), (None, "run"));
        let other = Manifest { classpath: Vec::new(), ..program };
        assert_eq!(other.missing_file(), Some(Path::new("/no/such")));
    }

    #[test]
    fn an_unavailable_target_has_a_reason() {
        let reason = r#"{"reason": "a:b:1 cannot be resolved", "artifact": "a:b:1"}"#;
        let built = read_files(&[("f@1.json", TEXT), ("f@1.unavailable.json", reason)]).unwrap();
        assert!(matches!(built, Built::Unavailable(unavailable) if unavailable.artifact == "a:b:1"));
        assert_eq!(read_files(&[]).unwrap(), Built::Nothing);
    }

    #[test]
    fn the_error_of_a_damaged_manifest_names_key_and_remedy() {
        for (text, says) in [
            (TEXT.replace("\"family\"", "\"famly\""), "famly"),
            (TEXT.replace("\"schema\": 1", "\"schema\": 2"), "schema"),
            (TEXT.replace("\"java_release\": 17,", ""), "either \"java_release\" or \"command\""),
            ("{".to_owned(), "line 1"),
        ] {
            let error = read_files(&[("f@1.json", &text)]).unwrap_err().to_string();
            assert!(error.contains("f@1.json") && error.contains(says) && error.contains("delete the file"), "{error}");
        }
    }
}
