//! `tare agent`: a share of a load, or servers, for a coordinator, which talks to it over standard input and output.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::bail;
use tare_remote::{AgentShare, LoadCommand, ProtocolError, serve_agent};
use tare_run::load::{LoadJob, pod_generator_cpus};
use tare_sys::procfs::machine::host_name;
use tare_sys::timeout_reader::TimeoutReader;

use crate::args::{self, Command};
use crate::console;
use crate::failure::{Outcome, error_text};
use crate::load_job::{InputFiles, load_job};

/// A coordinator sends an order or a ping every second. One that is silent for this long is gone, or its network is.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// Serves the coordinator at the other end of standard input and output, and ends with it. It waits `first_order_within`
/// for the first order: in a pod, until the coordinator has all pods.
pub fn agent(first_order_within: Duration) -> anyhow::Result<Outcome> {
    // Without a buffer, so that waiting for bytes and reading them are the same pipe.
    let orders = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let reports = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let host = host_name();
    let mut files = None;
    let mut build = |command: &LoadCommand, share: &AgentShare| {
        // The files stay until the load is over.
        let files = files.insert(InputFiles::sent(&command.files));
        job_of_command(command, share, files).map_err(|error| error_text(&error))
    };
    // Nobody waits for a report any more, whatever the load is doing.
    let end = |read: Result<(), ProtocolError>| match read {
        Ok(()) => std::process::exit(0),
        Err(error) => {
            console::print_note(&format!("error: {error}"));
            std::process::exit(1)
        }
    };
    let orders = TimeoutReader::new(orders, first_order_within, LONGEST_SILENCE);
    serve_agent(orders, reports, &host, &mut build, end)?;
    Ok(Outcome::Done)
}

/// The load of a command line. Its output flags are the coordinator's.
fn job_of_command(command: &LoadCommand, share: &AgentShare, files: &InputFiles) -> anyhow::Result<LoadJob> {
    let cli = args::parse(&command.command).map_err(|error| anyhow::anyhow!("{error}"))?;
    let Command::Load(mut args) = cli.command else {
        bail!("an agent makes the load of tare load, and of nothing else")
    };
    args.fleet.agents.clear();
    args.model.seed = Some(command.seed);
    let (cores, machine) = (&share.cores, &mut args.machine);
    if !cores.load_cpus.is_empty() {
        machine.load_cpus = Some(cores.load_cpus.clone());
        machine.threads = None;
    }
    if cores.pod_cpus > 0 && machine.load_cpus.is_none() && machine.threads.is_none() {
        let connections = args.model.connections.div_ceil(share.agents.max(1));
        let cpus = pod_generator_cpus(cores.pod_cpus, cores.before_on_node, connections)?;
        machine.load_cpus = Some(cpus.to_string());
    }
    load_job(&args, files)
}
