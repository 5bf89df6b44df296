//! The flags of `tare load`. Where wrk, oha and hey agree on a letter, it means here what it means there (docs/FLAGS.md).

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgGroup, Args};
use tare_load::{Check, FeedOrder, Think};
use tare_plan::ServerClock;
use tare_plan::condition::Condition;
use tare_plan::load_plan::LoadStage;
use tare_units::Span;

use super::agents::AgentArgs;
use super::values::{
    ConnectTo, Spin, depth, parse_connections, parse_duration, parse_file, parse_message_bytes, parse_number,
    parse_rate, parse_server_name, parse_stage, parse_think, parse_threads, parse_time, seed,
};

pub const EXAMPLES: &str = "\
Examples:
  tare load http://127.0.0.1:8080/ -c 64 -d 10s
      64 users; each waits for its responses
  tare load http://127.0.0.1:8080/ -r 20000 --poisson
      20,000 requests/s, however slow the responses are
  tare load http://127.0.0.1:8080/ --stages 1000:10s,10000:1m,0:10s
      a rate that rises and falls
  tare load http://127.0.0.1:8080/login --data-json '{\"user\":\"ada\"}'
  tare load 'http://127.0.0.1:8080/users/{{id}}' --feed users.csv --check 'json $.name'
      a row of the table for each request
  tare load http://127.0.0.1:8080/ -r 500 --fail-if 'p99>5ms' --html load.html
      exit code 3 if p99 is above 5 ms, and a page with charts
  tare load http://127.0.0.1:8080/ -r 2000 --poisson --server shop.jar
      which part of the latency is the server's stops
  tare load grpc://127.0.0.1:50051/helloworld.Greeter/SayHello --streams 8
      unary calls of gRPC
  tare load ws://127.0.0.1:8080/ws/ts -c 2500 --messages 600
      messages that the server pushes
  tare load http://10.0.0.1/ -r 200k --agents ssh://bench1,ssh://bench2
      from two machines; k8s:8 from eight pods

Conditions of --fail-if: p50 … p99.9999, mean, min, max of the response time; the same of the service time or of the send lag, as in p99(service), p99(lag); errors as a number or a share (errors>0.1%); p99(/cart) and errors(POST /cart) of one URL of several; responses of a status, as in 'status 503>1%' or 'status 5xx>0'; connection-events, which belong to no request; rps. A condition on a percentile is also met if fewer than ten responses took longer: they are too few to show that it holds.

Exit codes: 0 done · 1 tare failed (no server, no such file, …) · 2 wrong usage · 3 done, but the numbers are VOID or a --fail-if was met · 130 interrupted

What the flags of wrk, hey, oha, ab and k6 are called here: docs/FLAGS.md";

