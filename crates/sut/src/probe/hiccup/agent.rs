//! The agent that puts the meter into a JVM: its file and its build.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_sys::child::Program;

use crate::SutError;
use crate::catalog::Catalog;
use crate::jdk::Jdk;
use crate::tool::output_of;

/// Its few classes are compiled in seconds.
const BUILD_TIMEOUT: Duration = Duration::from_secs(180);

/// The agent's jar. `probes/jvm/build` builds it if it does not exist, until `cancelled` is set at most.
pub fn build_agent(catalog: &Catalog, jdk: &Jdk, cancelled: &AtomicBool) -> Result<PathBuf, SutError> {
    build_within(catalog, jdk, cancelled, BUILD_TIMEOUT)
}

fn build_within(catalog: &Catalog, jdk: &Jdk, cancelled: &AtomicBool, timeout: Duration) -> Result<PathBuf, SutError> {
    let script = catalog.root.join("../probes/jvm/build");
    let mut program = Program::new(&script);
    program.env.push(("JAVA_HOME".into(), jdk.home.clone().into()));
    let failed = |reason: String| SutError::Other(format!("{}: {reason}", script.display()));
    let said = output_of(program, timeout, cancelled).map_err(failed)?;
    // The compiler may have said something before.
    Ok(PathBuf::from(said.lines().last().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    /// What a build with this script gives.
    fn built(script: &str, cancelled: bool, timeout: Duration) -> Result<PathBuf, String> {
        let project = tempfile::tempdir().unwrap();
        let at = |path: &str| project.path().join(path);
        fs::create_dir_all(at("servers")).unwrap();
        fs::create_dir_all(at("probes/jvm")).unwrap();
        fs::write(at("servers/catalog.toml"), "schema = 1\n[jvm]\noptions = []\n[families]\n").unwrap();
        fs::write(at("probes/jvm/build"), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(at("probes/jvm/build"), PermissionsExt::from_mode(0o755)).unwrap();
        let catalog = Catalog::load(&at("servers")).unwrap();
        let jdk = Jdk { home: "/jdk".into(), major: 25, version: "25".to_owned(), vendor: String::new() };
        let cancelled = AtomicBool::new(cancelled);
        build_within(&catalog, &jdk, &cancelled, timeout).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_line_of_a_build_is_the_jar_and_one_that_fails_is_quoted() {
        let minute = Duration::from_secs(60);
        let jar = built("echo 'Picked up JAVA_TOOL_OPTIONS: -Da=1' >&2\necho \"$JAVA_HOME/probes.jar\"", false, minute);
        assert_eq!(jar.as_deref(), Ok(Path::new("/jdk/probes.jar")));
        let error = built("echo 'error: no source' >&2; exit 3", false, minute).unwrap_err();
        assert!(error.ends_with("probes/jvm/build: error: no source"), "{error}");
    }

    #[test]
    fn a_build_that_hangs_is_ended_and_so_is_one_that_nobody_wants_any_more() {
        let error = built("exec sleep 1000", false, Duration::from_millis(50)).unwrap_err();
        assert!(error.ends_with("probes/jvm/build: it did not end within 0 s"), "{error}");
        let error = built("exec sleep 1000", true, Duration::from_secs(60)).unwrap_err();
        assert!(error.ends_with("probes/jvm/build: given up as asked"), "{error}");
    }
}
