//! The messages of protocol 1. Fields may be added with new tags; any other change needs a new number of the protocol.

use prost::{Message, Oneof};

/// The version of the protocol. Both sides must have the same.
pub const PROTOCOL: u32 = 1;

/// A message of the coordinator to an agent.
#[derive(Clone, PartialEq, Message)]
pub struct Order {
    /// One kind; absent where a newer coordinator uses a kind that is not known here.
    #[prost(oneof = "OrderKind", tags = "1, 2, 3, 4, 5, 6, 7, 8")]
    pub kind: Option<OrderKind>,
}

/// The kinds of orders, in the order in which an agent gets them. A ping may come at any time.
#[derive(Clone, PartialEq, Oneof)]
pub enum OrderKind {
    /// The first order.
    #[prost(message, tag = "1")]
    Hello(Hello),
    /// The agent's share of a load.
    #[prost(message, tag = "2")]
    Assign(Assignment),
    /// Open the connections.
    #[prost(message, tag = "3")]
    Prepare(Prepare),
    /// Start the load.
    #[prost(message, tag = "4")]
    Begin(Begin),
    /// End the load early.
    #[prost(message, tag = "5")]
    Stop(Stop),
    /// Answer with the time.
    #[prost(message, tag = "6")]
    Ping(Ping),
    /// An operation on servers. An agent that gets this instead of an assignment runs servers and makes no load.
    #[prost(message, tag = "7")]
    Servers(RunOrder),
    /// A step of the load of a run. An agent that gets this instead of an assignment makes turns of load on order.
    #[prost(message, tag = "8")]
    Load(RunOrder),
}

/// The version of the coordinator.
#[derive(Clone, PartialEq, Message)]
pub struct Hello {
    /// [`PROTOCOL`].
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    /// Version of tare.
    #[prost(string, tag = "2")]
    pub version: String,
}

/// One share of a load.
#[derive(Clone, PartialEq, Message)]
pub struct Assignment {
    /// The command line of the load, program name and sub-command included.
    #[prost(string, repeated, tag = "1")]
    pub command: Vec<String>,
    /// The files that the command line names. The agent reads no others.
    #[prost(message, repeated, tag = "2")]
    pub files: Vec<InputFile>,
    /// Which agent this is, from 0.
    #[prost(uint32, tag = "3")]
    pub agent: u32,
    /// Number of agents.
    #[prost(uint32, tag = "4")]
    pub agents: u32,
    /// The seed of random arrivals and values.
    #[prost(uint64, tag = "5")]
    pub seed: u64,
    /// Cores of the generator, such as `2-3`; empty where the agent decides.
    #[prost(string, tag = "6")]
    pub load_cpus: String,
    /// Time between two samples, in nanoseconds.
    #[prost(uint64, tag = "7")]
    pub every_ns: u64,
    /// Whole cores of the agent's pod; 0 where it is in none.
    #[prost(uint32, tag = "8")]
    pub pod_cpus: u32,
    /// Agents of this load on the node of its pod, before this one.
    #[prost(uint32, tag = "9")]
    pub before_on_node: u32,
}

/// A file of the coordinator's machine.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct InputFile {
    /// Its path as the command line has it.
    #[prost(string, tag = "1")]
    pub path: String,
    /// Its contents.
    #[prost(bytes = "vec", tag = "2")]
    pub contents: Vec<u8>,
}

/// Open the connections, and say when they are open.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Prepare {}

/// Start the load.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Begin {
    /// The start, on the agent's monotonic clock in nanoseconds.
    #[prost(uint64, tag = "1")]
    pub start_ns: u64,
}

/// End the load early. What has been measured is still reported.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Stop {}

/// Answer with the time. An agent that gets no ping for half a minute ends.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Ping {
    /// Repeated in the answer.
    #[prost(uint64, tag = "1")]
    pub number: u64,
}

/// A message of an agent to the coordinator.
#[derive(Clone, PartialEq, Message)]
pub struct Report {
    /// One kind; absent where a newer agent uses a kind that is not known here.
    #[prost(oneof = "ReportKind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9")]
    pub kind: Option<ReportKind>,
}

