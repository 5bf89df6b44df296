//! A load as the plan of a run with one cell, so that the store, the page and the rules of validity are those of a run.

use std::collections::BTreeMap;

use tare_load::{Conversation, LoadSession, Protocol, Sending, StopRule};
use tare_plan::Plan;
use tare_plan::contract::{Expect, Request, Scenario};
use tare_plan::duration::Span;
use tare_plan::plan::{
    Forks, Group, Load, Machine, Mode, NamedScenario, Probes, Program, Rate, Role, Setting, Slices, Source, Stop,
    Variant, Warmup,
};
use tare_plan::push::Push;
use tare_record::environment::Environment;
use tare_record::sample::RunHeader;
use tare_run::environment;
use tare_sys::clock;

use super::job::Job;

/// What stands in the record before anything is measured.
pub fn header(job: &Job, session: &LoadSession) -> RunHeader {
    let plan = plan(job, session);
    RunHeader {
        id: "load".to_owned(),
        started_unix_ns: clock::wall_unix_ns(),
        command: std::env::args().collect(),
        tare_version: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: None,
        plan_hash: plan.hash(),
        environment: Environment { sections: environment::machine() },
        plan,
    }
}

fn plan(job: &Job, session: &LoadSession) -> Plan {
    let slice = &job.slice;
    let users = slice.connections as u32;
    let length = Span(match slice.stop {
        StopRule::Duration(span) => span,
        StopRule::Count { at_most, .. } => at_most,
    });
    Plan {
        suite: tare_report::load::SUITE.to_owned(),
        question: job.model.clone(),
        mode: Mode::Sequential,
        profile: None,
        groups: vec![group(job)],
        checks: Vec::new(),
        skipped: Vec::new(),
        load: Load {
            users,
            rate: Rate::PerSecond { per_s: slice.schedule.rate_per_s().unwrap_or(0.0) },
            timeout: Span(job.session.timeout),
            congestion: session.congestion().unwrap_or("none").to_owned(),
            spin: slice.sending == Sending::Spinning,
            server_clock: job.server_clock,
        },
        warmup: Warmup::Fixed { span: Span(slice.discard_head), users },
        slices: Slices { length, discard: Span(slice.discard_head), saturating: 1, fixed: 0, poisson: 0, push: 0 },
        stop: Stop { forks: Forks::Fixed { count: 1 }, region: 0.02, alpha: 0.01, floor: 0.0, precision: 0.0 },
        machine: Machine {
            server_cpus: String::new(),
            load_cpus: job.session.cpus.to_string(),
            jvm_options: Vec::new(),
            jvm_cpus: 0,
            java: String::new(),
            startup_timeout: Span::default(),
            stop_grace: Span::default(),
        },
        slo: None,
        probes: Probes::default(),
        engines: Vec::new(),
        seed: slice.seed,
        settings: settings(job, session),
    }
}

fn group(job: &Job) -> Group {
    let variant = Variant {
        name: job.url.clone(),
        server: job.url.clone(),
        family: job.url.clone(),
        kind: String::new(),
        version: None,
        routes: 1,
        role: Role::Baseline,
        program: Program::External { url: job.url.clone() },
    };
    let path = job.session.requests.list.first().map(|request| request.path.clone()).unwrap_or_default();
    let request = Request { method: job.request.clone(), path, headers: BTreeMap::new(), body: None };
    let scenario =
        Scenario { title: job.model.clone(), routes: 1, request, expect: Expect::default(), push: push(job) };
    Group {
        id: job.url.clone(),
        variants: vec![variant],
        scenarios: vec![NamedScenario { name: job.request.clone(), scenario }],
        ladder: false,
    }
}

/// What the server is taken to push.
fn push(job: &Job) -> Option<Push> {
    let Protocol::WebSocket(Conversation::Push(push)) = job.session.protocol else { return None };
    let messages = u32::try_from(push.messages_per_user).unwrap_or(u32::MAX);
    Some(Push { period: Span(push.period), messages })
}

/// The settings that a reader may want to know; whether a flag gave them is not told apart.
fn settings(job: &Job, session: &LoadSession) -> Vec<Setting> {
    let (spec, slice) = (&job.session, &job.slice);
    let setting = |key: &str, value: String, meaning: &str| Setting {
        section: "load".to_owned(),
        key: key.to_owned(),
        value,
        source: Source::Flag,
        meaning: meaning.to_owned(),
    };
    vec![
        setting("model", job.model.clone(), "how requests are offered"),
        setting("request", job.request.clone(), "what is sent"),
        setting("requests", spec.requests.list.len().to_string(), "requests that take turns"),
        setting("connections", slice.connections.to_string(), "connections in use"),
        setting("timeout", Span(spec.timeout).to_string(), "a request unanswered for so long has failed"),
        setting("connect-timeout", Span(spec.connect_timeout).to_string(), "a connect that takes longer has failed"),
        setting("warmup", Span(slice.discard_head).to_string(), "the head that is not scored"),
        setting("load-cpus", spec.cpus.to_string(), "cores of the generator"),
        setting(
            "congestion",
            session.congestion().unwrap_or("none").to_owned(),
            "TCP congestion control of the sockets",
        ),
        setting("CPUs kept awake", if session.keeps_cpus_awake() { "yes" } else { "no" }.to_owned(), "cpu_dma_latency"),
        setting("poller", session.poller().kind.to_string(), "how the generator hears from the kernel"),
        setting("sending", slice.sending.to_string(), "how closely sends follow the schedule"),
        setting("server-clock", job.server_clock.name().to_owned(), "whose clock stamps what is pushed"),
        setting("seed", slice.seed.to_string(), "seed of random arrivals"),
    ]
}
