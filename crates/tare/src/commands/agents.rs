//! `tare agents`: what a cluster needs to have agents, and what they left there.

use anyhow::anyhow;
use tare_remote::{Cluster, JobShape, agent_manifests, remove_agent_jobs};

use crate::args::{AgentsAction, ManifestArgs};
use crate::console;
use crate::failure::Outcome;

pub fn agents(action: &AgentsAction) -> anyhow::Result<Outcome> {
    match action {
        AgentsAction::Clean { cluster, all } => clean_cluster(cluster, *all),
        AgentsAction::Manifest(args) => Ok(print_manifests(args)),
    }
}

fn clean_cluster(cluster: &Cluster, all: bool) -> anyhow::Result<Outcome> {
    let removed = remove_agent_jobs(cluster, all).map_err(|reason| anyhow!(reason))?;
    let is_removed = |job: &&(String, Option<String>)| job.1.is_none();
    let text: String =
        removed.iter().filter(is_removed).map(|(job, _)| format!("removed job {job} and its pods\n")).collect();
    let none = if all { "no job of tare is left\n" } else { "this machine left no job behind; --all removes others\n" };
    console::print_text(if removed.is_empty() { none } else { &text });
    let mut outcome = Outcome::Done;
    for (job, reason) in removed.iter().filter_map(|(job, reason)| Some((job, reason.as_ref()?))) {
        console::print_note(&format!("error: job {job} is still there: {reason}"));
        outcome = Outcome::Missing;
    }
    Ok(outcome)
}

fn print_manifests(args: &ManifestArgs) -> Outcome {
    let within = args.within.0;
    console::print_text(&agent_manifests(&JobShape {
        name: args.name.clone(),
        host: String::new(),
        agents: args.agents as usize,
        pod: args.pod.clone(),
        first_order_within: within,
        ends_within: within,
    }));
    Outcome::Done
}
