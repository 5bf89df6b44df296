//! Checks of the servers of a suite that name another server: one that they are like, or one that they stand in front of.

use super::{Inputs, spoken};
use crate::PlanError;
use crate::names::select_names;

/// What a server of the suite is like must be in the catalog, where it is not in the suite, and run on a JVM where it gets
/// options of one.
pub(super) fn check_likes(inputs: &Inputs<'_>) -> Result<(), PlanError> {
    for (name, server) in &inputs.suite.servers {
        let Some(like) = &server.like else { continue };
        let origin = |key: &str| format!("{}: [servers.{name}] {key}", inputs.suite.file);
        let Some(known) = inputs.inventory.get(like) else {
            let own = inputs.suite.servers.keys().filter(|other| *other != name).cloned();
            let names: Vec<String> = inputs.inventory.names().into_iter().chain(own).collect();
            select_names(&origin("like"), "server", std::slice::from_ref(like), &names)?;
            return Err(PlanError::value(origin("like"), format!("\"{like}\" is no server's name")));
        };
        spoken::check_spoken(known, server.protocol)
            .map_err(|message| PlanError::value(origin("protocol"), message))?;
        if let Some(key) = server.first_given(&["java", "jvm_options"]).filter(|_| !known.jvm) {
            let message = format!("is for a JVM, and {like} runs on none; leave it out");
            return Err(PlanError::value(origin(key), message));
        }
    }
    Ok(())
}

/// The server behind a proxy must be one of the suite or of the catalog.
pub(super) fn check_upstreams(inputs: &Inputs<'_>, servers: &[String]) -> Result<(), PlanError> {
    for (name, server) in &inputs.suite.servers {
        let Some(upstream) = server.in_front_of.as_ref().filter(|upstream| !servers.contains(upstream)) else {
            continue;
        };
        let origin = format!("{}: [servers.{name}] in_front_of", inputs.suite.file);
        select_names(&origin, "server", std::slice::from_ref(upstream), servers)?;
        return Err(PlanError::value(origin, format!("\"{upstream}\" is no server's name")));
    }
    Ok(())
}
