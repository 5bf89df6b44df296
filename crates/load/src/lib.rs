//! Makes load and emits samples. What a request is, when it should leave, what an answer must be and when to stop are
//! values handed to the one worker loop; servers' failures are counted, never raised.

mod answer;
mod cancel;
mod channel;
mod check;
mod connection;
mod error;
mod feed;
mod poller;
mod protocol;
mod random;
mod recorder;
mod remote;
mod request;
mod sample;
mod schedule;
mod sending;
mod session;
mod stop_rule;
mod template;
mod think;
mod worker;

pub use cancel::Cancel;
pub use channel::{Identity, TlsSpec, Trust};
pub use check::Check;
pub use error::LoadError;
pub use feed::{Feed, FeedFormat, FeedOrder};
pub use poller::{PollerChoice, PollerInUse, PollerKind};
pub use protocol::Protocol;
pub use request::{Body, ListedUrl, RequestSet, RequestSpec, Requests, url_list};
pub use sample::{ErrorClass, ErrorTallies, ErrorTally, SliceSample, TracedRequest};
pub use schedule::{Arrivals, CustomSchedule, Schedule, Share, Spacing, Stage, Stages};
pub use sending::Sending;
pub use session::{LoadSession, SessionSpec, SliceSpec};
pub use stop_rule::StopRule;
pub use tare_sys::socket::Target;
pub use think::Think;
// Requests are described in these words of the protocol.
pub use tare_wire::http::Method;
