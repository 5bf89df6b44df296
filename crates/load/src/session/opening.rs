//! Before a slice: connections that are missing are opened, and who watches is told how far that is where it takes long.

use std::time::Duration;

use tare_sample::SliceSample;
use tare_sys::clock;

use super::{LoadSession, SliceSpec};
use crate::cancel::Cancel;
use crate::error::LoadError;
use crate::remote::{Order, Report};

/// What one who watches a slice is shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Watched<'a> {
    /// The slice waits for its connections. Shown about four times a second, and never where all are opened within the
    /// first quarter of a second.
    Opening(Opening),
    /// The slice that has waited for its connections begins.
    Begun,
    /// What has happened since the last time.
    Interval(&'a SliceSample),
}

/// How far the connections of a slice have been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// So many are open.
    pub open: usize,
    /// Of so many that the slice uses.
    pub of: usize,
    /// For so long connections have been opened.
    pub elapsed: Duration,
}

impl LoadSession {
    /// Has all workers open what is missing, and waits until they have or have given up.
    pub(super) fn prepare(
        &self,
        slice: &SliceSpec,
        cancel: &Cancel,
        watcher: &mut dyn FnMut(Watched<'_>),
    ) -> Result<(), LoadError> {
        for worker in &self.workers {
            worker.order(Order::Prepare { in_use: worker.part_of(slice.connections), cancel: cancel.clone() })?;
        }
        let begin = clock::now();
        let mut open = vec![0; self.workers.len()];
        let mut working: Vec<usize> = (0..self.workers.len()).collect();
        let (mut was_shown, mut failure) = (false, None);
        while !working.is_empty() {
            let mut is_long = false;
            working.retain(|&worker| match self.workers[worker].report() {
                Report::Open { connections, goes_on } => {
                    open[worker] = connections;
                    is_long |= goes_on;
                    goes_on
                }
                Report::Part(_) => true,
                Report::Last(last) => {
                    failure = failure.take().or(last.err());
                    false
                }
            });
            if is_long {
                was_shown = true;
                let elapsed = Duration::from_nanos(clock::now().since(begin));
                watcher(Watched::Opening(Opening { open: open.iter().sum(), of: slice.connections, elapsed }));
            }
        }
        if was_shown {
            watcher(Watched::Begun);
        }
        failure.map_or(Ok(()), Err)
    }
}
