//! The states of the pods of a job, read from kubectl's JSON, and whether to wait for them.

use serde_json::Value;

use super::kubectl::remedy_of;

const STUCK_REASONS: [&str; 6] = [
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pod {
    pub(super) name: String,
    /// The node it is on; empty before it has one.
    pub(crate) node: String,
    pub(super) state: PodState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PodState {
    /// Its agent waits for orders.
    Running,
    /// It does not run yet: what it waits for.
    Waiting(String),
    /// It will not run: the reason.
    Stuck(String),
}

/// The pods of a list, in the order of their index in the job.
pub(super) fn read_pods(list: &Value) -> Vec<Pod> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut pods: Vec<(u64, Pod)> = items.iter().map(|pod| (index_of(pod), read_pod(pod))).collect();
    pods.sort_by_key(|(index, _)| *index);
    pods.into_iter().map(|(_, pod)| pod).collect()
}

fn index_of(pod: &Value) -> u64 {
    let index = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"].as_str();
    index.and_then(|index| index.parse().ok()).unwrap_or(u64::MAX)
}

fn read_pod(pod: &Value) -> Pod {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Pod { name: text(&pod["metadata"]["name"]), node: text(&pod["spec"]["nodeName"]), state: state_of(pod) }
}

fn state_of(pod: &Value) -> PodState {
    let phase = pod["status"]["phase"].as_str().unwrap_or("Pending");
    if phase == "Succeeded" || phase == "Failed" || !pod["metadata"]["deletionTimestamp"].is_null() {
        return PodState::Stuck(end_of_pod(pod).unwrap_or_else(|| format!("a pod ended before the load ({phase})")));
    }
    let container = &pod["status"]["containerStatuses"][0]["state"];
    if let Some(why) = reason_of(&container["waiting"]) {
        let is_stuck = STUCK_REASONS.iter().any(|reason| container["waiting"]["reason"] == *reason);
        return if is_stuck { PodState::Stuck(why) } else { PodState::Waiting(why) };
    }
    if phase == "Running" && !container["running"].is_null() {
        return PodState::Running;
    }
    let unscheduled = condition(pod, "PodScheduled").filter(|condition| condition["status"] == "False");
    PodState::Waiting(unscheduled.and_then(reason_of).unwrap_or_else(|| "no node yet".to_owned()))
}

/// `REASON: MESSAGE` of a state or a condition, where it has a reason.
fn reason_of(state: &Value) -> Option<String> {
    let message = state["message"].as_str().map(|message| message.trim_end_matches('.'));
    Some([Some(state["reason"].as_str()?), message].into_iter().flatten().collect::<Vec<_>>().join(": "))
}

fn condition<'a>(pod: &'a Value, kind: &str) -> Option<&'a Value> {
    pod["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

/// Why a pod is ending or has ended, in words and with what to do; `None` where the cluster gives no reason.
pub(super) fn end_of_pod(pod: &Value) -> Option<String> {
    let status = &pod["status"];
    let message = |value: &Value| value["message"].as_str().unwrap_or("no message").trim_end_matches('.').to_owned();
    if status["reason"] == "Evicted" {
        return Some(format!("its node evicted the pod: {}", message(status)));
    }
    if status["reason"] == "DeadlineExceeded" {
        return Some("the pod had the time of its job, and more was not allowed".to_owned());
    }
    if let Some(disruption) = condition(pod, "DisruptionTarget").filter(|condition| condition["status"] == "True") {
        let node = pod["spec"]["nodeName"].as_str().unwrap_or("its node");
        return Some(format!("the cluster took the pod from {node}: {}", message(disruption)));
    }
    let ended = &status["containerStatuses"][0]["state"]["terminated"];
    if ended["reason"] == "OOMKilled" {
        return Some("the pod used all of its memory; give it more with --k8s-memory".to_owned());
    }
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        return Some("somebody deleted the pod".to_owned());
    }
    let code = ended["exitCode"].as_i64()?;
    Some(format!("the pod's process ended with code {code}"))
}

