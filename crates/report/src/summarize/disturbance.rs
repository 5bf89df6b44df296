//! Which slices were disturbed by other work on the cores, and which starts count for nothing because of that. What decides is
//! what others did, never how the figures came out.

use std::collections::BTreeSet;

use tare_record::sample::StoredSlice;

use super::evidence::Evidence;
use crate::format::{count, share};

/// Above this share of the cores of both sides, the work of others disturbs a slice.
const OTHERS: f64 = 0.1;
/// So many disturbed slices a start can bear: they are cut off with the extremes of its ratios.
const SLICES: f64 = 0.2;

fn is_disturbed(slice: &StoredSlice) -> bool {
    slice.server.others_share.is_some_and(|others| others > OTHERS)
}

/// Whether more of these slices were disturbed than a start can bear.
fn too_many<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> bool {
    let (mut all, mut disturbed) = (0_u32, 0_u32);
    for slice in slices {
        all += 1;
        disturbed += u32::from(is_disturbed(slice));
    }
    f64::from(disturbed) > SLICES * f64::from(all)
}

/// The forks to be set aside of the cells of one group under one scenario: those in which any of them was disturbed too often. None
/// where these are more than half of all, which is how that machine is.
pub(super) fn set_aside(cells: &[Evidence<'_>]) -> BTreeSet<u32> {
    let all: BTreeSet<u32> = cells.iter().flat_map(Evidence::fork_numbers).collect();
    let disturbed =
        |fork: &u32| cells.iter().any(|cell| too_many(cell.scored().filter(|slice| slice.key.fork == *fork)));
    let found: BTreeSet<u32> = all.iter().copied().filter(disturbed).collect();
    if 2 * found.len() > all.len() { BTreeSet::new() } else { found }
}

/// In words, what others did while this cell was measured in the forks that count, if it was too much.
pub(super) fn in_words(cell: &Evidence<'_>) -> Option<String> {
    let slices: Vec<&StoredSlice> = cell.measured().collect();
    if !too_many(slices.iter().copied()) {
        return None;
    }
    let disturbed = slices.iter().filter(|slice| is_disturbed(slice)).count() as u64;
    let most = slices.iter().filter_map(|slice| slice.server.others_share).fold(0.0, f64::max);
    let of = count(slices.len() as u64, "slice");
    Some(format!(
        "other work took up to {} of the cores, more than {} in {disturbed} of {of}",
        share(most),
        share(OTHERS)
    ))
}
