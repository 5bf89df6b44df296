//! From the flags of `tare load` to a load that is ready to begin.

mod body;
mod files;
mod place;
mod protocol;
mod request;
mod setup;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tare_load::{Identity, RequestSpec, Requests, SessionSpec, TlsSpec};
use tare_plan::LoadPlan;
use tare_plan::condition::Condition;
use tare_plan::contract::TlsKeys;
use tare_plan::load_plan::{Arrivals, LoadModel, LoadStage, LoadStop, Protocol, TlsTrust};
use tare_record::RequestTally;
use tare_run::load::{LoadJob, find_process, generator_cpus, server_is_elsewhere};
use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::clock;
use tare_units::Span;
use url::Url;

use crate::args::{ConnectionArgs, LoadArgs, ModelArgs, Spin};
use crate::console::print_note;
use crate::failure::{refuse_given, wrong_usage};
use place::LoadTarget;

pub use files::InputFiles;
pub use protocol::WITHOUT_REQUESTS;
pub use request::parse_header;

/// Length of a load without -d and -n.
const USUAL: Duration = Duration::from_secs(10);
/// The most intervals of a load whose end is known, so that its record stays small. Those of one with -n grow.
const MOST_INTERVALS: u32 = 1000;
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// Reads the flags and checks that a server listens. An error is one sentence.
pub fn load_job(args: &LoadArgs, files: &InputFiles) -> anyhow::Result<LoadJob> {
    let (load, connection) = (&args.model, &args.connection);
    if connection.unix_socket.is_some() && connection.congestion.is_some() {
        return Err(wrong_usage(
            "--congestion is for TCP, which a Unix socket has not; leave out one of the two flags",
        ));
    }
    let wanted = request::wanted_requests(&args.urls, &args.request, files)?;
    let urls: Vec<String> = wanted.iter().map(|wanted| wanted.url.clone()).collect();
    let instead = (connection.unix_socket.as_deref(), connection.connect_to.as_ref());
    let connect_within = args.fleet.agents.is_empty().then_some(connection.connect_timeout.0);
    let mut place = LoadTarget::from_urls(&urls, instead, connect_within)?;
    place.leave_addresses_without_connection(load.connections);
    say_what_is_connected_to(&place);
    if let Some(name) = place.url.domain().filter(|name| connect_within.is_none() && *name != "localhost") {
        print_note(&format!(
            "  each agent looks {name} up itself, and spreads its connections over all addresses of one family"
        ));
    }
    let cpus = cpus(args)?;
    let protocol = protocol::load_protocol(&place, args)?;
    // Short enough to be typed again.
    let seed = load.seed.unwrap_or_else(|| clock::wall_unix_ns() / 1_000_000 % 100_000);
    let mut requests = request::build_requests(wanted, &place, &args.request, connection, files, seed)?;
    if place.is_grpc {
        request::refuse_close(&requests.list, "remove it")?;
    } else if connection.http2 {
        request::refuse_close(&requests.list, "remove it, or leave out --http2")?;
    }
    if let Some(bytes) = args.websocket.echo {
        protocol::send_echo_messages(&mut requests, bytes);
    }
    protocol::send_subscriptions(&mut requests, &args.websocket.subscribe, files)?;
    requests.setup = setup::setup_steps(args.request.setup.as_deref(), &place, &protocol, files)?;
    let is_tls = matches!(place.url.scheme(), "https" | "wss");
    if !is_tls {
        refuse_tls_flags(connection)?;
    }
    let has_stages = !load.stages.is_empty() || !load.user_stages.is_empty();
    if has_stages && staged_time(load).is_zero() {
        return Err(wrong_usage("the stages take no time; let one of them last, such as 5000:30s"));
    }
    check_conditions(&args.output.fail_if, &requests)?;
    let stop = stop(args, &protocol);
    let plan = LoadPlan {
        url: place.shown_url(),
        request: shown_requests(&requests.list),
        requests: requests.list.len() as u32,
        checks: args.request.check.len() as u32,
        feeds: args.request.feed.iter().map(|file| file.display().to_string()).collect(),
        setup: args.request.setup.as_ref().map(|file| file.display().to_string()),
        model: load_model(load),
        think: args.request.think.map(|think| Span(think.mean())),
        stop,
        warmup: load.warmup,
        connections: load.connections,
        protocol,
        tls: is_tls.then(|| trust(connection, str::to_owned)),
        timeout: connection.timeout,
        connect_timeout: connection.connect_timeout,
        load_cpus: cpus.to_string(),
        server: args.server.as_deref().map(find_process).transpose()?,
        server_clock: args.websocket.server_clock,
        interval: interval(args, stop),
        seed,
        conditions: args.output.fail_if.clone(),
        settings: Vec::new(),
    };
    let spins = match load.spin {
        Spin::Always => true,
        Spin::Never => false,
        Spin::Auto => is_open_loop(load) && server_is_elsewhere(&place.target, &cpus),
    };
    let session = SessionSpec {
        host: Some(args.request.host.clone().unwrap_or(place.host)),
        cpus,
        congestion: connection.congestion.clone(),
        tls: is_tls.then(|| tls(&place.url, connection, files)),
        further_addresses: place.further_addresses,
        ..SessionSpec::new(place.target, requests)
    };
    Ok(LoadJob::new(plan, session, spins))
}

