//! The few words of one currency: how it was compared, what it says, why it says no more.

use tare_stats::verdict::MAX_FORECAST_FORKS;
use tare_stats::{Comparison, Method, UndecidedReason, Verdict};

use crate::format::{Change, count, grouped};
use crate::summary::VerdictKind;

/// How the interval was made.
pub(super) fn method(comparison: &Comparison) -> String {
    match comparison.method {
        _ if comparison.forks < 2 => "one fork, no interval".to_owned(),
        Method::Sequential { alpha, .. } => format!("confidence sequence, α {alpha}"),
        Method::Repeated { alpha, max_forks, .. } => format!("repeated intervals up to {max_forks} forks, α {alpha}"),
        Method::FixedForks { alpha } => format!("Student t, α {alpha}, {} forks", comparison.forks),
    }
}

/// The two directions of a currency, worse first.
pub(super) fn directions(currency: &str) -> (&'static str, &'static str) {
    match currency {
        "throughput" => ("slower", "faster"),
        "capacity" => ("bears less", "bears more"),
        "cpu_per_request" => ("dearer", "cheaper"),
        "allocated_per_request" => ("heavier", "lighter"),
        _ => ("later", "sooner"),
    }
}

/// `slower 8.1 % [7.2, 9.0]`.
pub(super) fn short(currency: &str, kind: VerdictKind, change: &Change) -> String {
    match kind {
        VerdictKind::Worse => format!("{} {}", directions(currency).0, change.magnitude()),
        VerdictKind::Better => format!("{} {}", directions(currency).1, change.magnitude()),
        VerdictKind::NoMaterialDifference => format!("no difference {}", change.signed()),
        VerdictKind::Inconclusive => format!("inconclusive {}", change.signed()),
        VerdictKind::NoInterval => change.short(),
        VerdictKind::Void => "void".to_owned(),
    }
}

/// Why there is no verdict, where there is none.
pub(super) fn reason(verdict: Verdict, comparison: &Comparison) -> Option<String> {
    match verdict {
        Verdict::NoInterval => Some("one fork cannot tell how much forks differ".to_owned()),
        Verdict::Inconclusive { reason, forks_needed } => {
            let outlook = if reason == UndecidedReason::WaitsForEarlier {
                String::new()
            } else {
                outlook(forks_needed, comparison.forks)
            };
            Some(format!("{}{outlook}", undecided(reason, comparison)))
        }
        _ => None,
    }
}

fn undecided(reason: UndecidedReason, comparison: &Comparison) -> String {
    let (forks, least) = (count(comparison.forks.into(), "fork"), comparison.method.min_forks());
    match reason {
        UndecidedReason::TooFewForks => format!("{forks} of at least {least}"),
        UndecidedReason::IntervalTooWide => "the interval holds both no difference and a material one".to_owned(),
        UndecidedReason::TooManyComparisons => {
            "a difference by itself, but not enough evidence for a table of so many comparisons".to_owned()
        }
        UndecidedReason::WaitsForEarlier => "an earlier question of the plan is still open".to_owned(),
    }
}

fn outlook(forks_needed: Option<u32>, forks: u32) -> String {
    match forks_needed {
        None => format!("; {} forks would not settle it", grouped(MAX_FORECAST_FORKS.into())),
        Some(needed) if needed <= forks => "; it is as precise as was asked for".to_owned(),
        Some(_) => String::new(),
    }
}
