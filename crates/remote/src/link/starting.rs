//! Starts agents, wherever they run.

use std::process::Command;
use std::time::Duration;

use tare_load::Cancel;
use tare_sys::affinity::CpuSet;
use tare_sys::clock;
use tare_sys::threads::map_in_threads;
use tare_units::distinct;

use super::group::AgentGroup;
use super::kubernetes::{AgentJob, Cluster, JobShape, LeftJobs, Pod, PodShape, host_label};
use super::pipes::{AgentLink, ExplainEnd, message_channel};
use super::ssh::{Program, SshHost};
use crate::protocol::AgentCores;
use tare_plan::agent_place::AgentPlace;
use tare_run::RunError;

/// A job may run this much longer than its work, because it waits before and after it.
const JOB_MARGIN: Duration = Duration::from_secs(180);
/// A pod that runs waits for its first order this much longer than the coordinator waits for pods.
const ORDER_MARGIN: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct AgentsOrder<'a> {
    pub places: &'a [AgentPlace],
    pub pods: &'a PodOrder,
    /// The longest time of their work.
    pub longest: Duration,
    /// The cores that agents on this machine share.
    pub local_cpus: &'a CpuSet,
}

/// How agents in pods are made.
#[derive(Clone, Debug, Default)]
pub struct PodOrder {
    pub cluster: Cluster,
    pub shape: PodShape,
    /// How long they may take to run.
    pub wait_limit: Duration,
    /// Which of their jobs could not be removed, once all agents are dropped.
    pub left: LeftJobs,
}

struct PlannedAgent {
    place: String,
    command: Command,
    cores: AgentCores,
    explain: ExplainEnd,
}

/// Starts all agents, and returns them before their greeting, with the cores that each may use. `progress` gets a line
/// for each wait.
pub(crate) fn start_agents(
    order: &AgentsOrder<'_>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(&str),
) -> Result<(AgentGroup, Vec<AgentCores>), RunError> {
    let hosts: Vec<SshHost> = distinct(order.places).into_iter().filter_map(SshHost::of).collect();
    let program = Program::of_this_process(!hosts.is_empty()).map_err(|error| agent_error("local", &error))?;
    copy_program_to_hosts(&hosts, &program, cancel, progress)?;
    let jobs = make_jobs(order, cancel)?;
    let mut planned = plan_agents(order, &program, &jobs, cancel, progress)?;
    number_agents(&mut planned);
    let (names, mut links, mut cores) = (names_of(&planned), Vec::new(), Vec::new());
    let (messages, inbox) = message_channel();
    for (agent, mut planned) in planned.into_iter().enumerate() {
        let link = AgentLink::start(agent, &mut planned.command, &messages, planned.explain);
        links.push(link.map_err(|error| agent_error(&names[agent], &error))?);
        cores.push(planned.cores);
    }
    Ok((AgentGroup::new(names, links, jobs, inbox), cores))
}

fn agent_error(agent: &str, error: &std::io::Error) -> RunError {
    RunError::Agent { agent: agent.to_owned(), reason: error.to_string() }
}

/// The job of each place with pods, in order. All are made before one is waited for.
fn make_jobs(order: &AgentsOrder<'_>, cancel: &Cancel) -> Result<Vec<AgentJob>, RunError> {
    let mut jobs = Vec::new();
    for place in order.places {
        let cluster = &order.pods.cluster;
        match place {
            AgentPlace::Local { .. } | AgentPlace::Ssh { .. } => {}
            AgentPlace::Pods { agents } => {
                let shape = JobShape {
                    name: format!("tare-{:x}", clock::wall_unix_ns()),
                    host: host_label(),
                    agents: *agents,
                    pod: order.pods.shape.clone(),
                    first_order_within: order.pods.wait_limit + ORDER_MARGIN,
                    ends_within: order.pods.wait_limit + order.longest + JOB_MARGIN,
                };
                jobs.push(AgentJob::create(&place.to_string(), cluster, &shape, &order.pods.left, cancel)?);
            }
            AgentPlace::AppliedJob { job } => jobs.push(AgentJob::adopt(&place.to_string(), cluster, job, cancel)?),
        }
    }
    Ok(jobs)
}

