//! `tare serve`: one server in the foreground, built and started as a suite would, until Ctrl-C.

use std::time::Duration;

use tare_run::named_cores;
use tare_run::server_host::{ServerId, StartOrigin};
use tare_sut::server::{Server, port_holder, temporary_logs};
use tare_sys::affinity::allowed_cpus;

use crate::args::{Global, ServeArgs};
use crate::failure::Outcome;
use crate::session::{BuiltServers, ends_of_logs, how_ended};
use crate::{console, interrupt};

const LOOK: Duration = Duration::from_millis(200);

pub fn serve(args: &ServeArgs, global: &Global) -> anyhow::Result<Outcome> {
    if let Some(holder) = port_holder(args.port)? {
        anyhow::bail!("port {} is held by {holder}; stop that process, or choose another port with --port", args.port);
    }
    let cpus = match &args.server_cpus {
        Some(list) => named_cores("--server-cpus", list)?,
        None => allowed_cpus()?,
    };
    let built = BuiltServers::build(std::slice::from_ref(&args.server), 1, &args.choice, global)?;
    let all = built.variants();
    let variant = all.first().ok_or_else(|| anyhow::anyhow!("{} is left out of the plan", args.server))?;
    if let Some(reason) = built.launches.unavailable(variant) {
        anyhow::bail!("{} is not available: {reason}", variant.name);
    }
    let order = built.launches.order(&built.plan, ServerId(0), variant, "server.log", &cpus)?;
    let StartOrigin::Ours(own) = &order.origin else {
        anyhow::bail!("{} is running already, and tare did not start it", variant.name);
    };
    let mut spec = order.placed(own, &temporary_logs("serve")?.keep())?;
    // Any free port is chosen as in a run.
    spec.port = Some(args.port).filter(|port| *port != 0);
    let server = Server::start(&spec, &built.cancelled)?;
    let (name, url, pid) = (&variant.name, server.base_url(), server.pid());
    console::print_text(&format!("{name} serves on {url} (pid {pid}); Ctrl-C ends it\n"));
    console::print_text(&format!("  {}\n  log {}\n", server.command_line(), spec.log_path.display()));
    while !interrupt::is_raised(&built.cancelled) {
        if let Some(end) = how_ended(&variant.name, server.status()) {
            anyhow::bail!("{end}; {}", ends_of_logs(server.chain()));
        }
        std::thread::sleep(LOOK);
    }
    console::print_text(&format!("{}\n", server.stop()?));
    Ok(Outcome::Done)
}
