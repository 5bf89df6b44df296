//! Makes load and emits samples. Requests, schedules, checks and stop rules are values given to the one worker loop. A
//! server's failures are counted and never raised as errors.
//!
//! A [`LoadSession`] keeps worker threads and their connections. Each [`SliceSpec`] that it runs yields a
//! [`SliceSample`] with counts and histograms. Response times count from when a request *should* have left, service
//! times from when it did leave. Both are always recorded, except for pushed messages, which nothing was sent for.
//!
//! ```no_run
//! use std::net::SocketAddr;
//! use std::time::Duration;
//! use tare_load::{Cancel, Check, LoadSession, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule};
//!
//! let server: SocketAddr = "127.0.0.1:8080".parse()?;
//! let request = RequestSpec::get("/hello").expecting(Check::status(200));
//! let spec = SessionSpec { connections: 64, ..SessionSpec::new(server, vec![request]) };
//! let mut session = LoadSession::open(&spec)?;
//!
//! let schedule = Schedule::constant(10_000.0);
//! let slice = SliceSpec::new(schedule, 64, StopRule::Duration(Duration::from_secs(10)));
//! let sample = session.run(&slice, &Cancel::new())?;
//! println!("p99 {:?} ns, {} errors", sample.response.value_at_quantile_ns(0.99), sample.errors.total());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Protocol`] selects the protocol (HTTP/1.1 with or without pipelining, HTTP/2, WebSocket), [`TlsSpec`] the
//! security, and [`Target`] the address of the server.

mod cancel;
mod error;
mod input;
mod problem;
mod protocol;
mod random;
mod recorder;
mod schedule;
mod session;
mod worker;

pub use cancel::Cancel;
pub use error::LoadError;
pub use input::check::Check;
pub use input::extract::Extract;
pub use input::feed::{Feed, FeedFormat, FeedOrder};
pub use input::request::{
    Body, FormPart, ListedBody, ListedRequest, RequestList, RequestSet, RequestSpec, Requests, SetupStep,
    parse_request_list,
};
pub use protocol::Protocol;
pub use protocol::offline::{OfflineOutcome, RequestEnd, outcome_of_bytes};
pub use protocol::tls::{Identity, TlsSpec, tls_client};
pub use recorder::slice::SliceSpec;
pub use schedule::sending::Sending;
pub use schedule::stop_rule::StopRule;
pub use schedule::think::Think;
pub use schedule::{Schedule, Share, Stages, Starts};
pub use session::{LoadSession, Opening, SessionSpec, Watched};
pub use tare_sample::{
    ClockEstimate, ErrorClass, ErrorTallies, ErrorTally, MessageTally, ServerClock, SliceSample, TlsTrust,
    TracedRequest,
};
pub use tare_sys::socket::Target;
// Types of the protocol that describe requests.
pub use tare_wire::grpc::{Code as GrpcCode, path_of as grpc_path};
pub use tare_wire::http::{Method, announces_close, method_named};
pub use tare_wire::ws::MAX_MESSAGE_BYTES;
