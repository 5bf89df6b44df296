//! The header of the record of a load: its plan with every setting, the machine and the program.

use tare_load::LoadSession;
use tare_plan::plan::{Setting, Source};
use tare_record::LoadHeader;
use tare_record::RunHeader;
use tare_record::environment::Environment;
use tare_sys::clock;
use tare_units::Span;

use super::job::LoadJob;
use crate::environment;

/// The header of the load that is about to begin. `command` is the command line as typed.
pub fn load_header(job: &LoadJob, session: &LoadSession, command: Vec<String>) -> LoadHeader {
    let mut plan = job.plan.clone();
    plan.settings = settings(job, session);
    RunHeader {
        id: "load".to_owned(),
        started_unix_ns: clock::wall_unix_ns(),
        command,
        tare_version: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: None,
        plan_hash: plan.hash(),
        plan,
        environment: Environment { sections: environment::machine_facts() },
    }
}

/// The settings that the report lists. They do not say which values are defaults.
fn settings(job: &LoadJob, session: &LoadSession) -> Vec<Setting> {
    let (plan, slice) = (&job.plan, &job.slice);
    let congestion = session.congestion_control().unwrap_or("none").to_owned();
    let keeps_awake = if session.keeps_cpus_awake() { "yes" } else { "no" };
    let span = |span: Span| span.to_string();
    let mut rows = vec![
        ("request", plan.request.clone(), "method and path of the first request"),
        ("requests", plan.requests.to_string(), "different requests that take turns"),
        ("connections", slice.connections.to_string(), "connections in use"),
        ("timeout", span(plan.timeout), "a request without an answer after this time has failed"),
        ("connect-timeout", span(plan.connect_timeout), "a connection that is not open after this time has failed"),
        ("warmup", span(plan.warmup), "time at the start that is not scored"),
        ("load-cpus", plan.load_cpus.clone(), "cores of the generator"),
        ("congestion", congestion, "TCP congestion control of the sockets"),
        ("CPUs kept awake", keeps_awake.to_owned(), "cpu_dma_latency"),
        ("poller", session.poller().kind.to_string(), "kernel interface of the generator"),
        ("sending", slice.sending.to_string(), "how closely sends follow the schedule"),
        ("server-clock", plan.server_clock.name().to_owned(), "whose clock stamps pushed messages"),
        ("seed", plan.seed.to_string(), "seed of random arrivals"),
    ];
    if plan.checks > 0 {
        rows.insert(2, ("checks", plan.checks.to_string(), "checks that each answer must pass"));
    }
    if !plan.feeds.is_empty() {
        rows.insert(2, ("feed", plan.feeds.join(", "), "files that fill the variables of requests"));
    }
    let setting = |(key, value, meaning): (&str, String, &str)| Setting {
        section: "load".to_owned(),
        key: key.to_owned(),
        value,
        source: Source::Flag,
        meaning: meaning.to_owned(),
    };
    rows.into_iter().map(setting).collect()
}
