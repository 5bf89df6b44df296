//! The header of the record of a load: its plan with every setting, the machine and the program.

use std::net::SocketAddr;

use tare_plan::plan::{Setting, Source};
use tare_record::environment::Environment;
use tare_record::{LoadHeader, RunHeader};
use tare_sys::clock;
use tare_units::Span;

use super::job::LoadJob;
use super::source::{Equipment, LoadSource};
use crate::machine::machine_state::machine_facts;

/// The header of the load that is about to begin. `command` is the command line without its secrets.
pub fn load_header(job: &LoadJob, source: &dyn LoadSource, command: Vec<String>) -> LoadHeader {
    let equipment = source.equipment(job);
    let mut plan = job.plan.clone();
    plan.load_cpus.clone_from(&equipment.load_cpus);
    plan.settings = settings(job, &equipment);
    RunHeader {
        id: "load".to_owned(),
        started_unix_ns: clock::wall_unix_ns(),
        command,
        tare_version: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: None,
        plan_hash: plan.hash(),
        plan,
        environment: Environment { sections: machine_facts(), ..Environment::default() },
    }
}

/// The settings that the report lists. They do not say which values are defaults.
fn settings(job: &LoadJob, equipment: &Equipment) -> Vec<Setting> {
    let (plan, session) = (&job.plan, &job.session);
    let span = |span: Span| Some(span.to_string());
    let list = |all: &[String]| Some(all.join(", ")).filter(|all| !all.is_empty());
    let further = session.further_addresses.iter().map(SocketAddr::to_string);
    let addresses: Vec<String> = std::iter::once(session.target.to_string()).chain(further).collect();
    let addresses = if addresses.len() > 1 { list(&addresses) } else { None };
    let server = plan.server.as_ref().map(ToString::to_string);
    let resumption = session.tls.as_ref().map(|tls| tls.resumption.to_string());
    let rows = [
        ("agents", list(&equipment.agents), "generators that each make one share of the load"),
        ("addresses", addresses, "addresses of the server, over which connections are spread"),
        ("server", server, "process of this machine whose use and stops are shown"),
        ("request", Some(plan.request.clone()), "method and path"),
        ("different requests", Some(plan.requests.to_string()), "they take turns"),
        ("setup", plan.setup.clone(), "file of the requests that each user sends once before the load"),
        ("feed", list(&plan.feeds), "files that fill the variables of requests"),
        ("checks", (plan.checks > 0).then(|| plan.checks.to_string()), "checks that each answer must pass"),
        ("resumption", resumption, "whether a new connection over TLS may resume an earlier session"),
        ("think", plan.think.and_then(span), "mean time between an answer and the next request of a user"),
        ("connections", Some(job.slice.connections.to_string()), "connections in use"),
        ("timeout", span(plan.timeout), "a request without an answer after this time has failed"),
        ("connect-timeout", span(plan.connect_timeout), "a connection that is not open after this time has failed"),
        ("warmup", span(plan.warmup), "time at the start that is not scored"),
        ("load-cpus", Some(equipment.load_cpus.clone()), "cores of the generator"),
        ("congestion", Some(equipment.congestion.clone()), "TCP congestion control of the sockets"),
        ("CPUs kept awake", Some(equipment.keeps_cpus_awake.clone()), "cpu_dma_latency"),
        ("sending", Some(equipment.sending.clone()), "how closely sends follow the schedule"),
        ("server-clock", Some(plan.server_clock.name().to_owned()), "whose clock stamps pushed messages"),
        ("seed", Some(plan.seed.to_string()), "seed of random arrivals"),
    ];
    let given = rows.into_iter().filter_map(|(key, value, meaning)| Some((key, value?, meaning)));
    given.map(|(key, value, meaning)| Setting::new("load", key, value, Source::Flag, meaning)).collect()
}
