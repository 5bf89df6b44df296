//! Before a slice: opens the missing connections, and reports the progress if that takes long.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_sample::SliceSample;
use tare_sys::clock;
use tare_units::grouped;

use super::LoadSession;
use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::recorder::slice::SliceSpec;
use crate::session::worker_thread::{WorkerOrder, WorkerReport};

/// Progress of a slice, for live output.
#[derive(Clone, Copy, Debug)]
pub enum Watched<'a> {
    /// The slice waits for its connections. Reported four times a second, if opening them takes longer than a quarter.
    Opening(Opening),
    /// The connections are open and the slice begins. Reported only after `Opening`.
    Begun,
    /// The sample since the last report.
    Interval(&'a SliceSample),
}

/// Is shown the progress of a slice.
pub(super) type Watcher<'a> = &'a mut dyn FnMut(Watched<'_>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    pub open: usize,
    /// Connections that the slice uses.
    pub of: usize,
    /// Time since the first was opened. That of an agent is not sent.
    #[serde(skip)]
    pub elapsed: Duration,
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "opening connections  {} of {}", grouped(self.open as u64), grouped(self.of as u64))
    }
}

impl LoadSession {
    /// Lets all workers open their missing connections, and waits until they have finished or given up.
    pub(super) fn prepare(&self, slice: &SliceSpec, cancel: &Cancel, watcher: Watcher<'_>) -> Result<(), LoadError> {
        for worker in &self.workers {
            worker.send_order(WorkerOrder::Prepare {
                in_use: worker.part_of(slice.connections),
                cancel: cancel.clone(),
            })?;
        }
        let begin = clock::now();
        let mut open = vec![0; self.workers.len()];
        let mut working: Vec<usize> = (0..self.workers.len()).collect();
        let (mut was_shown, mut failure) = (false, None);
        while !working.is_empty() {
            let mut is_long = false;
            working.retain(|&worker| match self.workers[worker].wait_for_report() {
                WorkerReport::Open { connections, goes_on } => {
                    open[worker] = connections;
                    is_long |= goes_on;
                    goes_on
                }
                WorkerReport::Part(_) => true,
                WorkerReport::Last(last) => {
                    failure = failure.take().or(last.err());
                    false
                }
            });
            if is_long {
                was_shown = true;
                let elapsed = Duration::from_nanos(clock::now().since(begin));
                watcher(Watched::Opening(Opening {
                    open: open.iter().sum(),
                    of: self.share.part_of(slice.connections as u64) as usize,
                    elapsed,
                }));
            }
        }
        if was_shown {
            watcher(Watched::Begun);
        }
        failure.map_or(Ok(()), Err)
    }
}
