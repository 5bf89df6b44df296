//! The load of a run from this process.

use std::collections::BTreeMap;

use tare_load::{Cancel, LoadSession, Share, SliceSample, Watched};
use tare_sut::contract::CheckOutcome;
use tare_sys::affinity::CpuSet;

use super::{RunLoad, VerifyOrder};
use crate::error::RunError;
use crate::load_host::session::{SessionOrder, users_for_workers};
use crate::server_host::ServerId;
use crate::test_bed::slice::SliceLoad;
use crate::test_bed::{DriveStage, OnStage};

/// Sessions of this process, one for each server.
pub struct OwnLoad {
    cpus: CpuSet,
    share: Share,
    cancel: Cancel,
    sessions: BTreeMap<ServerId, (SessionOrder, LoadSession)>,
}

impl OwnLoad {
    pub fn new(cpus: CpuSet, share: Share, cancel: Cancel) -> Self {
        Self { cpus, share, cancel, sessions: BTreeMap::new() }
    }

    /// Worker threads of the session that has the most; 0 without a session.
    pub fn most_workers(&self) -> u32 {
        self.sessions.values().map(|(_, session)| session.workers()).max().unwrap_or(0) as u32
    }
}

impl RunLoad for OwnLoad {
    fn verify(&mut self, order: &VerifyOrder) -> Result<Vec<CheckOutcome>, RunError> {
        Ok(order.carry_out(&self.cancel))
    }

    fn open(&mut self, sessions: Vec<SessionOrder>) -> Result<(), RunError> {
        self.sessions.clear();
        for order in sessions {
            let session = order.open(&self.cpus, self.share)?;
            self.sessions.insert(order.server, (order, session));
        }
        Ok(())
    }

    fn least_users(&self) -> u32 {
        users_for_workers(self.sessions.values().map(|(order, _)| order), self.most_workers())
    }

    fn close(&mut self) {
        self.sessions.clear();
    }

    fn drive(&mut self, server: ServerId, load: &SliceLoad, on_stage: OnStage<'_>) -> Result<SliceSample, RunError> {
        let unknown = || RunError::NotPrepared(format!("the load of server {}", server.0));
        let (order, session) = self.sessions.get_mut(&server).ok_or_else(unknown)?;
        // Users are requests under way, and the generator counts connections.
        let load = SliceLoad { users: load.users.div_ceil(order.transport.protocol.depth()), ..*load };
        let mut show = |watched: Watched<'_>| match watched {
            Watched::Opening(opening) => on_stage(DriveStage::Opening(opening)),
            Watched::Begun => on_stage(DriveStage::Begun),
            Watched::Interval(_) => {}
        };
        Ok(session.run_watched(&load.spec(order.timeout.0), None, &self.cancel, None, &mut show)?)
    }
}
