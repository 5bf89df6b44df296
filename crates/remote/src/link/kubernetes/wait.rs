//! Decides whether enough pods run for a load to begin, whether to wait, or to give up.

use super::kubectl::remedy_of;
use super::pods::{Pod, PodState};

/// How many pods a job has, and how many a load needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) all: usize,
    pub(super) least: usize,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WaitStep {
    /// The load can begin with those that run.
    Begin,
    /// Wait on, and show this state.
    Wait(String),
    /// Give up: the reason, and what to do.
    GiveUp(String),
}

/// The load begins when all pods run. It begins with fewer, but at least `wanted.least`, when no more can start or the time is
/// over (`is_late`). `refusal` is why the cluster creates no more pods.
pub(super) fn next_wait_step(pods: &[Pod], refusal: Option<&str>, wanted: Wanted, is_late: bool) -> WaitStep {
    let running = pods.iter().filter(|pod| pod.state == PodState::Running).count();
    let stuck: Vec<&str> = pods.iter().filter_map(|pod| stuck_cause(&pod.state)).chain(refusal).collect();
    let not_created = wanted.all.saturating_sub(pods.len());
    let lost = stuck.len() - usize::from(refusal.is_some()) + if refusal.is_some() { not_created } else { 0 };
    let possible = wanted.all.saturating_sub(lost);
    if running >= wanted.all || (running >= wanted.least && (is_late || running >= possible)) {
        return WaitStep::Begin;
    }
    let waiting: Vec<&str> = pods.iter().filter_map(|pod| waiting_cause(&pod.state)).collect();
    if possible < wanted.least || is_late {
        let causes = if stuck.is_empty() { &waiting } else { &stuck };
        let cause = causes.first().copied().unwrap_or("the cluster has created no pods yet");
        let (of, least) = (wanted.all, wanted.least);
        let needed = if least < of { format!(" ({least} are needed)") } else { String::new() };
        return WaitStep::GiveUp(format!("{running} of {of} pods run{needed}: {cause}; {}", remedy(cause)));
    }
    let first = waiting.first().copied().unwrap_or("the cluster creates the pods");
    WaitStep::Wait(format!("{running} of {} pods run; the others wait: {first}", wanted.all))
}

const fn stuck_cause(state: &PodState) -> Option<&str> {
    match state {
        PodState::Stuck(why) => Some(why.as_str()),
        _ => None,
    }
}

const fn waiting_cause(state: &PodState) -> Option<&str> {
    match state {
        PodState::Waiting(what) => Some(what.as_str()),
        _ => None,
    }
}

/// What to do about pods that do not run.
fn remedy(cause: &str) -> &'static str {
    let has = |part: &str| cause.contains(part);
    if has("is forbidden") {
        return remedy_of(cause);
    }
    if has("Image") {
        return "name an image that the nodes can pull (--k8s-image); scripts/image makes one";
    }
    if has("Unschedulable") {
        return "use fewer agents or smaller pods (--k8s-cpus), wait longer (--agents-wait), or begin with fewer \
                (--agents-min)";
    }
    if has("CreateContainer") {
        return "the image must have tare and a user with a number that is not 0; scripts/image makes one";
    }
    "wait longer (--agents-wait), begin with fewer (--agents-min), or ask the cluster: kubectl describe pods -l \
     app.kubernetes.io/managed-by=tare"
}

#[cfg(test)]
mod tests {
    use super::super::pods::tests::pod;
    use super::*;

    const ALL: Wanted = Wanted { all: 3, least: 3 };
    const TWO: Wanted = Wanted { all: 3, least: 2 };

    fn pods(states: [&str; 3]) -> Vec<Pod> {
        let state = |text: &str| match text.split_once(' ') {
            None => PodState::Running,
            Some(("waiting", what)) => PodState::Waiting(what.to_owned()),
            Some((_, why)) => PodState::Stuck(why.to_owned()),
        };
        states.map(|text| pod(state(text))).to_vec()
    }

    fn reason(step: WaitStep) -> String {
        match step {
            WaitStep::GiveUp(reason) => reason,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn all_pods_are_waited_for_even_where_fewer_would_do() {
        assert_eq!(next_wait_step(&pods(["run", "run", "run"]), None, ALL, false), WaitStep::Begin);
        let waiting = pods(["run", "run", "waiting ContainerCreating"]);
        let wait = WaitStep::Wait("2 of 3 pods run; the others wait: ContainerCreating".to_owned());
        assert_eq!(next_wait_step(&waiting, None, ALL, false), wait);
        assert_eq!(next_wait_step(&waiting, None, TWO, false), wait);
        assert_eq!(next_wait_step(&waiting, None, TWO, true), WaitStep::Begin, "the time is over, and two are enough");
        assert_eq!(
            next_wait_step(&[], None, ALL, false),
            WaitStep::Wait("0 of 3 pods run; the others wait: the cluster creates the pods".to_owned())
        );
    }

    #[test]
    fn nobody_waits_for_pods_that_cannot_come() {
        let stuck = pods(["run", "run", "stuck ImagePullBackOff: not found"]);
        assert_eq!(next_wait_step(&stuck, None, TWO, false), WaitStep::Begin);
        let why = reason(next_wait_step(&stuck, None, ALL, false));
        assert!(why.starts_with("2 of 3 pods run: ImagePullBackOff: not found; name an image"), "{why}");
        let quota = Some("pods \"x\" is forbidden: exceeded quota: q");
        let two = &pods(["run", "run", "run"])[..2];
        assert_eq!(next_wait_step(two, quota, TWO, false), WaitStep::Begin);
        let why = reason(next_wait_step(two, quota, ALL, false));
        assert!(why.contains("exceeded quota: q; use fewer agents or smaller pods"), "{why}");
    }

    #[test]
    fn when_the_time_is_over_the_error_says_what_pods_wait_for() {
        let waiting = pods(["run", "waiting Unschedulable: 0/3 nodes", "waiting Unschedulable: 0/3 nodes"]);
        let why = reason(next_wait_step(&waiting, None, TWO, true));
        assert!(why.starts_with("1 of 3 pods run (2 are needed): Unschedulable: 0/3 nodes; use fewer"), "{why}");
        assert!(reason(next_wait_step(&[], None, ALL, true)).contains("created no pods yet; wait longer"));
    }
}
