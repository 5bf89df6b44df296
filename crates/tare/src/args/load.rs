//! The flags of `tare load`. Where wrk, oha and hey agree on a letter, it means here what it means there (docs/FLAGS.md).

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use tare_load::{Check, FeedOrder, PollerChoice, Think};
use tare_plan::ServerClock;
use tare_plan::condition::Condition;
use tare_plan::duration::Span;

mod values;

pub use values::{PerSecond, Spin, Stage};
use values::{connections, duration, feed_order, file, message_bytes, number, think, threads};

pub const EXAMPLES: &str = "\
Examples:
  tare load http://127.0.0.1:8080/ -c 64 -d 10s           64 users, each waiting for its responses (as with wrk)
  tare load http://127.0.0.1:8080/ -r 20000 --poisson     20,000 requests per second, however slow the server is
  tare load http://127.0.0.1:8080/ --stages 1000:10s,10000:1m,0:10s  a rate that rises and falls
  tare load https://127.0.0.1:8443/ -k --http2 --streams 32
  tare load http://127.0.0.1:8080/ -n 100000              a fixed number of requests (as with hey and oha)
  tare load http://127.0.0.1:8080/login --data-json '{\"user\":\"ada\"}'
  tare load http://127.0.0.1:8080/ -D body.bin -T application/octet-stream -m PUT
  tare load 'http://127.0.0.1:8080/users/{{id}}' --feed users.csv --check 'json $.name'
  tare load http://127.0.0.1:8080/ -r 500 --fail-if 'p99>5ms' --fail-if 'errors>0.1%'
  tare load ws://127.0.0.1:8080/ws/ts -c 2500 --messages 600   what the server pushes, timed from its stamps
  tare load ws://127.0.0.1:8080/ws/echo -c 64 --echo 256       messages there and back (or --data TEXT, -r RATE)
  tare load http://127.0.0.1:8080/ --json - | jq .response
  tare load http://127.0.0.1:8080/ --html report.html --hlog run.hlog --csv run.csv

Conditions of --fail-if: p50 … p99.9999, mean, min, max of the response time, or of another clock as in p99(service),
p99(lag); errors as a number or a share (errors>0.1%); rps. Percentiles need ten answers above them, else they fail.

Exit codes: 0 done · 1 tare could not do it (bad URL, nothing listens, …) · 2 wrong usage · 3 done, but the numbers are
VOID or a --fail-if was met · 130 interrupted. What the flags of wrk, hey, oha, ab and k6 are called here: docs/FLAGS.md";

/// Flags of `tare load`.
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// What to load: http, https, ws or wss; several take turns, and share scheme, host and port. Without a scheme it is http. May hold {{variables}}.
    #[arg(required_unless_present = "urls_file", value_name = "URL")]
    pub urls: Vec<String>,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub websocket: WebSocketArgs,
    #[command(flatten)]
    pub connection: ConnectionArgs,
    #[command(flatten)]
    pub machine: GeneratorArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load", group = ArgGroup::new("open_loop").args(["rate", "stages"]).multiple(true))]
