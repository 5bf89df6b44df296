//! Removes what a coordinator could not remove itself: after a crash, or without its network.

use tare_load::Cancel;

use super::agent_job::remove_job;
use super::kubectl::{CallError, Caller, Cluster};
use super::manifest::{HOST_LABEL, TARE_SELECTOR, host_label};

/// Removes the jobs of agents in the cluster's namespace, with their pods: those that coordinators on this machine made, or
/// all. Returns the name of each, and why it could not be removed if it is still there.
///
/// # Errors
/// Why kubectl does not list the jobs, and what to do.
pub fn remove_agent_jobs(cluster: &Cluster, all: bool) -> Result<Vec<(String, Option<String>)>, String> {
    // Nobody sets this flag: kubectl is in the process group of this program, so Ctrl-C ends both.
    let not_cancelled = Cancel::default();
    let caller = Caller::User(&not_cancelled);
    let of_host = if all { String::new() } else { format!(",{HOST_LABEL}={}", host_label()) };
    let list: [&str; 3] = ["get", "jobs", &format!("--selector={TARE_SELECTOR}{of_host}")];
    let jobs = cluster.call_json(&list, caller).map_err(CallError::reason)?;
    let jobs = jobs["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = jobs.iter().filter_map(|job| job["metadata"]["name"].as_str());
    Ok(names.map(|name| (name.to_owned(), remove_job(cluster, name, caller).err())).collect())
}