#[derive(Debug, Args)]
pub struct LoadArgs {
    /// URL to load: http, https, grpc, grpcs, ws or wss (default http). Several URLs take turns and share scheme, host and port. May contain {{variables}}.
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
    /// Watch the server, a process of this machine with its children, given by its number or a part of its command line: its
    /// CPU and memory, and which part of the latency is its stops. A JVM logs its stops meanwhile.
    #[arg(long, value_name = "PID|NAME", conflicts_with = "agents", help_heading = "Server")]
    pub server: Option<String>,
    #[command(flatten)]
    pub fleet: AgentArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Flags that have no field: both helps, and `--curl LINE`, which is read before all others and stands here for the help.
pub fn special_flags() -> [Arg; 3] {
    let of_curl = "Take the request from a line for curl, as browsers copy it: --curl \"curl 'http://…' -H …\"";
    [
        Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help("Print the usual flags"),
        Arg::new("help-all").long("help-all").action(ArgAction::HelpLong).help("Print all flags"),
        Arg::new("curl").long("curl").value_name("LINE").help_heading("Request").help(of_curl),
    ]
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load", group = ArgGroup::new("open_loop").args(["rate", "stages"]).multiple(true))]
pub struct ModelArgs {
    /// Number of connections: in a closed loop one per user, in an open loop a shared pool.
    #[arg(short, long, default_value = "50", value_name = "N", value_parser = parse_connections)]
    pub connections: u32,
    /// How long to load [default: 10s; with -n, until all requests are sent]. Not with stages: they have their own times.
    #[arg(short, long, visible_short_alias = 'z', value_name = "SPAN", value_parser = parse_duration, conflicts_with_all = ["stages", "user_stages"])]
    pub duration: Option<Span>,
    /// Number of requests to send; with -d, the load ends with whichever is first. Those of the warm-up do not count.
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_number, conflicts_with_all = ["stages", "user_stages"])]
    pub requests: Option<u64>,
    /// Open loop: requests per second, such as 1000 or 20k. They leave on time, however slow the responses are.
    #[arg(short, long, visible_short_aliases = ['q', 'R'], visible_alias = "qps", value_name = "PER_S", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Send requests at random intervals (Poisson arrivals) instead of evenly spaced; needs --rate or --stages.
    #[arg(long, requires = "open_loop")]
    pub poisson: bool,
    /// Raise the rate evenly from 0 to --rate within this time, then keep it.
    #[arg(long, requires = "rate", value_name = "SPAN", value_parser = parse_time)]
    pub ramp: Option<Span>,
    /// Open loop: change the rate linearly in stages. 1000:10s,5000:30s goes to 1000/s in 10 s, then to 5000/s in 30 s. It
    /// starts at --rate, or at 0 without it.
    #[arg(long, value_delimiter = ',', value_parser = parse_stage, conflicts_with = "ramp", value_name = "RATE:SPAN,…")]
    pub stages: Vec<LoadStage>,
    /// Closed loop: change the number of users linearly in stages, starting at 0. 64:10s,64:1m,0:10s goes to 64 users in
    /// 10 s, stays for 1 min and goes back to 0. --connections is the maximum.
    #[arg(long, value_delimiter = ',', value_parser = parse_stage, conflicts_with_all = ["open_loop", "ramp"], value_name = "USERS:SPAN,…")]
    pub user_stages: Vec<LoadStage>,
    /// Open loop: send the requests that are due in bursts, this long apart. Costs the generator less CPU.
    #[arg(long, requires = "open_loop", value_name = "SPAN", value_parser = parse_time, hide_short_help = true)]
    pub tick: Option<Span>,
    /// Busy-wait when a send or a response is due, because a sleeping thread wakes up late. It can use all CPU time of the
    /// generator's cores.
    #[arg(long, conflicts_with = "tick", default_value = "auto", value_name = "WHEN", hide_short_help = true)]
    pub spin: Spin,
    /// Load this long before the figures begin.
    #[arg(long, default_value = "0s", value_name = "SPAN")]
    pub warmup: Span,
    /// Seed of random arrivals [default: from the clock; the summary shows it].
    #[arg(long, value_parser = seed, hide_short_help = true)]
    pub seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// HTTP method [default: GET; POST if there is a body].
    #[arg(short = 'X', long, visible_short_alias = 'm', value_name = "METHOD")]
    pub method: Option<String>,
    /// Request header, such as 'Accept: text/html'; may be repeated.
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// Read requests from this file ("-": standard input): lines of WEIGHT METHOD URL (the first two are optional), targets of
    /// vegeta, or a HAR recording.
    #[arg(long = "urls", visible_aliases = ["urls-from-file", "har"], value_name = "FILE")]
    pub urls_file: Option<PathBuf>,
    /// Table (.csv, .tsv, .json, .jsonl, also .gz; "-": standard input) with values for {{variables}} in URLs, headers and bodies; may be repeated.
    #[arg(long, value_name = "FILE")]
    pub feed: Vec<PathBuf>,
    /// Order in which rows of --feed are used: in-turn, random, or once (the load ends after the last row).
    #[arg(long, requires = "feed", default_value = "in-turn", value_name = "ORDER", hide_short_help = true)]
    pub feed_order: FeedOrder,
    /// Requests that each user sends once before the load (TOML, see docs/LOAD.md). Their answers fill {{variables}}, and set
    /// cookies.
    #[arg(long, value_name = "FILE")]
    pub setup: Option<PathBuf>,
    /// Follow redirects on the same server, N at most [default of N: 10]. The response time is that of all together.
    #[arg(long, visible_alias = "location", value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = clap::value_parser!(u8).range(1..))]
    pub follow: Option<u8>,
    /// Condition that every response must meet [default: status 2xx]; may be repeated. 'status 200..204', 'header NAME = VALUE',
    /// 'body contains TEXT', 'body ~ REGEX', 'length 5', 'json $.PATH = VALUE', …
    #[arg(long, value_name = "CHECK")]
    pub check: Vec<Check>,
    /// Closed loop: pause of a user between a response and the next request: 100ms, 50ms..200ms, or ~100ms (exponential).
    #[arg(long, conflicts_with = "open_loop", value_name = "SPAN", value_parser = parse_think)]
    pub think: Option<Think>,
    /// Request body as text, or @FILE to read it from a file; may contain {{variables}}.
    #[arg(long, visible_alias = "body", value_name = "TEXT|@FILE", group = "a_body")]
    pub data: Option<String>,
    /// Request body from a file, byte for byte.
    #[arg(short = 'D', long, value_name = "FILE", group = "a_body")]
    pub body_file: Option<PathBuf>,
    /// Leave out the line ends of that file, as a line for curl means it.
    #[arg(long, requires = "body_file", hide = true)]
    pub no_line_ends: bool,
    /// Request body in hex, two digits a byte.
    #[arg(long, value_name = "HEX", group = "a_body", hide_short_help = true)]
    pub data_hex: Option<String>,
    /// Request body as JSON, or @FILE to read it from a file; may contain {{variables}}. Of a gRPC call, its message.
    #[arg(long, value_name = "JSON|@FILE", group = "a_body")]
    pub data_json: Option<String>,
    /// Descriptor set of the messages of gRPC calls, which --data-json needs (protoc --include_imports --descriptor_set_out
    /// FILE, or buf build -o FILE).
    #[arg(long, requires = "data_json", value_name = "FILE", hide_short_help = true)]
    pub protoset: Option<PathBuf>,
    /// Form field of the request body, or a file as NAME=@FILE;type=TYPE, as in curl; may be repeated.
    #[arg(short = 'F', long, value_name = "NAME=VALUE", group = "a_body")]
    pub form: Vec<String>,
    /// Send the form in parts also without a file, as a line for curl means it.
    #[arg(long, requires = "form", hide = true)]
    pub multipart: bool,
    /// Content-Type of the request body.
    #[arg(short = 'T', long, value_name = "TYPE", hide_short_help = true)]
    pub content_type: Option<String>,
    /// Accept header.
    #[arg(short = 'A', long, value_name = "TYPE", hide_short_help = true)]
    pub accept: Option<String>,
    /// User and password for Basic authentication.
    #[arg(short = 'a', long, value_name = "USER:PASSWORD")]
    pub basic_auth: Option<String>,
    /// Host header [default: host of the URL].
    #[arg(long, value_name = "HOST", hide_short_help = true)]
    pub host: Option<String>,
}

