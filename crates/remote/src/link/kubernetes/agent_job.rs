//! The Kubernetes Job with the agents of one load: creates it, waits for its pods and removes it. Also removes those that a
//! coordinator could not remove itself: after a crash, or without its network.

use std::cell::RefCell;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use tare_load::Cancel;
use tare_sys::clock;
use tare_sys::procfs::process;

use super::kubectl::Cluster;
use super::manifest::{CONTAINER, HOST_LABEL, JobShape, PROCESS_LABEL, TARE_SELECTOR, host_label};
use super::pods::{Pod, PodState, end_of_pod, read_pods, refusal_of_pods, state_of_wait};
use crate::link::command::CommandError;
use crate::link::pipes::ExplainEnd;
use tare_run::{RunError, plain_line};

const LOOK_EVERY: Duration = Duration::from_millis(700);

/// Which jobs could not be removed, and what to do: a sentence for each, added when it is dropped, wherever that is.
pub type LeftJobs = Rc<RefCell<Vec<String>>>;

/// A Job in a cluster. One that was made here is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct AgentJob {
    /// How users wrote it: `k8s:8`.
    place: String,
    cluster: Cluster,
    name: String,
    pub(crate) agents: usize,
    /// Whole cores of each pod; 0 where its manifest does not limit them.
    pub(crate) pod_cpus: u32,
    /// Where it says that it could not be removed; `None` for one that is not removed here.
    left: Option<LeftJobs>,
}

impl AgentJob {
    /// Makes a Job. Nothing is left behind if the cluster refuses it.
    pub(crate) fn create(
        place: &str,
        cluster: &Cluster,
        shape: &JobShape,
        left: &LeftJobs,
        cancel: &Cancel,
    ) -> Result<Self, RunError> {
        let manifest = shape.to_manifest().to_string();
        if let Err(error) = cluster.call(&["create", "-f", "-"], &manifest, Some(cancel)) {
            // A call that fails may have made the job. After a refusal there is mostly none, so nothing is said of it.
            let removed = remove_job(cluster, &shape.name, None);
            if let (CommandError::Cancelled, Err(reason)) = (&error, removed) {
                left.borrow_mut()
                    .push(format!("job {} may still be there: {reason}; tare agents clean removes it", shape.name));
            }
            return Err(error.at(place));
        }
        Ok(Self {
            place: place.to_owned(),
            cluster: cluster.clone(),
            name: shape.name.clone(),
            agents: shape.agents,
            pod_cpus: shape.pod.cpus,
            left: Some(left.clone()),
        })
    }

    pub(crate) fn adopt(place: &str, cluster: &Cluster, name: &str, cancel: &Cancel) -> Result<Self, RunError> {
        let (of, name) = (place.to_owned(), name.to_owned());
        let mut job = Self { place: of, cluster: cluster.clone(), name, agents: 0, pod_cpus: 0, left: None };
        let get: [&str; 2] = ["get", &format!("job/{}", job.name)];
        let found = cluster.call_json(&get, Some(cancel)).map_err(|error| error.at(place))?;
        job.agents = found["spec"]["parallelism"].as_u64().unwrap_or(0) as usize;
        job.pod_cpus = whole_cpus(&found["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"]);
        Ok(job)
    }

