//! Attribution of a change between releases: starts belong together by their numbers.

use tare_analysis::attribution::{Attribution, ReleasePair, attribute_change};
use tare_analysis::{Currency, summarize};
use tare_plan::plan::SliceKind;
use tare_record::{EventKind, EventRecord, RunRecord};

use crate::synthetic::{self, Truth, baseline, variant};

const NEW_LAYER: &str = "new layer";
const OLD_SERVER: &str = "old server";
const NEW_SERVER: &str = "new server";

/// The old release of the layer, whose starts scatter, and the three servers beside it in six starts.
fn releases() -> RunRecord {
    let old_layer = Truth { fork_sd: 0.03, ..baseline() };
    let truths = [old_layer, variant(NEW_LAYER, 0.9), variant(OLD_SERVER, 1.6), variant(NEW_SERVER, 1.5)];
    synthetic::run(&truths, 6, &[SliceKind::Saturating])
}

/// The record, in which these servers settle at half the speed in one start each.
fn with_odd_starts(odd: &[(&str, u32)]) -> RunRecord {
    let mut record = releases();
    let is_odd = |variant: &str, fork: u32| odd.contains(&(variant, fork));
    for slice in record.slices.iter_mut().filter(|slice| is_odd(&slice.key.variant, slice.key.fork)) {
        slice.load.completed /= 2;
    }
    record
}

fn without_starts(starts: &[u32]) -> RunRecord {
    let mut record = releases();
    record.slices.retain(|slice| !starts.contains(&slice.key.fork));
    record.forks.retain(|fork| !starts.contains(&fork.fork));
    record.warmups.retain(|warmup| !starts.contains(&warmup.fork));
    record
}

fn attributed(record: &RunRecord) -> Result<Attribution, String> {
    let [new_layer, old_server, new_server] = [NEW_LAYER, OLD_SERVER, NEW_SERVER].map(str::to_owned);
    attribute_change(&summarize(record), &ReleasePair { new_layer, old_server, new_server }, Currency::CpuPerRequest)
}

#[test]
fn odd_starts_of_single_comparisons_count_in_no_part() {
    for (odd, starts, basis) in [
        (&[][..], &[][..], "6 starts"),
        (&[(NEW_LAYER, 2)], &[2], "5 of 6 starts, because in the rest a server was missing or settled in another mode"),
        // Each comparison leaves out another start, so that all have five ratios.
        (
            &[(NEW_LAYER, 2), (OLD_SERVER, 5), (NEW_SERVER, 6)],
            &[2, 5, 6],
            "3 of 6 starts, because in the rest a server",
        ),
    ] {
        let found = attributed(&with_odd_starts(odd)).unwrap();
        let expected = attributed(&without_starts(starts)).unwrap();
        assert_eq!((found.forks, found.forks_left_out), (6 - starts.len() as u32, starts.len() as u32));
        assert!(found.basis().starts_with(basis), "{}", found.basis());
        for (found, expected) in [(found.whole, expected.whole), (found.layer, expected.layer)] {
            let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
            assert!(near(found.estimate, expected.estimate) && near(found.lo, expected.lo), "{found:?} {expected:?}");
        }
    }
}

#[test]
fn what_cannot_be_split_says_why() {
    assert_eq!(attributed(&without_starts(&[2, 3, 4, 5, 6])), Err("1 of 1 start can be split".to_owned()));
    let mut void = releases();
    let event = EventRecord::new(EventKind::NoAnswers { failure: String::new() });
    void.events.push(EventRecord { variant: Some(OLD_SERVER.to_owned()), ..event });
    let reason = attributed(&void).unwrap_err();
    assert!(reason.starts_with("old server does not count: "), "{reason}");
}
