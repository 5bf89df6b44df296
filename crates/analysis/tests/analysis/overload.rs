//! A server that is overloaded by the rate of its latency, and by nothing else.

use tare_analysis::summary::ValidityState;
use tare_analysis::{Currency, summarize};
use tare_plan::plan::SliceKind;
use tare_record::{ErrorClass, ErrorTally};

use crate::synthetic::{baseline, run, variant};

#[test]
fn a_server_that_cannot_follow_the_rate_of_the_latency_has_all_its_other_figures() {
    let truths = [baseline(), variant("http4s.Tapir", 0.8)];
    for (failing, class, state) in [
        (SliceKind::Poisson, ErrorClass::Timeout, ValidityState::Valid),
        (SliceKind::Poisson, ErrorClass::Status, ValidityState::Void),
        (SliceKind::Saturating, ErrorClass::Timeout, ValidityState::Void),
    ] {
        let mut record = run(&truths, 5, &[SliceKind::Saturating, SliceKind::Poisson]);
        for slice in record.slices.iter_mut().filter(|s| s.key.variant == "http4s.Tapir" && s.key.kind == failing) {
            slice.load.failed = 900;
            slice.load.errors = [(class, ErrorTally { count: 900, example: "late".to_owned() })].into_iter().collect();
        }
        let summary = summarize(&record);
        let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
        assert_eq!(cell.validity.state, state, "{failing:?} {class:?}: {:?}", cell.validity.reasons);
        if state == ValidityState::Valid {
            assert!(cell.validity.joined_reasons().contains("overloaded at the rate of the latency"));
            assert_eq!(cell.validity.state_in(Currency::LatencyP99), ValidityState::Suspect);
            let compared: Vec<Currency> = summary.comparisons[0].currencies.iter().map(|ratio| ratio.name).collect();
            assert!(compared.contains(&Currency::CpuPerRequest), "{compared:?}");
            assert!(!compared.contains(&Currency::LatencyP99), "{compared:?}");
        }
    }
}
