//! Agents in pods of a Kubernetes cluster, over `kubectl` with its usual configuration, contexts and credentials. Each pod's main
//! process is an agent. `kubectl attach` is the pipe to it, so nothing listens, and an agent ends with its pipe.

mod agent_job;
mod kubectl;
mod manifest;
mod pods;

pub(crate) use agent_job::AgentJob;
pub use agent_job::{LeftJobs, remove_agent_jobs};
pub use kubectl::Cluster;
pub(crate) use manifest::host_label;
pub use manifest::{JobShape, PodShape, agent_manifests};
pub(crate) use pods::Pod;
