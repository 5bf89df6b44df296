//! A server as the load sees it: what it must answer, and where.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tare_plan::plan::Variant;

use crate::prepare::Launch;
use crate::server_host::local::server_id::ServerId;

/// The servers of the fork under way.
pub(crate) type DrivenServers<'a> = BTreeMap<ServerId, DrivenServer<'a>>;

/// One server that has become ready.
pub(crate) struct DrivenServer<'a> {
    pub variant: Variant,
    pub launch: &'a Launch,
    pub address: SocketAddr,
}
