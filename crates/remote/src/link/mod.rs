//! Links to agents: how an agent is started on this machine, by ssh or in a pod, and the pipes to its process.

mod command;
pub(crate) mod group;
pub(crate) mod kubernetes;
mod pipe_tail;
pub(crate) mod pipes;
pub(crate) mod ssh;
pub(crate) mod starting;
#[cfg(test)]
pub(crate) mod tests;
