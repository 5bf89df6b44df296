//! Agents as processes: where they run, how they are started there, and the pipes to them. `load::fleet`, `load_host` and
//! `server_host` say what is told over the pipes.

mod errand;
pub(crate) mod kubernetes;
mod last_words;
pub(crate) mod link;
pub(crate) mod place;
pub(crate) mod ssh;
pub(crate) mod starting;
pub(crate) mod talk;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod work;