fn refuse_tls_flags(connection: &ConnectionArgs) -> anyhow::Result<()> {
    let of_tls = [
        ("--cacert", connection.cacert.is_some()),
        ("--cert", connection.cert.is_some()),
        ("--sni", connection.sni.is_some()),
        ("--no-resumption", connection.no_resumption),
    ];
    refuse_given(&of_tls, "is for https://, grpcs:// and wss://; correct the URL, or leave out the flag")
}

/// Says which addresses get the load, where a name has several, and that no proxy does.
fn say_what_is_connected_to(place: &LoadTarget) {
    if !place.further_addresses.is_empty() {
        let further = place.further_addresses.iter().map(SocketAddr::to_string);
        let all: Vec<String> = std::iter::once(place.target.to_string()).chain(further).collect();
        print_note(&format!("  connections are spread over {} addresses: {}", all.len(), all.join(", ")));
    }
    for (addresses, why) in &place.unused_addresses {
        print_note(&format!("  {addresses} of the same name gets no load: {why}"));
    }
    let is_loopback = place.target.tcp_address().is_none_or(|address| address.ip().is_loopback());
    if let Some(name) = unused_proxy(place.url.scheme(), is_loopback, |name| std::env::var(name).ok()) {
        print_note(&format!("  {name} is set and not used: tare connects to the server itself"));
    }
}

/// `GET /a`, of several requests `GET /a and 2 more`.
fn shown_requests(list: &[RequestSpec]) -> String {
    match list.split_first() {
        None => String::new(),
        Some((only, [])) => only.shown_name(),
        Some((first, others)) => format!("{} and {} more", first.shown_name(), others.len()),
    }
}

