//! Flags of agents of a load: where they are, and how they are made; and those of `tare agents`.

use clap::{Args, Subcommand};
use tare_plan::agent_place::AgentPlace;
use tare_remote::{Cluster, PodOrder, PodShape};
use tare_units::Span;

use super::values::{PlaceReader, parse_time};
use crate::failure::refuse_given;

#[derive(Debug, Args)]
#[command(next_help_heading = "Agents")]
pub struct AgentArgs {
    /// Let agents make the load, each an equal share: local:4 (processes on this machine), ssh://user@host:22, k8s:8
    /// (pods of a Kubernetes cluster), k8s:job/NAME (those of a job that you applied), or several of them. Each agent
    /// uses the flags of the generator on its own machine.
    #[arg(long, value_delimiter = ',', value_name = "PLACE,…", value_parser = PlaceReader)]
    pub agents: Vec<AgentPlace>,
    #[command(flatten)]
    pub options: AgentOptions,
}

/// How agents are made. A command with these flags has `--agents` too.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Agents")]
pub struct AgentOptions {
    /// How long pods may take until they run.
    #[arg(long, requires = "agents", default_value = "2m", value_name = "SPAN", value_parser = parse_time, hide_short_help = true)]
    agents_wait: Span,
    #[command(flatten)]
    cluster: Cluster,
    #[command(flatten)]
    pod: PodShape,
}

impl AgentOptions {
    pub fn pods(&self) -> PodOrder {
        let (cluster, shape) = (self.cluster.clone(), self.pod.clone());
        PodOrder { cluster, shape, wait_limit: self.agents_wait.0, ..PodOrder::default() }
    }

    /// Refuses flags that mean nothing with agents at these places.
    pub fn check(&self, places: &[AgentPlace]) -> anyhow::Result<()> {
        if places.iter().any(AgentPlace::is_in_cluster) {
            return Ok(());
        }
        let (cluster, pod, usual) = (&self.cluster, &self.pod, PodShape::default());
        let flags = [
            ("--k8s-context", cluster.context.is_some()),
            ("--k8s-namespace", cluster.namespace.is_some()),
            ("--k8s-image", pod.image != usual.image),
            ("--k8s-cpus", pod.cpus != usual.cpus),
            ("--k8s-memory", pod.memory != usual.memory),
        ];
        refuse_given(&flags, "is for agents in pods; add --agents k8s:8, or leave out the flag")
    }
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self { agents_wait: Span::from_secs(120), cluster: Cluster::default(), pod: PodShape::default() }
    }
}

#[derive(Debug, Subcommand)]
pub enum AgentsAction {
    /// Remove the jobs of agents that coordinators on this machine left behind, as after a crash, from the namespace.
    Clean {
        /// Also remove what other machines and people made, and the agents of loads and runs that go on.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        cluster: Cluster,
    },
    /// Print the role that a coordinator needs and a job of agents, to be edited and applied: then tare load --agents k8s:job/NAME uses it.
    Manifest(ManifestArgs),
}

#[derive(Debug, Args)]
pub struct ManifestArgs {
    /// Number of pods.
    #[arg(default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub agents: u32,
    /// Name of the job.
    #[arg(long, default_value = "tare-agents", value_name = "NAME")]
    pub name: String,
    /// The pods wait this long for a load; the job ends after this time in any case.
    #[arg(long, default_value = "1h", value_name = "SPAN", value_parser = parse_time)]
    pub within: Span,
    #[command(flatten)]
    pub pod: PodShape,
}
