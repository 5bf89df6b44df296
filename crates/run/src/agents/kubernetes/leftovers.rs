//! Removes what a coordinator could not remove itself: after a crash, or without its network.

use super::agent_job::remove_job;
use super::kubectl::Cluster;
use super::manifest::OF_TARE;

/// Removes all jobs of agents in the cluster's namespace, with their pods. Returns their names.
///
/// # Errors
/// Why kubectl refuses, and what to do.
pub fn remove_agent_jobs(cluster: &Cluster) -> Result<Vec<String>, String> {
    let jobs = cluster.call_json(&["get", "jobs", &format!("--selector={OF_TARE}")])?;
    let jobs = jobs["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names: Vec<String> =
        jobs.iter().filter_map(|job| job["metadata"]["name"].as_str()).map(str::to_owned).collect();
    names.iter().try_for_each(|name| remove_job(cluster, name))?;
    Ok(names)
}