pub struct ModelArgs {
    /// Connections: the users of a closed loop, the pool of an open one.
    #[arg(short, long, default_value = "50", value_name = "N", value_parser = connections)]
    pub connections: u32,
    /// Duration of the load [default: 10s; with -n, until all requests are sent].
    #[arg(short, long, visible_short_alias = 'z', value_name = "SPAN", value_parser = duration)]
    pub duration: Option<Span>,
    /// Number of requests to send.
    #[arg(short = 'n', long, value_name = "N", value_parser = number)]
    pub requests: Option<u64>,
    /// Open loop: request rate per second (1000, 20k).
    #[arg(short, long, visible_short_aliases = ['q', 'R'], visible_alias = "qps", value_name = "PER_S")]
    pub rate: Option<PerSecond>,
    /// Poisson arrivals instead of evenly spaced ones (needs --rate or --stages).
    #[arg(long, requires = "open_loop")]
    pub poisson: bool,
    /// Raise the rate evenly from 0 to that of --rate over this time, then keep it.
    #[arg(long, requires = "rate", value_name = "SPAN")]
    pub ramp: Option<Span>,
    /// The rate changes in straight lines: to 1000 over 10s, then to 5000 over 30s, is 1000:10s,5000:30s. Begins at -r, or 0.
    #[arg(long, value_delimiter = ',', conflicts_with = "ramp", value_name = "RATE:SPAN,…")]
    pub stages: Vec<Stage>,
    /// Closed loop: the number of users changes in straight lines, from none: to 64 over 10s, there for 1m, and down again
    /// is 64:10s,64:1m,0:10s. As many as -c at most.
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["open_loop", "ramp"], value_name = "USERS:SPAN,…")]
    pub user_stages: Vec<Stage>,
    /// Requests leave together at ticks this far apart: cheaper, and in bursts.
    #[arg(long, requires = "open_loop", value_name = "SPAN")]
    pub tick: Option<Span>,
    /// Whether the generator stays awake while a request or an answer may be near, at up to the whole of its cores' time,
    /// instead of sleeping and being woken late: auto is for a rate and a server that runs on other cores.
    #[arg(long, conflicts_with = "tick", default_value = "auto", value_name = "WHEN")]
    pub spin: Spin,
    /// Time at the start that is not scored.
    #[arg(long, default_value = "0s", value_name = "SPAN")]
    pub warmup: Span,
    /// Seed of random arrivals [default: from the clock, shown].
    #[arg(long)]
    pub seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// Method [default: GET, and POST with a body].
    #[arg(short = 'X', long, visible_short_alias = 'm', value_name = "METHOD")]
    pub method: Option<String>,
    /// A header field, such as 'Accept: text/html'; may be repeated.
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// Load the URLs or paths of this file instead, one a line: WEIGHT METHOD URL, where the first two may be left out.
    #[arg(long = "urls", visible_alias = "urls-from-file", value_name = "FILE")]
    pub urls_file: Option<PathBuf>,
    /// A table (.csv, .tsv, .json, .jsonl) whose columns fill {{variables}} in URLs, headers and bodies; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub feed: Vec<PathBuf>,
    /// Which row is next: in-turn, random, or once (then the load ends).
    #[arg(long, requires = "feed", default_value = "in-turn", value_name = "ORDER", value_parser = feed_order)]
    pub feed_order: FeedOrder,
    /// What an answer must be [default: status 2xx]; may be repeated. 'status 200..204', 'header NAME = VALUE',
    /// 'body contains TEXT', 'body ~ REGEX', 'length 5', 'json $.PATH = VALUE', …
    #[arg(long, value_name = "CHECK")]
    pub check: Vec<Check>,
    /// Pause of a user between an answer and the next request: 100ms, 50ms..200ms, or ~100ms for an exponential one.
    #[arg(long, conflicts_with = "open_loop", value_name = "SPAN", value_parser = think)]
    pub think: Option<Think>,
    /// The body as text, or from a file with @FILE; may hold {{variables}}.
    #[arg(long, visible_alias = "body", value_name = "TEXT|@FILE", group = "a_body")]
    pub data: Option<String>,
    /// The body from a file, byte for byte.
    #[arg(short = 'D', long, value_name = "FILE", group = "a_body")]
    pub body_file: Option<PathBuf>,
    /// A body of JSON, or from a file with @FILE; may hold {{variables}}.
    #[arg(long, value_name = "JSON|@FILE", group = "a_body")]
    pub data_json: Option<String>,
    /// A field of a form; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", group = "a_body")]
    pub form: Vec<String>,
    /// Content-Type of the body.
    #[arg(short = 'T', long, value_name = "TYPE")]
    pub content_type: Option<String>,
    /// Accept header.
    #[arg(short = 'A', long, value_name = "TYPE")]
    pub accept: Option<String>,
    /// Basic authentication.
    #[arg(short = 'a', long, value_name = "USER:PASSWORD")]
    pub basic_auth: Option<String>,
    /// The Host header, if not that of the URL.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
}

