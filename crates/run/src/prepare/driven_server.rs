//! A server as the load sees it: what it must answer, and where.

use std::net::SocketAddr;

use tare_plan::contract::Contract;
use tare_plan::plan::Variant;

use crate::prepare::Launch;

/// One server that has become ready.
pub(crate) struct DrivenServer<'a> {
    pub variant: Variant,
    pub launch: &'a Launch,
    pub contract: Contract,
    pub address: SocketAddr,
}
