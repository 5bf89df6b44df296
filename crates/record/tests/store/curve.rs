//! Whether a try of a load kept the curve.

use tare_plan::plan::SliceKind;
use tare_plan::slo::{LoadBy, Slo};
use tare_record::MessageTally;
use tare_record::StoredSlice;
use tare_record::curve::keeps_curve;
use tare_units::Span;

use crate::common;

fn slo(curve: &str) -> Slo {
    let curve = curve.parse().unwrap();
    Slo { curve, by: LoadBy::Users, most_users: 4096, most_per_s: 1e6, each: Span::from_secs(2) }
}

/// A try with this number of expected answers, failures, and missing pushed messages.
fn capacity_try(ok: u64, failed: u64, missing: Option<u64>) -> StoredSlice {
    let mut slice = common::slice(0);
    slice.key.kind = SliceKind::Capacity;
    (slice.load.ok, slice.load.failed) = (ok, failed);
    let messages = missing.map(|missing| MessageTally { received: ok, missing, ..MessageTally::default() });
    slice.load.messages = messages.unwrap_or_default();
    slice
}

#[test]
fn a_curve_allows_one_failure_in_a_thousand_unless_it_states_a_limit() {
    let (silent, share, number) = ("p50<10s", "p50<10s,errors<1%", "p50<10s,errors<5");
    for (curve, (ok, failed, missing), is_kept) in [
        (silent, (10_000, 0, None), true),
        (silent, (10_000, 10, None), true),
        (silent, (10_000, 11, None), false),
        // Missing messages count as failures.
        (silent, (10_000, 0, Some(10)), true),
        (silent, (10_000, 0, Some(11)), false),
        (silent, (10_000, 6, Some(5)), false),
        (silent, (0, 0, Some(0)), false),
        (share, (10_000, 0, Some(101)), true),
        (share, (10_000, 0, Some(102)), false),
        (share, (10_000, 51, Some(51)), false),
        (number, (10_000, 2, Some(2)), true),
        (number, (10_000, 2, Some(3)), false),
        ("p50<1us", (10_000, 0, Some(0)), false),
    ] {
        let kept = keeps_curve(&slo(curve), &capacity_try(ok, failed, missing));
        assert_eq!(kept, is_kept, "{curve}: {ok} right, {failed} failed, {missing:?} missing");
    }
}