impl RequestArgs {
    /// Whether there is something to send.
    pub fn has_body(&self) -> bool {
        self.data.is_some() || self.body_file.is_some() || self.data_json.is_some() || !self.form.is_empty()
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "WebSocket (ws:// and wss:// URLs)")]
pub struct WebSocketArgs {
    /// Messages that each user reads of what the server pushes, before it hangs up [default: all that come in the time of -d].
    #[arg(long, value_name = "N", value_parser = number)]
    pub messages: Option<u64>,
    /// From one pushed message to the next: what jitter, lateness and missing messages are told by.
    #[arg(long, default_value = "100ms", value_name = "SPAN")]
    pub period: Span,
    /// Whose clock stamps what the server pushes: this machine's (same), or another, whose offset is estimated from 20
    /// messages before the load and after it (estimate); auto is same for a server on this machine.
    #[arg(long, default_value = "auto", value_name = "CLOCK")]
    pub server_clock: ServerClock,
    /// Send messages of so many bytes, and expect each back before the next. With --data TEXT, any message is an answer.
    #[arg(long, value_name = "BYTES", value_parser = message_bytes, group = "a_body")]
    pub echo: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub struct ConnectionArgs {
    /// A request without a response this long after its intended start counts as failed.
    #[arg(long, default_value = "10s", value_name = "SPAN")]
    pub timeout: Span,
    /// A connection that is not open after this time counts as failed.
    #[arg(long, default_value = "5s", value_name = "SPAN")]
    pub connect_timeout: Span,
    /// HTTP/2 instead of HTTP/1.1: by ALPN with https, otherwise with prior knowledge.
    #[arg(long, conflicts_with = "pipeline")]
    pub http2: bool,
    /// HTTP/2: streams under way at a time on each connection.
    #[arg(long, short = 'p', requires = "http2", default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub streams: u16,
    /// HTTP/1.1: requests under way at a time on each connection.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub pipeline: u16,
    /// A new connection for each request.
    #[arg(long, visible_alias = "disable-keepalive")]
    pub no_keepalive: bool,
    /// Connect to this socket instead of the URL's host.
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// Skip verification of the server's certificate.
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Trust only the CA certificates in this PEM file.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub cacert: Option<PathBuf>,
    /// Client certificate, PEM.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Private key of the client certificate, PEM.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// TCP congestion control of the sockets [default: the kernel's].
    #[arg(long, value_name = "NAME")]
    pub congestion: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Generator")]
pub struct GeneratorArgs {
    /// Threads, a core each, taken from the last core backwards [default: half the cores].
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Cores of the generator, such as 1 or 2,4-5; one thread each.
    #[arg(long, value_name = "CPUS", conflicts_with = "threads")]
    pub load_cpus: Option<String>,
    /// How to hear from the kernel: auto (io_uring where allowed), uring or epoll.
    #[arg(long, default_value = "auto", value_name = "POLLER")]
    pub poller: PollerChoice,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Fail (exit code 3) if this is so, such as 'p99>5ms'; may be repeated.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,
    /// The summary as JSON (docs/LOAD.md); FILE "-" is standard output here and below.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub json: Option<PathBuf>,
    /// One row for the whole and one per interval.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// A self-contained page with charts.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// HdrHistogram's percentile distribution.
    #[arg(long, value_name = "FILE")]
    pub hgrm: Option<PathBuf>,
    /// HdrHistogram's interval log.
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Print wrk's text instead of the summary.
    #[arg(long)]
    pub wrk: bool,
    /// Keep the record itself, from which `tare report FILE` makes reports again.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Length of the intervals in files.
    #[arg(long, default_value = "1s", value_name = "SPAN")]
    pub interval: Span,
    /// Show neither the live view nor progress lines.
    #[arg(long)]
    pub quiet: bool,
    /// As wrk: the distribution, which is always shown here.
    #[arg(short = 'L', long, hide = true)]
    pub latency: bool,
}