/// The agents of all places in order, those in pods once all of their pods run.
fn plan_agents(
    order: &AgentsOrder<'_>,
    program: &Program,
    jobs: &[AgentJob],
    cancel: &Cancel,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<PlannedAgent>, RunError> {
    let mut local_cores = cores_of_local_agents(order.places, order.local_cpus).into_iter();
    let mut jobs = jobs.iter();
    let mut planned = Vec::new();
    for place in order.places {
        match place {
            AgentPlace::Local { agents } => planned.extend(local_cores.by_ref().take(*agents).map(|load_cpus| {
                let cores = AgentCores { load_cpus, ..AgentCores::default() };
                PlannedAgent { place: "local".to_owned(), command: program.command(), cores, explain: no_explanation() }
            })),
            AgentPlace::Ssh { .. } => planned.extend(SshHost::of(place).map(|host| PlannedAgent {
                command: host.agent(program),
                place: host.name,
                cores: AgentCores::default(),
                explain: no_explanation(),
            })),
            AgentPlace::Pods { .. } | AgentPlace::AppliedJob { .. } => {
                let Some(job) = jobs.next() else { continue };
                let pods = job.wait_for_pods(order.pods.wait_limit, cancel, progress)?;
                planned.extend(pods.iter().map(|pod| agent_in_pod(job, pod)));
            }
        }
    }
    Ok(planned)
}

fn no_explanation() -> ExplainEnd {
    Box::new(|| None)
}

fn agent_in_pod(job: &AgentJob, pod: &Pod) -> PlannedAgent {
    let cores = AgentCores { pod_cpus: job.pod_cpus, ..AgentCores::default() };
    let place = format!("k8s:{}", pod.node);
    PlannedAgent { place, command: job.attach(pod), cores, explain: job.explain_end(pod) }
}

/// Numbers the agents of each place. By it those in pods of one node choose different cores, where they can.
fn number_agents(planned: &mut [PlannedAgent]) {
    for index in 0..planned.len() {
        let before = planned[..index].iter().filter(|other| other.place == planned[index].place).count();
        planned[index].cores.before_on_node = before as u32;
    }
}

fn copy_program_to_hosts(
    hosts: &[SshHost],
    program: &Program,
    cancel: &Cancel,
    progress: &mut dyn FnMut(&str),
) -> Result<(), RunError> {
    let mut show = |what: &str, hosts: &[&SshHost]| {
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        if !names.is_empty() {
            progress(&format!("{what} {}", names.join(", ")));
        }
    };
    let died = || RunError::Agent { agent: "ssh".to_owned(), reason: "the copying thread died".to_owned() };
    let all: Vec<&SshHost> = hosts.iter().collect();
    show("looking for tare on", &all);
    let mut lacking: Vec<&SshHost> = Vec::new();
    for (host, lacks) in hosts.iter().zip(map_in_threads(all, |host: &SshHost| host.lacks(program, cancel))) {
        lacking.extend(lacks.unwrap_or_else(|| Err(died()))?.then_some(host));
    }
    show("copying tare to", &lacking);
    let copied = map_in_threads(lacking, |host: &SshHost| host.copy(program, cancel));
    copied.into_iter().try_for_each(|copied| copied.unwrap_or_else(|| Err(died())))
}

/// The names of numbered agents: their places, with their numbers where a place has several.
fn names_of(planned: &[PlannedAgent]) -> Vec<String> {
    let name = |PlannedAgent { place, cores, .. }: &PlannedAgent| {
        let has_several = planned.iter().filter(|other| other.place == *place).count() > 1;
        if has_several { format!("{place} {}", cores.before_on_node + 1) } else { place.clone() }
    };
    planned.iter().map(name).collect()
}

/// The cores of each agent on this machine: they share the cores of the generator.
fn cores_of_local_agents(places: &[AgentPlace], cpus: &CpuSet) -> Vec<String> {
    let cpus: Vec<usize> = cpus.iter().collect();
    let count = |place: &AgentPlace| if let AgentPlace::Local { agents } = place { *agents } else { 0 };
    let all: usize = places.iter().map(count).sum();
    let cores = |agent: usize| {
        if cpus.is_empty() {
            return String::new();
        }
        CpuSet::from_indices(cpus.iter().copied().skip(agent % cpus.len()).step_by(all)).to_string()
    };
    (0..all).map(cores).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_one_machine_share_its_cores() {
        let places = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<AgentPlace>>();
        let cores = |texts: &[&str], cpus: &[usize]| {
            cores_of_local_agents(&places(texts), &CpuSet::from_indices(cpus.iter().copied()))
        };
        assert_eq!(cores(&["local:2"], &[2, 3, 4, 5]), ["2,4", "3,5"]);
        assert_eq!(cores(&["local:2", "ssh://a"], &[1]), ["1", "1"]);
        assert_eq!(cores(&["ssh://a", "local:1", "k8s:4"], &[1, 2]), ["1-2"]);
    }

    #[test]
    fn agents_of_one_place_are_numbered() {
        let agent = |place: &str| PlannedAgent {
            place: place.to_owned(),
            command: Command::new("kubectl"),
            cores: AgentCores::default(),
            explain: no_explanation(),
        };
        let mut planned = ["k8s:a", "ssh://b", "k8s:a", "local", "local"].map(agent);
        number_agents(&mut planned);
        assert_eq!(names_of(&planned), ["k8s:a 1", "ssh://b", "k8s:a 2", "local 1", "local 2"]);
        assert_eq!(planned.map(|agent| agent.cores.before_on_node), [0, 0, 1, 0, 1]);
    }
}
