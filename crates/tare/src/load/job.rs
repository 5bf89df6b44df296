//! What the flags ask for, with nothing optional left: the session, its one slice, and how both are called.

use std::time::Duration;

use tare_load::{Identity, Protocol, Schedule, SessionSpec, SliceSpec, StopRule, TlsSpec, Trust};
use tare_plan::plan::SliceKind;
use tare_plan::server_clock::ServerClock;
use tare_sys::clock;
use url::Url;

use super::{generator, model, place::Place, request, spin, talk};
use crate::args::{ConnectionArgs, LoadArgs, ModelArgs};

/// How long without -d and -n; and the bound of -n against a server that does not answer.
const USUAL: Duration = Duration::from_secs(10);
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The most intervals that a record is cut into, so that a long load stays small.
const MOST_INTERVALS: u32 = 1000;

/// A load that is ready to begin.
#[derive(Debug)]
pub struct Job {
    /// What is loaded, as it is shown.
    pub url: String,
    /// `GET /path`.
    pub request: String,
    pub session: SessionSpec,
    pub slice: SliceSpec,
    /// Whose clock stamps what is pushed.
    pub server_clock: ServerClock,
    /// The load model in words.
    pub model: String,
    pub kind: SliceKind,
    /// Length of the record's intervals.
    pub interval: Duration,
}

impl Job {
    /// Reads the flags and looks whether somebody listens.
    pub fn of(args: &LoadArgs) -> anyhow::Result<Self> {
        let (load, connection) = (&args.model, &args.connection);
        generator::make_room(load.connections)?;
        let wanted = request::wanted(&args.urls, &args.request)?;
        let urls: Vec<String> = wanted.iter().map(|wanted| wanted.url.clone()).collect();
        let place = Place::of(&urls, connection.unix_socket.as_deref(), connection.connect_timeout.0)?;
        let cpus = generator::cpus(&args.machine, load.connections)?;
        let sending = spin::sending(load, &place.target, &cpus);
        let conversation = talk::talk(&place.url, args)?;
        let mut slice = SliceSpec { sending, ..slice(load, connection.timeout.0) };
        let mut requests = request::requests(&wanted, &place.paths, &args.request, connection, slice.seed)?;
        if let Some(conversation) = conversation {
            slice.stop = talk::stop(conversation, args, slice.stop);
        }
        if let Some(bytes) = args.websocket.echo {
            talk::echo(&mut requests, bytes);
        }
        let first = requests.list.first().map(|r| format!("{} {}", r.method, r.path)).unwrap_or_default();
        let protocol = match conversation {
            Some(conversation) => Protocol::WebSocket(conversation),
            None if connection.http2 => Protocol::Http2 { streams: connection.streams.into() },
            None => Protocol::Http1 { pipeline: connection.pipeline.into() },
        };
        Ok(Self {
            url: place.shown(),
            request: first,
            server_clock: args.websocket.server_clock,
            model: model::in_words(load, &slice, protocol),
            kind: match slice.schedule {
                Schedule::Closed | Schedule::ClosedStages { .. } => SliceKind::Saturating,
                _ if load.poisson => SliceKind::Poisson,
                _ => SliceKind::Fixed,
            },
            interval: args.output.interval.0.max(longest(&slice) / MOST_INTERVALS).max(Duration::from_millis(10)),
            session: SessionSpec {
                protocol,
                connections: load.connections as usize,
                host: Some(args.request.host.clone().unwrap_or(place.host)),
                cpus,
                timeout: connection.timeout.0,
                connect_timeout: connection.connect_timeout.0,
                congestion: connection.congestion.clone(),
                poller: args.machine.poller,
                server_clock: tare_run::server_clock(args.websocket.server_clock),
                tls: matches!(place.url.scheme(), "https" | "wss").then(|| tls(&place.url, connection)),
                ..SessionSpec::new(place.target, requests)
            },
            slice,
        })
    }
}

fn tls(url: &Url, args: &ConnectionArgs) -> TlsSpec {
    // The brackets of an IPv6 address belong to the URL, not to the name.
    let name = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    TlsSpec {
        trust: match &args.cacert {
            _ if args.insecure => Trust::Anybody,
            Some(file) => Trust::Authorities(file.clone()),
            None => Trust::System,
        },
        identity: args.cert.clone().zip(args.key.clone()).map(|(certificate, key)| Identity { certificate, key }),
        ..TlsSpec::new(name)
    }
}

/// The time that the progress is measured against.
fn longest(slice: &SliceSpec) -> Duration {
    match slice.stop {
        StopRule::Duration(span) => span,
        StopRule::Count { .. } => Duration::ZERO,
    }
}

fn slice(model: &ModelArgs, timeout: Duration) -> SliceSpec {
    let schedule = model::schedule(model);
    let staged = model::staged(model);
    let span = model.duration.map(|span| span.0).or((!staged.is_zero()).then_some(staged));
    let stop = match model.requests {
        Some(requests) => StopRule::Count { requests, at_most: span.unwrap_or(LONGEST) },
        None => StopRule::Duration(span.unwrap_or(USUAL) + model.warmup.0),
    };
    SliceSpec {
        discard_head: model.warmup.0,
        drain_timeout: timeout,
        // Short enough to be typed again.
        seed: model.seed.unwrap_or_else(|| clock::wall_unix_ns() / 1_000_000 % 100_000),
        ..SliceSpec::new(schedule, model.connections as usize, stop)
    }
}
