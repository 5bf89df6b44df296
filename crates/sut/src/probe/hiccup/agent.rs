//! The agent that puts the meter into a JVM: its file and its build.

use std::path::PathBuf;
use std::process::Command;

use crate::SutError;
use crate::catalog::Catalog;
use crate::jdk::Jdk;

/// The agent's jar. `probes/jvm/build` builds it if it does not exist.
pub fn build_agent(catalog: &Catalog, jdk: &Jdk) -> Result<PathBuf, SutError> {
    let script = catalog.servers_folder().join("../probes/jvm/build");
    let failed = |reason: String| SutError::Other(format!("{}: {reason}", script.display()));
    let output =
        Command::new(&script).env("JAVA_HOME", &jdk.home).output().map_err(|error| failed(error.to_string()))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !output.status.success() {
        return Err(failed(said(&output.stderr)));
    }
    Ok(PathBuf::from(said(&output.stdout)))
}
