//! Whether a load can still succeed. One whose every request has failed is not worth the rest of its time.

use std::time::Duration;

use tare_load::SliceSample;
use tare_plan::LoadPlan;
use tare_record::{EventKind, EventRecord};

/// A load with a shorter timeout is given this time.
const LEAST_TIME: Duration = Duration::from_secs(5);
/// Fewer failures are no reason to end a load: users may think long, or the rate may be low.
const LEAST_FAILURES: u64 = 20;

/// Counts what has succeeded and failed since the scored time began.
pub struct Outlook {
    /// In this time every request that left at the start was answered or has failed.
    patience: Duration,
    /// Whether the user allows all requests to fail.
    may_fail: bool,
    window_ns: u64,
    failures: u64,
    has_succeeded: bool,
}

impl Outlook {
    pub fn of(plan: &LoadPlan) -> Self {
        let allows_all = plan.conditions.iter().any(|one| one.bounds_all_errors() && !one.is_met_by(1.0));
        let patience = plan.timeout.0.max(LEAST_TIME);
        Self { patience, may_fail: allows_all, window_ns: 0, failures: 0, has_succeeded: false }
    }

    pub fn note_part(&mut self, part: &SliceSample) {
        self.window_ns += part.window_ns;
        self.failures += part.failed + part.connection_events.total();
        // The stream of a user who reads pushed messages succeeds only at its end.
        self.has_succeeded |= part.ok > 0 || part.messages.received > 0;
    }

    /// Why the load must be given up; `None` as long as it may go on.
    pub fn given_up(&self) -> Option<EventRecord> {
        let is_hopeless = !self.has_succeeded
            && !self.may_fail
            && self.failures >= LEAST_FAILURES
            && u128::from(self.window_ns) >= self.patience.as_nanos();
        let kind = EventKind::GivenUp { after_ns: self.window_ns, failures: self.failures };
        is_hopeless.then(|| EventRecord { at_ns: self.window_ns, ..EventRecord::new(kind) })
    }
}

#[cfg(test)]
mod tests {
    use tare_load::ErrorClass;
    use tare_plan::load_plan::LoadModel;
    use tare_units::Span;

    use super::super::job::tests::{HTTP, TEN_SECONDS, job};
    use super::*;

    fn plan(timeout_s: u64, conditions: &[&str]) -> LoadPlan {
        let conditions = conditions.iter().map(|one| one.parse().unwrap()).collect();
        LoadPlan { timeout: Span::from_secs(timeout_s), conditions, ..job(LoadModel::Closed, TEN_SECONDS, HTTP).plan }
    }

    fn part(seconds: u64, ok: u64, failed: u64) -> SliceSample {
        SliceSample { window_ns: seconds * 1_000_000_000, ok, failed, ..SliceSample::default() }
    }

    /// After which part a load is given up.
    fn ends_with(plan: &LoadPlan, parts: &[SliceSample]) -> Option<usize> {
        let mut outlook = Outlook::of(plan);
        parts.iter().position(|part| {
            outlook.note_part(part);
            outlook.given_up().is_some()
        })
    }

    #[test]
    fn a_load_in_which_nothing_succeeds_is_given_up_when_its_first_requests_are_over() {
        let failing: Vec<SliceSample> = (0..15).map(|_| part(1, 0, 10)).collect();
        assert_eq!(ends_with(&plan(1, &[]), &failing), Some(4), "never before 5 s");
        assert_eq!(ends_with(&plan(10, &[]), &failing), Some(9), "not while a request may still be answered");
        let mut outlook = Outlook::of(&plan(1, &[]));
        failing[..7].iter().for_each(|part| outlook.note_part(part));
        let event = outlook.given_up().unwrap();
        assert_eq!(
            (event.at_ns, event.kind),
            (7_000_000_000, EventKind::GivenUp { after_ns: 7_000_000_000, failures: 70 })
        );
    }

    #[test]
    fn one_success_few_failures_or_leave_to_fail_let_a_load_go_on() {
        let failing = |ok| [vec![part(1, ok, 30)], (0..15).map(|_| part(1, 0, 30)).collect()].concat();
        assert_eq!(ends_with(&plan(1, &[]), &failing(1)), None);
        assert_eq!(ends_with(&plan(1, &["errors>100%", "p99>1s"]), &failing(0)), None);
        assert_eq!(ends_with(&plan(1, &["errors>50%"]), &failing(0)), Some(4));
        let few: Vec<SliceSample> = (0..19).map(|_| part(1, 0, 1)).collect();
        assert_eq!(ends_with(&plan(1, &[]), &few), None);
        // Users who read what is pushed have ended nothing yet, while others are refused.
        let mut pushed = failing(0);
        pushed[2].messages.received = 1;
        assert_eq!(ends_with(&plan(1, &[]), &pushed), None);
    }

    #[test]
    fn connections_that_cannot_be_opened_are_failures_too() {
        let mut refused: Vec<SliceSample> = (0..6).map(|_| part(1, 0, 0)).collect();
        (0..20).for_each(|_| refused[0].connection_events.add_failure(ErrorClass::Tls, "certificate has expired"));
        assert_eq!(ends_with(&plan(1, &[]), &refused), Some(4));
        // A load that has only begun, or whose warm-up is not over, has no scored time.
        assert_eq!(ends_with(&plan(1, &[]), &[part(0, 0, 1000)]), None);
    }
}
