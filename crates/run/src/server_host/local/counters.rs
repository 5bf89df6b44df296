//! What a server's environment needs so that its runtime tells its counters.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use tare_plan::plan::CounterSource;
use tare_sut::SutError;
use tare_sut::probe::counter_socket;
use tare_sut::sampler::cache_folder;
use tempfile::NamedTempFile;

const NODE_OPTIONS: &str = "NODE_OPTIONS";

pub(crate) fn environment(
    own: &BTreeMap<String, String>,
    counters: Option<CounterSource>,
) -> Result<BTreeMap<String, String>, SutError> {
    let mut env = own.clone();
    let Some(source) = counters else { return Ok(env) };
    env.insert(counter_socket::VARIABLE.to_owned(), counter_socket::socket_prefix());
    if source == CounterSource::Node {
        add_option(&mut env, NODE_OPTIONS, format!("--require \"{}\"", write_script(&cache_folder())?.display()));
    }
    Ok(env)
}

/// Adds an option to a variable with options of a runtime: behind the server's own ones, or else those of tare's environment.
pub(crate) fn add_option(env: &mut BTreeMap<String, String>, variable: &str, option: String) {
    let own = env.get(variable).cloned().or_else(|| std::env::var(variable).ok()).filter(|own| !own.is_empty());
    env.insert(variable.to_owned(), own.map_or(option.clone(), |own| format!("{own} {option}")));
}

/// The script in this folder. Servers that start side by side share it, so it is replaced in one step.
fn write_script(folder: &Path) -> Result<PathBuf, SutError> {
    let path = folder.join("node_counters.cjs");
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut new = NamedTempFile::new_in(folder)?;
        new.write_all(counter_socket::NODE_SCRIPT.as_bytes())?;
        new.persist(&path)?;
        Ok(())
    };
    write().map_err(SutError::file("write the counters of Node to", &path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_with_counters_gets_more_than_its_own_environment() {
        let own = BTreeMap::from([("PORT".to_owned(), "{port}".to_owned())]);
        assert_eq!(environment(&own, None).unwrap(), own);
        let with_counters = environment(&own, Some(CounterSource::Own)).unwrap();
        assert_eq!(
            (with_counters.len(), with_counters["TARE_COUNTERS"].as_str()),
            (2, counter_socket::socket_prefix().as_str())
        );
    }

    #[test]
    fn servers_that_start_at_the_same_time_write_the_script_without_failing() {
        let folder = tempfile::tempdir().unwrap();
        let write = || (0..50).all(|_| write_script(folder.path()).is_ok());
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
            assert!(writers.into_iter().all(|writer| writer.join().unwrap()));
        });
    }

    #[test]
    fn node_gets_the_script_beside_its_own_options() {
        let env = BTreeMap::from([(NODE_OPTIONS.to_owned(), "--max-old-space-size=512".to_owned())]);
        let options = environment(&env, Some(CounterSource::Node)).unwrap().remove(NODE_OPTIONS).unwrap();
        let (own, script) = options.split_once(" --require ").unwrap();
        assert_eq!(own, "--max-old-space-size=512");
        assert_eq!(std::fs::read_to_string(script.trim_matches('"')).unwrap(), counter_socket::NODE_SCRIPT);
    }
}