impl RequestArgs {
    /// Whether there is something to send.
    pub fn has_body(&self) -> bool {
        let is_given = self.data.is_some() || self.body_file.is_some() || self.data_hex.is_some();
        is_given || self.data_json.is_some() || !self.form.is_empty()
    }
}

/// The time between two pushed messages, unless a flag gives it.
const USUAL_PERIOD: &str = "100ms";

#[derive(Debug, Args)]
#[command(next_help_heading = "WebSockets (ws:// and wss:// URLs) and event streams")]
pub struct WebSocketArgs {
    /// The response is a stream of events: server-sent events, or lines. Each user requests one, reads it to its end, and
    /// requests the next one.
    #[arg(long)]
    pub event_stream: bool,
    /// Pushed messages, or events of a stream, that each user reads before it closes the connection [default: all within
    /// --duration].
    #[arg(long, value_name = "N", value_parser = parse_number)]
    pub messages: Option<u64>,
    /// Message that each user sends when it subscribes to pushed messages, or @FILE; may contain {{variables}}. May be repeated:
    /// each further one is sent after the next message of the server.
    #[arg(long, value_name = "TEXT|@FILE", conflicts_with = "a_body", hide_short_help = true)]
    pub subscribe: Vec<String>,
    /// Time between two messages that the server pushes to a user. Jitter, late and missing messages are computed from it.
    #[arg(long, default_value = USUAL_PERIOD, value_name = "SPAN", value_parser = parse_time, hide_short_help = true)]
    pub period: Span,
    /// Clock that stamps pushed messages: same (this machine's), estimate (the offset is measured with 20 messages before
    /// and after the load), or auto (same if the server runs on this machine, otherwise estimate).
    #[arg(long, default_value = "auto", value_name = "CLOCK", hide_short_help = true)]
    pub server_clock: ServerClock,
    /// Send messages of this size and wait for the echo of each one. With --data TEXT, any message counts as the response.
    #[arg(long, value_name = "BYTES", value_parser = parse_message_bytes, group = "a_body", hide_short_help = true)]
    pub echo: Option<u64>,
}

