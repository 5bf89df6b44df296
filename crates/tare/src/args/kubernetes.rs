//! Flags of agents in pods, and of `tare agents`.

use clap::{Args, Subcommand};
use tare_remote::{Cluster, PodShape};
use tare_units::Span;

use super::load::parse_time;

/// The image that scripts/image makes.
const IMAGE: &str = concat!("tare:", env!("CARGO_PKG_VERSION"));
const CPUS: u32 = 2;
const MEMORY: &str = "512Mi";

#[derive(Clone, Debug, Default, Args)]
pub struct ClusterArgs {
    /// Context of kubectl's configuration [default: the current one].
    #[arg(long = "k8s-context", value_name = "NAME", hide_short_help = true)]
    pub(super) context: Option<String>,
    /// Namespace of the pods [default: that of the context].
    #[arg(long = "k8s-namespace", value_name = "NAME", hide_short_help = true)]
    pub(super) namespace: Option<String>,
}

impl ClusterArgs {
    pub fn cluster(&self) -> Cluster {
        Cluster { context: self.context.clone(), namespace: self.namespace.clone() }
    }
}

#[derive(Clone, Debug, Args)]
pub struct PodArgs {
    /// Container image of the agents; scripts/image makes one.
    #[arg(long = "k8s-image", default_value = IMAGE, value_name = "IMAGE", hide_short_help = true)]
    pub(super) image: String,
    /// Whole cores of each pod. If it has several, one is left to the kernel and to the rest of the pod.
    #[arg(long = "k8s-cpus", default_value_t = CPUS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), hide_short_help = true)]
    pub(super) cpus: u32,
    /// Memory of each pod.
    #[arg(long = "k8s-memory", default_value = MEMORY, value_name = "BYTES", hide_short_help = true)]
    pub(super) memory: String,
}

impl Default for PodArgs {
    fn default() -> Self {
        Self { image: IMAGE.to_owned(), cpus: CPUS, memory: MEMORY.to_owned() }
    }
}

impl PodArgs {
    pub fn pod_shape(&self) -> PodShape {
        PodShape { image: self.image.clone(), cpus: self.cpus, memory: self.memory.clone() }
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
        cluster: ClusterArgs,
    },
    /// Print the role that a coordinator needs and a job of agents, to be edited and applied: then tare load --agents k8s:job/NAME uses it.
    Manifest(ManifestArgs),
}

#[derive(Debug, Args)]
pub struct ManifestArgs {
    /// Number of pods.
    #[arg(default_value_t = CPUS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub agents: u32,
    /// Name of the job.
    #[arg(long, default_value = "tare-agents", value_name = "NAME")]
    pub name: String,
    /// The pods wait this long for a load; the job ends after this time in any case.
    #[arg(long, default_value = "1h", value_name = "SPAN", value_parser = parse_time)]
    pub within: Span,
    #[command(flatten)]
    pub pod: PodArgs,
}