    /// Waits until all pods run, for at most `wait_limit`. `progress` gets a line for each new state.
    pub(crate) fn wait_for_pods(
        &self,
        wait_limit: Duration,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Pod>, RunError> {
        let all = self.agents.max(1);
        let begin = clock::now();
        let mut shown = String::new();
        loop {
            if cancel.is_cancelled() {
                return Err(RunError::Interrupted);
            }
            let pods = self.pods(cancel)?;
            let refusal = if pods.len() < self.agents { self.refusal(cancel) } else { None };
            let state = state_of_wait(&pods, refusal.as_deref(), all, clock::now() >= begin + wait_limit);
            let Some(state) = state.map_err(|reason| CommandError::Failed(reason).at(&self.place))? else {
                return Ok(pods.into_iter().filter(|pod| pod.state == PodState::Running).collect());
            };
            if state != shown {
                progress(&plain_line(&format!("{}: {state}", self.place)));
                shown = state;
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    fn pods(&self, cancel: &Cancel) -> Result<Vec<Pod>, RunError> {
        let selector = format!("--selector=batch.kubernetes.io/job-name={}", self.name);
        let list = self.cluster.call_json(&["get", "pods", &selector], Some(cancel));
        Ok(read_pods(&list.map_err(|error| error.at(&self.place))?))
    }

    /// Without the right to read events, the wait ends with its time.
    fn refusal(&self, cancel: &Cancel) -> Option<String> {
        let selector = format!("--field-selector=involvedObject.kind=Job,involvedObject.name={}", self.name);
        refusal_of_pods(&self.cluster.call_json(&["get", "events", &selector], Some(cancel)).ok()?)
    }

    pub(crate) fn attach(&self, pod: &Pod) -> Command {
        let container = format!("--container={CONTAINER}");
        self.cluster.kubectl(&["attach", "--stdin", "--quiet", &container, &format!("pod/{}", pod.name)])
    }

    /// Asks the cluster, once the pipe to a pod has ended, what happened to it.
    pub(crate) fn explain_end(&self, pod: &Pod) -> ExplainEnd {
        let (cluster, pod) = (self.cluster.clone(), format!("pod/{}", pod.name));
        Box::new(move || match cluster.call_json(&["get", &pod], None).map_err(CommandError::reason) {
            Ok(pod) => end_of_pod(&pod),
            Err(reason) if reason.contains("not found") => Some("somebody deleted the pod".to_owned()),
            Err(_) => None,
        })
    }
}

impl Drop for AgentJob {
    fn drop(&mut self) {
        let Some(left) = &self.left else { return };
        // A job that stays ends by its own deadline.
        if let Err(reason) = remove_job(&self.cluster, &self.name, None) {
            left.borrow_mut().push(format!("job {} is still there: {reason}; tare agents clean removes it", self.name));
        }
    }
}

/// Removes a job. Its pods are removed by the cluster, in the background.
fn remove_job(cluster: &Cluster, name: &str, cancel: Option<&Cancel>) -> Result<(), String> {
    let job = format!("job/{name}");
    let delete: [&str; 5] = ["delete", &job, "--cascade=background", "--ignore-not-found", "--wait=false"];
    cluster.call(&delete, "", cancel).map(drop).map_err(CommandError::reason)
}

/// Removes the jobs of agents in the cluster's namespace, with their pods: those that coordinators on this machine left
/// behind, or all. Returns the name of each, and why it could not be removed if it is still there.
pub fn remove_agent_jobs(cluster: &Cluster, all: bool) -> Result<Vec<(String, Option<String>)>, String> {
    // Nobody sets this flag: kubectl is in the process group of this program, so Ctrl-C ends both.
    let not_cancelled = Cancel::default();
    let cancel = Some(&not_cancelled);
    let of_host = if all { String::new() } else { format!(",{HOST_LABEL}={}", host_label()) };
    let list: [&str; 3] = ["get", "jobs", &format!("--selector={TARE_SELECTOR}{of_host}")];
    let jobs = cluster.call_json(&list, cancel).map_err(CommandError::reason)?;
    let jobs = jobs["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let left = jobs.iter().filter(|job| all || !has_coordinator(job));
    let names = left.filter_map(|job| job["metadata"]["name"].as_str());
    Ok(names.map(|name| (name.to_owned(), remove_job(cluster, name, cancel).err())).collect())
}

/// Whether the coordinator that made a job on this machine still runs. Of another user's, only the process is seen.
fn has_coordinator(job: &Value) -> bool {
    let own = process::program_name(std::process::id());
    let id = job["metadata"]["labels"][PROCESS_LABEL].as_str().and_then(|id| id.parse::<u32>().ok());
    id.is_some_and(|id| process::exists(id) && process::program_name(id).is_none_or(|name| Some(name) == own))
}

/// A limit of CPU such as `"2"`, `2` or `"1500m"`, rounded down to whole cores, but not to none; 0 without a limit.
/// Kubernetes allows no smaller part than a thousandth.
fn whole_cpus(limit: &Value) -> u32 {
    let text = limit.as_str().map_or_else(|| limit.to_string(), str::to_owned);
    let (number, parts) = text.strip_suffix('m').map_or((text.as_str(), 1.0), |thousandths| (thousandths, 1e3));
    let cores = number.parse::<f64>().ok().map(|number| number / parts).filter(|cores| *cores > 0.0);
    cores.map_or(0, |cores| (cores as u32).max(1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_whose_coordinator_runs_is_not_left_behind() {
        let job = |process: &str| json!({ "metadata": { "labels": { "tare/process": process } } });
        assert!(has_coordinator(&job(&std::process::id().to_string())));
        for gone in [job("4294967295"), job("x"), json!({ "metadata": { "name": "tare-1" } })] {
            assert!(!has_coordinator(&gone), "{gone}");
        }
    }

    #[test]
    fn a_limit_is_whole_cores() {
        for (limit, cores) in [
            (json!("2"), 2),
            (json!(4), 4),
            (json!("2.5"), 2),
            (json!(0.5), 1),
            (json!("0.5"), 1),
            (json!("2500m"), 2),
            (json!("300m"), 1),
            (json!("1e1"), 10),
            (json!(null), 0),
            (json!("0"), 0),
            (json!("x"), 0),
        ] {
            assert_eq!(whole_cpus(&limit), cores, "{limit}");
        }
    }
}
