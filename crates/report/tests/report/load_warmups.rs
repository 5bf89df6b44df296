//! Loads that end before their figures begin.

use tare_analysis::load::summarize;
use tare_record::EndStatus;
use tare_units::Span;

use crate::loads;

#[test]
fn a_load_that_ends_within_its_warm_up_says_so_with_a_remedy() {
    let mut record = loads::record().clone();
    record.intervals.clear();
    record.header.plan.warmup = Span::from_secs(5);
    let reasons = summarize(&record).verdict.reasons;
    let [nothing, why] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(nothing.text, "nothing was measured");
    assert_eq!(why.text, "the load had ended before its warm-up of 5s was over");
    assert!(why.remedy.as_ref().is_some_and(|remedy| remedy.contains("--warmup")), "{why:?}");
    record.end = Some((EndStatus::Interrupted, 0));
    assert_eq!(summarize(&record).verdict.reasons.len(), 1, "whoever stopped it knows why");
}
