//! Which slices other programs disturbed, and which forks do not count for that reason. Only the CPU use of others decides,
//! never the figures.

use std::collections::BTreeSet;

use tare_record::sample::StoredSlice;

use super::evidence::Evidence;
use crate::format::{count, share};

/// Above this share of the cores of both sides, the work of others disturbs a slice.
const OTHERS: f64 = 0.1;
/// Up to this share of disturbed slices a fork counts: the trimmed mean leaves them out.
const SLICES: f64 = 0.2;

fn is_disturbed(slice: &StoredSlice) -> bool {
    slice.server.others_share.is_some_and(|others| others > OTHERS)
}

/// Whether too many of these slices were disturbed for the fork to count.
fn too_many<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> bool {
    let (mut all, mut disturbed) = (0_u32, 0_u32);
    for slice in slices {
        all += 1;
        disturbed += u32::from(is_disturbed(slice));
    }
    f64::from(disturbed) > SLICES * f64::from(all)
}

/// The forks to set aside for one group under one scenario: those in which any cell was disturbed too often. None where they
/// are more than half of all: then the machine is always so.
pub(super) fn set_aside(cells: &[Evidence<'_>]) -> BTreeSet<u32> {
    let all: BTreeSet<u32> = cells.iter().flat_map(Evidence::fork_numbers).collect();
    let disturbed =
        |fork: &u32| cells.iter().any(|cell| too_many(cell.scored().filter(|slice| slice.key.fork == *fork)));
    let found: BTreeSet<u32> = all.iter().copied().filter(disturbed).collect();
    if 2 * found.len() > all.len() { BTreeSet::new() } else { found }
}

/// Why other programs make this cell suspect, over the forks that count; `None` where they used little.
pub(super) fn in_words(cell: &Evidence<'_>) -> Option<String> {
    let slices: Vec<&StoredSlice> = cell.measured().collect();
    if !too_many(slices.iter().copied()) {
        return None;
    }
    let disturbed = slices.iter().filter(|slice| is_disturbed(slice)).count() as u64;
    let most = slices.iter().filter_map(|slice| slice.server.others_share).fold(0.0, f64::max);
    let of = count(slices.len() as u64, "slice");
    Some(format!(
        "other programs used up to {} of the cores, and more than {} in {disturbed} of {of}",
        share(most),
        share(OTHERS)
    ))
}