/// The variable of the environment that names a proxy to other programs. Nobody means one on the way to this machine.
fn unused_proxy(scheme: &str, is_loopback: bool, value: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let names = match scheme {
        "https" | "wss" => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let is_set = |name: &&str| value(name).is_some_and(|value| !value.is_empty());
    names.into_iter().find(is_set).filter(|_| !is_loopback)
}

fn cpus(args: &LoadArgs) -> anyhow::Result<CpuSet> {
    let machine = &args.machine;
    let cpus = generator_cpus(machine.load_cpus.as_deref(), machine.threads, args.model.connections)?;
    let allowed = allowed_cpus()?.iter().count();
    if let Some(threads) = machine.threads.filter(|threads| *threads > allowed) {
        print_note(&format!("  -t {threads}: there are {allowed} cores, and more threads would only take turns"));
    }
    Ok(cpus)
}

/// When the load ends. With --messages, each user's subscription counts as one request.
fn stop(args: &LoadArgs, protocol: &Protocol) -> LoadStop {
    let model = &args.model;
    let staged = staged_time(model);
    let span = model.duration.or((!staged.is_zero()).then_some(Span(staged)));
    let count = match protocol {
        Protocol::Push { messages: Some(_), .. } => Some(model.requests.unwrap_or(model.connections.into())),
        _ => model.requests,
    };
    match count {
        Some(count) => LoadStop::Requests { count, at_most: span.unwrap_or(LoadStop::NO_LIMIT) },
        None => LoadStop::Duration { span: span.unwrap_or(Span(USUAL)) },
    }
}

fn load_model(model: &ModelArgs) -> LoadModel {
    if !model.user_stages.is_empty() {
        return LoadModel::ClosedStages { stages: model.user_stages.clone() };
    }
    if !is_open_loop(model) {
        return LoadModel::Closed;
    }
    let rate = model.rate.unwrap_or(0.0);
    let (per_s, stages) = match model.ramp {
        Some(over) => (0.0, vec![LoadStage { to: rate, over }]),
        None => (rate, model.stages.clone()),
    };
    let arrivals = if model.poisson { Arrivals::Poisson } else { Arrivals::Even };
    LoadModel::Open { per_s, stages, arrivals, tick: model.tick }
}

fn is_open_loop(model: &ModelArgs) -> bool {
    model.rate.is_some() || !model.stages.is_empty()
}

/// How long the stages of --stages or --user-stages last.
fn staged_time(model: &ModelArgs) -> Duration {
    model.stages.iter().chain(&model.user_stages).map(|stage| stage.over.0).sum()
}

fn interval(args: &LoadArgs, stop: LoadStop) -> Span {
    let whole = match stop {
        LoadStop::Duration { span } => span.0 + args.model.warmup.0,
        LoadStop::Requests { .. } => Duration::ZERO,
    };
    Span(args.output.interval.0.max(whole / MOST_INTERVALS).max(SHORTEST_INTERVAL))
}

fn check_conditions(conditions: &[Condition], requests: &Requests) -> anyhow::Result<()> {
    let of_url: Vec<&Condition> = conditions.iter().filter(|condition| condition.url.is_some()).collect();
    if of_url.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> = requests.list.iter().map(RequestSpec::shown_name).collect();
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    for condition in of_url {
        let most = RequestTally::MOST;
        let why = match names.iter().position(|name| condition.is_about(name)) {
            Some(place) if place < most => continue,
            Some(_) => format!("only the first {most} URLs of a list are told apart; write this one earlier"),
            None => format!("no request has this URL; there is {}", names[..names.len().min(3)].join(", ")),
        };
        return Err(wrong_usage(format!("--fail-if '{}': {why}", condition.text)));
    }
    Ok(())
}

/// `placed`: the file of authorities as it is named or opened.
fn trust(args: &ConnectionArgs, placed: impl Fn(&str) -> String) -> TlsTrust {
    TlsKeys { ca: args.cacert.as_deref().map(placed), insecure: args.insecure, ..TlsKeys::default() }.trust()
}

fn tls(url: &Url, args: &ConnectionArgs, files: &InputFiles) -> TlsSpec {
    // The brackets of an IPv6 address belong to the URL, not to the name.
    let name = args.sni.as_deref().unwrap_or_else(|| url.host_str().unwrap_or_default().trim_matches(['[', ']']));
    TlsSpec {
        trust: trust(args, |file| files.place(Path::new(file)).display().to_string()),
        identity: args.cert.as_deref().map(|certificate| Identity {
            certificate: files.place(certificate),
            key: files.place(args.key.as_deref().unwrap_or(certificate)),
        }),
        resumption: !args.no_resumption,
        ..TlsSpec::new(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_that_is_not_used_is_named_where_it_would_be_used() {
        let only = |set: &'static str| move |name: &str| (name == set).then(|| "http://proxy:3128".to_owned());
        assert_eq!(unused_proxy("https", false, only("HTTPS_PROXY")), Some("HTTPS_PROXY"));
        assert_eq!(unused_proxy("ws", false, only("all_proxy")), Some("all_proxy"));
        assert_eq!(unused_proxy("http", false, only("HTTPS_PROXY")), None);
        assert_eq!(unused_proxy("http", true, only("HTTP_PROXY")), None);
        assert_eq!(unused_proxy("http", false, |_| Some(String::new())), None);
    }

    #[test]
    fn a_condition_on_a_url_is_about_one_that_is_told_apart() {
        let list = (0..100_000).map(|number| RequestSpec::get(&format!("/{}", number / 2 * 2)));
        let requests = Requests::of(list.collect::<Vec<_>>());
        let check = |condition: &str| check_conditions(&[condition.parse::<Condition>().unwrap()], &requests);
        assert!(check("p99(/98)>5ms").is_ok(), "a URL that is there twice is one of the first 50");
        let late = check("p99(/99998)>5ms").unwrap_err().to_string();
        assert!(late.contains("only the first 50 URLs of a list are told apart"), "{late}");
        let absent = check("p99(/1)>5ms").unwrap_err().to_string();
        assert!(absent.contains("no request has this URL; there is GET /0, GET /2, GET /4"), "{absent}");
    }
}