impl WebSocketArgs {
    /// Whether `period` is what it is without a flag.
    pub fn has_usual_period(&self) -> bool {
        USUAL_PERIOD.parse::<Span>().is_ok_and(|usual| usual == self.period)
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub struct ConnectionArgs {
    /// A request has failed when its response has not come this long after its intended start.
    #[arg(long, default_value = "10s", value_name = "SPAN", value_parser = parse_time)]
    pub timeout: Span,
    /// A connection has failed when it is not open after this time.
    #[arg(long, default_value = "5s", value_name = "SPAN", value_parser = parse_time, hide_short_help = true)]
    pub connect_timeout: Span,
    /// HTTP/2 instead of HTTP/1.1. With https it is negotiated (ALPN), with http assumed (prior knowledge). gRPC is always HTTP/2.
    #[arg(long, conflicts_with = "pipeline")]
    pub http2: bool,
    /// HTTP/2: requests at a time on each connection (streams).
    #[arg(long, short = 'p', default_value_t = 1, value_name = "N", value_parser = depth)]
    pub streams: u16,
    /// HTTP/1.1: requests at a time on each connection (pipelining).
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = depth, hide_short_help = true)]
    pub pipeline: u16,
    /// Open a new connection for each request.
    #[arg(long, visible_alias = "disable-keepalive", conflicts_with = "http2")]
    pub no_keepalive: bool,
    /// Connect to this Unix socket instead of the URL's host.
    #[arg(long, value_name = "PATH", conflicts_with = "connect_to", hide_short_help = true)]
    pub unix_socket: Option<PathBuf>,
    /// Connect to this address instead of the URL's host, whose name stays in Host header, SNI and certificate.
    #[arg(long, value_name = "HOST:PORT", hide_short_help = true)]
    pub connect_to: Option<ConnectTo>,
    /// Name that is sent to the server in TLS (SNI), and that its certificate must have [default: host of the URL].
    #[arg(long, value_name = "NAME", value_parser = parse_server_name, hide_short_help = true)]
    pub sni: Option<String>,
    /// Skip verification of the server's certificate.
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Trust only the CA certificates in this PEM file.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub cacert: Option<String>,
    /// Client certificate (PEM file), with its private key unless --key names it.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub cert: Option<PathBuf>,
    /// Private key of the client certificate (PEM file).
    #[arg(long, value_name = "FILE", requires = "cert", hide_short_help = true)]
    pub key: Option<PathBuf>,
    /// Begin each connection over TLS with a full handshake, and resume no session of an earlier one.
    #[arg(long, hide_short_help = true)]
    pub no_resumption: bool,
    /// TCP congestion control of the sockets [default: the kernel's].
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub congestion: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Generator")]
pub struct GeneratorArgs {
    /// Threads of the generator. Each has a core of its own, from the last core down [default: half the cores].
    #[arg(short, long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Cores of the generator, such as 1 or 2,4-5. Each runs one thread.
    #[arg(long, value_name = "CPUS", conflicts_with = "threads", hide_short_help = true)]
    pub load_cpus: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Exit with code 3 if this condition is met, such as 'p99>5ms'; may be repeated.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,
    /// Write the summary as JSON (docs/LOAD.md); "-" is standard output.
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub json: Option<PathBuf>,
    /// Write CSV: a row for the whole load, and one for each URL, each status and each interval.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a page with charts: one HTML file that needs no network.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write HdrHistogram's percentile distribution of the response times.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub hgrm: Option<PathBuf>,
    /// Write HdrHistogram's interval log of the response times.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub hlog: Option<PathBuf>,
    /// Print wrk's text instead of the summary.
    #[arg(long, hide_short_help = true)]
    pub wrk: bool,
    /// Write the record (SQLite), from which `tare report FILE` makes the other formats.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Length of one interval in files and charts over time.
    #[arg(long, default_value = "1s", value_name = "SPAN", value_parser = parse_time, hide_short_help = true)]
    pub interval: Span,
    /// Hide the live view and progress lines.
    #[arg(long)]
    pub quiet: bool,
    /// Accepted for compatibility with wrk: the latency distribution is always shown.
    #[arg(short = 'L', long, hide = true)]
    pub latency: bool,
}
