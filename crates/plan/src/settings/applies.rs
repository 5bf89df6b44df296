//! When a setting applies: conditions on the settings before it.

use crate::options::WarmupOption;
use crate::plan::Mode;
use crate::resolve::settings::{Known, Resolved};
use crate::slo::Slo;

pub(super) fn is_sequential(known: &Known<'_>) -> bool {
    known.mode == Mode::Sequential
}

pub(super) fn is_compared(known: &Known<'_>) -> bool {
    known.mode == Mode::Compared
}

/// A sequential run has one long slice for each cell; all others have the slices of the table.
pub(super) fn has_slices(known: &Known<'_>) -> bool {
    !is_sequential(known)
}

pub(super) fn warms_up_until_steady(known: &Known<'_>) -> bool {
    known.so_far.warmup == Some(WarmupOption::Steady)
}

pub(super) fn searches_capacity(known: &Known<'_>) -> bool {
    known.so_far.slo.is_some()
}

pub(super) fn fill_slo(resolved: &mut Resolved, fill: impl FnOnce(&mut Slo)) {
    if let Some(slo) = &mut resolved.slo {
        fill(slo);
    }
}
