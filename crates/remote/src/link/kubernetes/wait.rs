//! Decides whether a load can begin, whether to wait for its pods, or to give up.

use super::kubectl::remedy_of;
use super::pods::{Pod, PodState};

/// The state in which a job waits for its pods; `None` once all of them run. `refusal` is why the cluster creates no more of
/// them; `is_late`: time is over. An error is why to give up, and what to do.
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
    use super::super::pods::tests::pod;
    use super::*;

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
