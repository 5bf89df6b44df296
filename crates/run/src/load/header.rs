//! The header of the record of a load: its plan with every setting, the machine and the program.

use std::net::SocketAddr;

use tare_plan::plan::{Setting, Source};
use tare_record::LoadHeader;
use tare_record::RunHeader;
use tare_record::environment::Environment;
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
    let (plan, slice) = (&job.plan, &job.slice);
    let span = |span: Span| span.to_string();
    let mut rows = vec![
        ("request", plan.request.clone(), "method and path of the first request"),
        ("different requests", plan.requests.to_string(), "they take turns"),
        ("connections", slice.connections.to_string(), "connections in use"),
        ("timeout", span(plan.timeout), "a request without an answer after this time has failed"),
        ("connect-timeout", span(plan.connect_timeout), "a connection that is not open after this time has failed"),
        ("warmup", span(plan.warmup), "time at the start that is not scored"),
        ("load-cpus", equipment.load_cpus.clone(), "cores of the generator"),
        ("congestion", equipment.congestion.clone(), "TCP congestion control of the sockets"),
        ("CPUs kept awake", equipment.keeps_cpus_awake.clone(), "cpu_dma_latency"),
        ("poller", equipment.poller.clone(), "kernel interface of the generator"),
        ("sending", equipment.sending.clone(), "how closely sends follow the schedule"),
        ("server-clock", plan.server_clock.name().to_owned(), "whose clock stamps pushed messages"),
        ("seed", plan.seed.to_string(), "seed of random arrivals"),
    ];
    if let Some(server) = &plan.server {
        rows.insert(0, ("server", server.to_string(), "process of this machine whose use and stops are shown"));
    }
    if let Some(think) = plan.think {
        rows.insert(2, ("think", span(think), "mean time between an answer and the next request of a user"));
    }
    if let Some(tls) = &job.session.tls {
        let meaning = "whether a new connection over TLS may resume an earlier session";
        rows.insert(2, ("resumption", tls.resumption.to_string(), meaning));
    }
    if plan.checks > 0 {
        rows.insert(2, ("checks", plan.checks.to_string(), "checks that each answer must pass"));
    }
    if !plan.feeds.is_empty() {
        rows.insert(2, ("feed", plan.feeds.join(", "), "files that fill the variables of requests"));
    }
    if let Some(setup) = &plan.setup {
        rows.insert(2, ("setup", setup.clone(), "file of the requests that each user sends once before the load"));
    }
    if !job.session.further_addresses.is_empty() {
        let further = job.session.further_addresses.iter().map(SocketAddr::to_string);
        let all: Vec<String> = std::iter::once(job.session.target.to_string()).chain(further).collect();
        rows.insert(0, ("addresses", all.join(", "), "addresses of the server, over which connections are spread"));
    }
    if !equipment.agents.is_empty() {
        rows.insert(0, ("agents", equipment.agents.join(", "), "generators that each make one share of the load"));
    }
    let setting = |(key, value, meaning): (&str, String, &str)| Setting::new("load", key, value, Source::Flag, meaning);
    rows.into_iter().map(setting).collect()
}
