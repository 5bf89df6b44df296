//! Removes what a coordinator could not remove itself: after a crash, or without its network.

use super::agent_job::remove_job;
use super::kubectl::Cluster;
use super::manifest::{HOST_LABEL, TARE_SELECTOR, host_label};

/// Removes the jobs of agents in the cluster's namespace, with their pods: those that coordinators on this machine made, or
/// all. Returns their names.
///
/// # Errors
/// Why kubectl refuses, and what to do.
pub fn remove_agent_jobs(cluster: &Cluster, all: bool) -> Result<Vec<String>, String> {
    let of_host = if all { String::new() } else { format!(",{HOST_LABEL}={}", host_label()) };
    let jobs = cluster.call_json(&["get", "jobs", &format!("--selector={TARE_SELECTOR}{of_host}")])?;
    let jobs = jobs["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names: Vec<String> =
        jobs.iter().filter_map(|job| job["metadata"]["name"].as_str()).map(str::to_owned).collect();
    names.iter().try_for_each(|name| remove_job(cluster, name))?;
    Ok(names)
}