/// Why the cluster creates no pods for a job, from the events of the job: the latest refusal.
pub(super) fn refusal_of_pods(events: &Value) -> Option<String> {
    let is_refusal = |event: &&Value| {
        event["reason"] == "FailedCreate" && event["message"].as_str().is_some_and(|text| text.contains("is forbidden"))
    };
    let event = events["items"].as_array()?.iter().rfind(is_refusal)?;
    Some(event["message"].as_str()?.trim_start_matches("Error creating: ").to_owned())
}

/// The state in which a job waits for its pods; `None` once all of them run. `refusal` is why the cluster creates no
/// more of them; `is_late`: time is over. An error is why to give up, and what to do.
pub(super) fn state_of_wait(
    pods: &[Pod],
    refusal: Option<&str>,
    all: usize,
    is_late: bool,
) -> Result<Option<String>, String> {
    let (mut running, mut waiting, mut stuck) = (0, Vec::new(), Vec::new());
    for pod in pods {
        match &pod.state {
            PodState::Running => running += 1,
            PodState::Waiting(what) => waiting.push(what.as_str()),
            PodState::Stuck(why) => stuck.push(why.as_str()),
        }
    }
    stuck.extend(refusal);
    if running >= all {
        return Ok(None);
    }
    if !stuck.is_empty() || is_late {
        let cause = stuck.iter().chain(&waiting).next().copied().unwrap_or("the cluster has created no pods yet");
        return Err(format!("{running} of {all} pods run: {cause}; {}", remedy(cause)));
    }
    let first = waiting.first().copied().unwrap_or("the cluster creates the pods");
    Ok(Some(format!("{running} of {all} pods run; the others wait: {first}")))
}

