//! The servers of a run on another machine. Each operation is a task of the agent there.

pub(crate) mod files;
pub(crate) mod leftovers;
pub(crate) mod network_path;
mod remote;
mod remote_servers;
#[cfg(test)]
mod tests;

pub(crate) use remote::CHUNK;
pub use remote::{HostChoice, RemoteHost};