/// The kinds of reports.
#[derive(Clone, PartialEq, Oneof)]
pub enum ReportKind {
    /// The first report.
    #[prost(message, tag = "1")]
    Greeting(Greeting),
    /// The assignment is accepted and the generator is prepared.
    #[prost(message, tag = "2")]
    Facts(AgentFacts),
    /// The connections are being opened.
    #[prost(message, tag = "3")]
    Opening(OpenConnections),
    /// The connections are open; the agent waits for the start.
    #[prost(message, tag = "4")]
    Ready(Ready),
    /// The sample of the last period.
    #[prost(message, tag = "5")]
    Sample(PackedSample),
    /// The load is over, and all samples were sent.
    #[prost(message, tag = "6")]
    Done(Done),
    /// The agent cannot go on.
    #[prost(message, tag = "7")]
    Failed(Failure),
    /// The answer to a ping.
    #[prost(message, tag = "8")]
    Clock(ClockReading),
    /// The answer to an order about servers or load of a run.
    #[prost(message, tag = "9")]
    Run(RunReport),
}

/// The version of an agent.
#[derive(Clone, PartialEq, Message)]
pub struct Greeting {
    /// [`PROTOCOL`].
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    /// Version of tare.
    #[prost(string, tag = "2")]
    pub version: String,
    /// Name of its machine.
    #[prost(string, tag = "3")]
    pub host: String,
}

/// The generator of an agent.
#[derive(Clone, PartialEq, Message)]
pub struct AgentFacts {
    /// Its cores, such as `2-3`.
    #[prost(string, tag = "1")]
    pub load_cpus: String,
    /// TCP congestion control of its sockets; `none` for Unix sockets.
    #[prost(string, tag = "2")]
    pub congestion: String,
    /// Kernel interface of the generator.
    #[prost(string, tag = "3")]
    pub poller: String,
    /// How closely sends follow the schedule.
    #[prost(string, tag = "4")]
    pub sending: String,
    /// Whether its CPUs are kept from deep sleep.
    #[prost(bool, tag = "5")]
    pub keeps_cpus_awake: bool,
    /// Whether others may use its cores, although its pod asked for whole ones.
    #[prost(bool, tag = "6")]
    pub shares_cpus: bool,
}

/// Progress of opening an agent's connections.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct OpenConnections {
    /// Number of open connections.
    #[prost(uint64, tag = "1")]
    pub open: u64,
    /// Number of connections that it will use.
    #[prost(uint64, tag = "2")]
    pub of: u64,
}

/// The connections are open.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Ready {}

/// A sample of load.
#[derive(Clone, PartialEq, Message)]
pub struct PackedSample {
    /// All counters, in the JSON form that records have. Its start counts from the start of the load.
    #[prost(string, tag = "1")]
    pub counters: String,
    /// All histograms in the order of their declaration, in HdrHistogram's packed form; empty without samples.
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub histograms: Vec<Vec<u8>>,
}

/// The end of a load. The agent stays until its orders end: the output of a process that has ended may be lost on the way.
#[derive(Clone, PartialEq, Message)]
pub struct Done {
    /// The sum of all samples, without histograms.
    #[prost(message, optional, tag = "1")]
    pub whole: Option<PackedSample>,
}

/// Why an agent cannot go on.
#[derive(Clone, PartialEq, Message)]
pub struct Failure {
    /// In one sentence.
    #[prost(string, tag = "1")]
    pub reason: String,
}

/// An agent's clocks at one moment.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct ClockReading {
    /// The number of the ping.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// Its monotonic clock, in nanoseconds.
    #[prost(uint64, tag = "2")]
    pub monotonic_ns: u64,
    /// Its wall clock, in nanoseconds since 1970 UTC.
    #[prost(uint64, tag = "3")]
    pub unix_ns: u64,
}

/// An order about the servers or the load of a run. `tare_run` defines the JSON.
#[derive(Clone, PartialEq, Message)]
pub struct RunOrder {
    /// Repeated in the answer. Each order has a larger one than the order before.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// What to do, as JSON.
    #[prost(string, tag = "2")]
    pub order: String,
    /// The contents of a file, where the order brings one.
    #[prost(bytes = "vec", tag = "3")]
    pub contents: Vec<u8>,
}

/// The answer to an order of a run.
#[derive(Clone, PartialEq, Message)]
pub struct RunReport {
    /// The number of the order.
    #[prost(uint64, tag = "1")]
    pub number: u64,
    /// The result, as JSON.
    #[prost(string, tag = "2")]
    pub report: String,
    /// The sample of a turn of load.
    #[prost(message, optional, tag = "3")]
    pub sample: Option<PackedSample>,
    /// A part of a file, or the stacks of a profile, where the order asks for them.
    #[prost(bytes = "vec", tag = "4")]
    pub contents: Vec<u8>,
}

impl From<OrderKind> for Order {
    fn from(kind: OrderKind) -> Self {
        Self { kind: Some(kind) }
    }
}

impl From<ReportKind> for Report {
    fn from(kind: ReportKind) -> Self {
        Self { kind: Some(kind) }
    }
}