fn remedy(cause: &str) -> &'static str {
    let has = |part: &str| cause.contains(part);
    if has("is forbidden") {
        remedy_of(cause)
    } else if has("Image") {
        "name an image that the nodes can pull (--k8s-image); scripts/image makes one"
    } else if has("Unschedulable") {
        "use fewer agents or smaller pods (--k8s-cpus), or wait longer (--agents-wait)"
    } else if has("CreateContainer") {
        "the image must have tare and a user with a number that is not 0; scripts/image makes one"
    } else {
        "wait longer (--agents-wait), or ask the cluster: kubectl describe pods -l app.kubernetes.io/managed-by=tare"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(state: PodState) -> Pod {
        Pod { name: "tare-x-0-abcde".to_owned(), node: "node-a".to_owned(), state }
    }

    #[test]
    fn pods_come_in_the_order_of_their_index() {
        let pod = |index: &str, node: &str| {
            json!({
                "metadata": { "name": format!("tare-x-{index}-abcde"),
                    "annotations": { "batch.kubernetes.io/job-completion-index": index } },
                "spec": { "nodeName": node },
                "status": { "phase": "Running", "containerStatuses": [{ "state": { "running": {} } }] },
            })
        };
        let pods = read_pods(&json!({ "items": [pod("10", "b"), pod("2", "a")] }));
        assert_eq!(pods.iter().map(|pod| pod.node.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(pods.iter().all(|pod| pod.state == PodState::Running));
        assert!(read_pods(&json!({})).is_empty());
    }

    #[test]
    fn a_pod_that_does_not_run_says_what_it_waits_for() {
        let waiting = |reason: &str| {
            json!({ "status": { "phase": "Pending",
                "containerStatuses": [{ "state": { "waiting": { "reason": reason, "message": "so" } } }] } })
        };
        assert_eq!(state_of(&waiting("ErrImagePull")), PodState::Waiting("ErrImagePull: so".to_owned()));
        assert_eq!(state_of(&waiting("ImagePullBackOff")), PodState::Stuck("ImagePullBackOff: so".to_owned()));
        let unschedulable = json!({ "status": { "phase": "Pending", "conditions": [
            { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available." }] } });
        assert_eq!(state_of(&unschedulable), PodState::Waiting("Unschedulable: 0/3 nodes are available".to_owned()));
        assert_eq!(state_of(&json!({})), PodState::Waiting("no node yet".to_owned()));
        let ended = json!({ "status": { "phase": "Failed" } });
        assert_eq!(state_of(&ended), PodState::Stuck("a pod ended before the load (Failed)".to_owned()));
    }

    #[test]
    fn the_end_of_a_pod_has_its_reason() {
        for (pod, says) in [
            (
                json!({ "status": { "reason": "Evicted", "message": "The node was low on resource: memory. " } }),
                "low on resource",
            ),
            (
                json!({ "spec": { "nodeName": "node-a" }, "status": { "conditions": [
                    { "type": "DisruptionTarget", "status": "True", "message": "Eviction API: evicting" }] } }),
                "the cluster took the pod from node-a: Eviction API: evicting",
            ),
            (
                json!({ "status": { "containerStatuses": [{ "state": { "terminated": { "reason": "OOMKilled", "exitCode": 137 } } }] } }),
                "--k8s-memory",
            ),
            (json!({ "metadata": { "deletionTimestamp": "2026-11-23T00:00:00Z" } }), "somebody deleted the pod"),
            (
                json!({ "status": { "containerStatuses": [{ "state": { "terminated": { "exitCode": 1 } } }] } }),
                "code 1",
            ),
        ] {
            let why = end_of_pod(&pod).unwrap();
            assert!(why.contains(says), "{why}");
        }
        assert_eq!(end_of_pod(&json!({})), None);
    }

    #[test]
    fn a_refusal_is_the_latest_event_that_forbids_pods() {
        let event = |reason: &str, message: &str| json!({ "reason": reason, "message": message });
        let quota = "Error creating: pods \"tare-x-0\" is forbidden: exceeded quota: q";
        let events = json!({ "items": [
            event("SuccessfulCreate", "Created pod: tare-x-1"),
            event("FailedCreate", quota),
            event("FailedCreate", "Error creating: context deadline exceeded")] });
        assert_eq!(refusal_of_pods(&events).unwrap(), "pods \"tare-x-0\" is forbidden: exceeded quota: q");
        assert_eq!(refusal_of_pods(&json!({ "items": [] })), None);
    }

    const ALL: usize = 3;

    fn pods(states: [&str; 3]) -> Vec<Pod> {
        let state = |text: &str| match text.split_once(' ') {
            None => PodState::Running,
            Some(("waiting", what)) => PodState::Waiting(what.to_owned()),
            Some((_, why)) => PodState::Stuck(why.to_owned()),
        };
        states.map(|text| pod(state(text))).to_vec()
    }

    #[test]
    fn all_pods_are_waited_for() {
        assert_eq!(state_of_wait(&pods(["run", "run", "run"]), None, ALL, false), Ok(None));
        let waiting = pods(["run", "run", "waiting ContainerCreating"]);
        let state = |text: &str| Ok(Some(text.to_owned()));
        let expected = state("2 of 3 pods run; the others wait: ContainerCreating");
        assert_eq!(state_of_wait(&waiting, None, ALL, false), expected);
        let expected = state("0 of 3 pods run; the others wait: the cluster creates the pods");
        assert_eq!(state_of_wait(&[], None, ALL, false), expected);
    }

    #[test]
    fn nobody_waits_for_pods_that_cannot_come() {
        let stuck = pods(["run", "run", "stuck ImagePullBackOff: not found"]);
        let why = state_of_wait(&stuck, None, ALL, false).unwrap_err();
        assert!(why.starts_with("2 of 3 pods run: ImagePullBackOff: not found; name an image"), "{why}");
        let quota = Some("pods \"x\" is forbidden: exceeded quota: q");
        let two = &pods(["run", "run", "run"])[..2];
        let why = state_of_wait(two, quota, ALL, false).unwrap_err();
        assert!(why.contains("exceeded quota: q; use fewer agents or smaller pods"), "{why}");
    }

    #[test]
    fn when_the_time_is_over_the_error_says_what_pods_wait_for() {
        let waiting = pods(["run", "waiting Unschedulable: 0/3 nodes", "waiting Unschedulable: 0/3 nodes"]);
        let why = state_of_wait(&waiting, None, ALL, true).unwrap_err();
        assert!(why.starts_with("1 of 3 pods run: Unschedulable: 0/3 nodes; use fewer"), "{why}");
        assert!(state_of_wait(&[], None, ALL, true).unwrap_err().contains("created no pods yet; wait longer"));
    }
}
