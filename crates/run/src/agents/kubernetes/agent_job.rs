//! The Kubernetes Job with the agents of one load: creates it, waits for its pods and removes it.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tare_load::Cancel;
use tare_sys::clock::{self, Nanos};

use super::kubectl::Cluster;
use super::manifest::{CONTAINER, JobShape};
use super::pods::{Pod, PodState, end_of_pod, read_pods, refusal_of_pods};
use super::wait::{WaitStep, Wanted, next_wait_step};
use crate::agents::link::ExplainEnd;
use crate::error::{RunError, plain_line};

/// How often the cluster is asked for the pods.
const LOOK_EVERY: Duration = Duration::from_millis(700);

/// A Job in a cluster. One that was made here is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct AgentJob {
    /// How users wrote it: `k8s:8`.
    place: String,
    cluster: Cluster,
    name: String,
    agents: usize,
    pod_cpus: u32,
    is_ours: bool,
}

/// An agent in a pod that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodAgent {
    /// Its pod.
    pub(crate) pod: String,
    /// Its node.
    pub(crate) node: String,
}

impl AgentJob {
    /// Makes a Job.
    ///
    /// # Errors
    /// Why the cluster refuses, and what to do. Nothing is left behind.
    pub(crate) fn create(place: &str, cluster: &Cluster, shape: &JobShape) -> Result<Self, RunError> {
        let (place, name) = (place.to_owned(), shape.name.clone());
        // It exists before the call: a call that fails may have made the job.
        let job = Self {
            place,
            cluster: cluster.clone(),
            name,
            agents: shape.agents,
            pod_cpus: shape.pod.cpus,
            is_ours: true,
        };
        match cluster.call(&["create", "-f", "-"], &shape.to_manifest().to_string()) {
            Ok(_) => Ok(job),
            Err(reason) => Err(job.error(reason)),
        }
    }

    /// Takes a Job that somebody applied. It is not removed here.
    ///
    /// # Errors
    /// When the cluster does not have it.
    pub(crate) fn adopt(place: &str, cluster: &Cluster, name: &str) -> Result<Self, RunError> {
        let (place, name) = (place.to_owned(), name.to_owned());
        let mut job = Self { place, cluster: cluster.clone(), name, agents: 0, pod_cpus: 0, is_ours: false };
        let found = cluster.call_json(&["get", &format!("job/{}", job.name)]).map_err(|reason| job.error(reason))?;
        job.agents = found["spec"]["parallelism"].as_u64().unwrap_or(0) as usize;
        job.pod_cpus = whole_cpus(&found["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"]);
        Ok(job)
    }

    /// Number of its pods.
    pub(crate) const fn agents(&self) -> usize {
        self.agents
    }

    /// Whole cores of each pod; 0 where its manifest does not limit them.
    pub(crate) const fn pod_cpus(&self) -> u32 {
        self.pod_cpus
    }

    /// Waits until all pods run, or at the end of `wait_limit` as many as a load needs. `progress` gets a line
    /// for each new state.
    ///
    /// # Errors
    /// When too few run: what they wait for, and what to do. After `cancel`.
    pub(crate) fn wait_for_pods(
        &self,
        least: usize,
        wait_limit: Duration,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<PodAgent>, RunError> {
        let wanted = Wanted { all: self.agents, least: least.max(1) };
        let begin = clock::now();
        let mut shown = String::new();
        loop {
            if cancel.is_cancelled() {
                return Err(RunError::Interrupted);
            }
            let pods = self.pods()?;
            let refusal = if pods.len() < self.agents { self.refusal() } else { None };
            match next_wait_step(&pods, refusal.as_deref(), wanted, has_passed(begin, wait_limit)) {
                WaitStep::Begin => return Ok(running(pods)),
                WaitStep::GiveUp(reason) => return Err(self.error(reason)),
                WaitStep::Wait(state) if state != shown => {
                    progress(&plain_line(&format!("{}: {state}", self.place)));
                    shown = state;
                }
                WaitStep::Wait(_) => {}
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    fn pods(&self) -> Result<Vec<Pod>, RunError> {
        let selector = format!("--selector=batch.kubernetes.io/job-name={}", self.name);
        let list = self.cluster.call_json(&["get", "pods", &selector]);
        Ok(read_pods(&list.map_err(|reason| self.error(reason))?))
    }

    /// Without the right to read events, the wait ends with its time.
    fn refusal(&self) -> Option<String> {
        let selector = format!("--field-selector=involvedObject.kind=Job,involvedObject.name={}", self.name);
        refusal_of_pods(&self.cluster.call_json(&["get", "events", &selector]).ok()?)
    }

    /// The command that is the pipe to an agent.
    pub(crate) fn attach(&self, agent: &PodAgent) -> Command {
        let container = format!("--container={CONTAINER}");
        self.cluster.kubectl(&["attach", "--stdin", "--quiet", &container, &format!("pod/{}", agent.pod)])
    }

    /// Asks the cluster, once the pipe to an agent has ended, what happened to its pod.
    pub(crate) fn explain_end(&self, agent: &PodAgent) -> ExplainEnd {
        let (cluster, pod) = (self.cluster.clone(), format!("pod/{}", agent.pod));
        Box::new(move || match cluster.call_json(&["get", &pod]) {
            Ok(pod) => end_of_pod(&pod),
            Err(reason) if reason.contains("not found") => Some("somebody deleted the pod".to_owned()),
            Err(_) => None,
        })
    }

    /// Removes the job with its pods, if it was made here.
    ///
    /// # Errors
    /// Why it is still there, and what to do.
    pub(crate) fn remove(&mut self) -> Result<(), String> {
        if !std::mem::take(&mut self.is_ours) {
            return Ok(());
        }
        let removed = remove_job(&self.cluster, &self.name);
        removed.map_err(|reason| format!("job {} is still there: {reason}; tare agents clean removes it", self.name))
    }

    fn error(&self, reason: String) -> RunError {
        RunError::Agent { agent: self.place.clone(), reason }
    }
}

impl Drop for AgentJob {
    fn drop(&mut self) {
        // A job that stays ends by its own deadline.
        let _ = self.remove();
    }
}

/// Removes a job. Its pods are removed by the cluster, in the background.
pub(super) fn remove_job(cluster: &Cluster, name: &str) -> Result<(), String> {
    let job = format!("job/{name}");
    cluster.call(&["delete", &job, "--cascade=background", "--ignore-not-found", "--wait=false"], "").map(drop)
}

/// A limit of CPU such as `"2"`, `2` or `"1500m"`, rounded down to whole cores, but not to none; 0 without a limit.
fn whole_cpus(limit: &Value) -> u32 {
    let text = limit.as_str().map_or_else(|| limit.to_string(), str::to_owned);
    let cores = match text.strip_suffix('m') {
        Some(thousandths) => thousandths.parse::<u32>().map(|thousandths| (thousandths / 1000).max(1)),
        None => text.parse(),
    };
    cores.unwrap_or(0)
}

fn running(pods: Vec<Pod>) -> Vec<PodAgent> {
    let runs = pods.into_iter().filter(|pod| pod.state == PodState::Running);
    runs.map(|Pod { name, node, .. }| PodAgent { pod: name, node }).collect()
}

fn has_passed(begin: Nanos, wait_limit: Duration) -> bool {
    clock::now().since(begin) >= wait_limit.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_limit_is_whole_cores() {
        let limits = [json!("2"), json!(4), json!("2500m"), json!("300m"), json!(null), json!("x")];
        assert_eq!(limits.map(|limit| whole_cpus(&limit)), [2, 4, 2, 1, 0, 0]);
    }
}
