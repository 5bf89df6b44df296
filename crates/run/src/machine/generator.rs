//! Which agents or cores make the load, and whether the process may open enough connections.

use tare_plan::agent_place::AgentPlace;
use tare_plan::{Plan, PlanError};
use tare_sys::affinity::CpuSet;
use tare_sys::limits::raise_open_files;

use crate::machine::named_cores::{named_cores, own_cores};

/// Files that tare has open in addition to its connections: the record, the terminal, the self-test.
const OWN_FILES: u64 = 64;
/// Files that it has open for each server that it starts: its log, its supervisor, its accounts in /proc.
const FILES_PER_SERVER: u64 = 64;

/// The places of the agents that make a plan's load; none if this process makes it.
pub fn agent_places(plan: &Plan) -> Result<Vec<AgentPlace>, PlanError> {
    read_places(&plan.origin_of("agents"), &plan.machine.agents)
}

/// Places as users write them; `origin` is the flag or the key that holds them.
pub fn read_places(origin: &str, texts: &[String]) -> Result<Vec<AgentPlace>, PlanError> {
    texts.iter().map(|text| text.parse().map_err(|message: String| PlanError::value(origin, message))).collect()
}

/// The cores in `list`, or as many as `threads` asks for (by default half), the last core first: the kernel puts other
/// work on the first ones. Never more than there are cores or connections.
pub fn generator_cpus(list: Option<&str>, threads: Option<usize>, connections: u32) -> Result<CpuSet, PlanError> {
    if let Some(list) = list {
        return named_cores("--load-cpus", list);
    }
    let allowed: Vec<usize> = own_cores("the cores of this machine")?.iter().collect();
    let threads = threads.unwrap_or((allowed.len() / 2).max(1));
    // A worker without a connection would have nothing to do.
    let used = threads.min(connections as usize).min(allowed.len());
    Ok(CpuSet::from_indices(allowed[allowed.len() - used..].iter().copied()))
}

/// The generator's cores in a pod of `pod_cpus`: one of several is left to its other threads. Where pods share cores,
/// those before it on the node (`before`) have others, as far as there are enough.
pub fn pod_generator_cpus(pod_cpus: u32, before: u32, connections: u32) -> Result<CpuSet, PlanError> {
    Ok(cpus_in_pod(&own_cores("the cores of this pod")?, pod_cpus, before, connections))
}

fn cpus_in_pod(allowed: &CpuSet, pod_cpus: u32, before: u32, connections: u32) -> CpuSet {
    let threads = pod_cpus.saturating_sub(1).max(1).min(connections.max(1)) as usize;
    let skipped = if is_whole_pod(allowed, pod_cpus) { 0 } else { before as usize * pod_cpus as usize };
    let mut last_first: Vec<usize> = allowed.iter().collect();
    last_first.reverse();
    CpuSet::from_indices(last_first.iter().copied().cycle().skip(skipped % last_first.len().max(1)).take(threads))
}

/// Whether these cores are no more than those that a pod asked for, and so are its own.
pub fn is_whole_pod(allowed: &CpuSet, pod_cpus: u32) -> bool {
    allowed.iter().count() <= pod_cpus as usize
}

pub fn allow_connections(connections: u32) -> Result<(), PlanError> {
    let needed = OWN_FILES + u64::from(connections);
    let allowed = raise_open_files(needed);
    if allowed < needed {
        let message = format!(
            "{needed} open files are needed, and {allowed} are allowed; raise the limit (ulimit -n {needed}) or use fewer connections"
        );
        return Err(PlanError::value(format!("-c {connections}"), message));
    }
    Ok(())
}

/// The most users of a session, and the most sessions of a group.
fn users_and_sessions(plan: &Plan) -> (u32, u64) {
    let users =
        plan.groups.iter().flat_map(|group| &group.scenarios).map(|named| plan.connections(&named.scenario)).max();
    let sessions = plan.groups.iter().map(|group| group.variants.len()).max().unwrap_or(1) as u64;
    (users.unwrap_or(plan.load.users), sessions)
}

/// Open files for the connections of every session of a group, on either side.
pub(crate) fn needed_open_files(plan: &Plan) -> u64 {
    let (users, sessions) = users_and_sessions(plan);
    OWN_FILES + (FILES_PER_SERVER + u64::from(users)) * sessions
}

/// Raises the limit of open files of this process, and so of the servers that it starts.
pub(crate) fn allow_open_files(plan: &Plan) -> Result<(), PlanError> {
    let needed = needed_open_files(plan);
    let allowed = raise_open_files(needed);
    if allowed >= needed {
        return Ok(());
    }
    let (users, sessions) = users_and_sessions(plan);
    let message = format!(
        "allows {allowed} open files, but {users} users on {sessions} servers need {needed}; raise it (ulimit -n {needed}) or ask for fewer users (-u)"
    );
    Err(PlanError::value("ulimit -n", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_of_one_node_use_different_cores_and_keep_one_for_the_rest() {
        let node = CpuSet::from_indices(0..8);
        let cpus = |pod_cpus, before| cpus_in_pod(&node, pod_cpus, before, 100).to_string();
        assert_eq!([cpus(2, 0), cpus(2, 1), cpus(2, 3)], ["7", "5", "1"]);
        assert_eq!([cpus(3, 0), cpus(3, 1), cpus(1, 2)], ["6-7", "3-4", "5"]);
        assert_eq!(cpus(2, 4), "7", "the node is full, and cores are shared");
        assert_eq!(cpus_in_pod(&node, 8, 0, 3).to_string(), "5-7", "three connections need no more");
    }

    #[test]
    fn cores_that_are_the_pods_own_are_not_divided() {
        let own = CpuSet::from_indices([2, 5]);
        assert_eq!(cpus_in_pod(&own, 2, 1, 100).to_string(), "5");
        assert!(is_whole_pod(&own, 2) && !is_whole_pod(&own, 1));
    }
}
