//! The machine of the servers that a plan or its flags name.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_load::Cancel;
use tare_plan::Plan;
use tare_plan::settings::Options;
use tare_plan::suite::Suite;
use tare_remote::{HostChoice, RemoteHost};
use tare_run::RunError;

use crate::{console, interrupt};

/// The home of the JDK that is named; `newest` names none.
pub(super) fn java_home(java: Option<&str>) -> Option<&Path> {
    java.filter(|java| *java != "newest").map(Path::new)
}

fn print_progress(text: &str) {
    console::print_note(&format!("  {text}"));
}

/// Connects to the machine of a plan's servers; `None` where they run on this one. `cancelled` ends the wait.
pub fn connect(plan: &Plan, cancelled: &Arc<AtomicBool>) -> anyhow::Result<Option<RemoteHost>> {
    let machine = &plan.machine;
    let Some(place) = &machine.server_host else { return Ok(None) };
    let (address, java) = (machine.server_address.as_deref(), java_home(Some(&machine.java)));
    let cancel = Cancel::from(Arc::clone(cancelled));
    Ok(Some(RemoteHost::connect(HostChoice { place, address, java }, &cancel, &mut print_progress)?))
}

/// The same before there is a plan. The flags win over the suite.
pub fn connect_by(flags: &Options, suite: &Suite) -> anyhow::Result<Option<RemoteHost>> {
    let named = |of: fn(&Options) -> Option<&str>| [flags, &suite.run].into_iter().find_map(of);
    let Some(place) = named(|options| options.server_host.as_deref()) else { return Ok(None) };
    let address = named(|options| options.server_address.as_deref());
    let java = java_home(named(|options| options.java.as_deref()));
    let cancel = Cancel::from(interrupt::flag()?);
    let connected = RemoteHost::connect(HostChoice { place, address, java }, &cancel, &mut print_progress);
    let connected = connected.map_err(|error| match error {
        RunError::Plan { key, message } => {
            let key = suite.origin_of(&key.trim_start_matches('-').replace('-', "_"), flags);
            RunError::Plan { key, message }
        }
        other => other,
    });
    Ok(Some(connected?))
}
