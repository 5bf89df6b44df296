//! Which group is forked next, and when a run is over. Pure: the caller reads the clock.

pub(crate) mod random_orders;

use std::time::Duration;

use tare_plan::GroupOrder;
use tare_plan::estimate::fork_time;
use tare_plan::plan::{Forks, Group, Plan, Stop};
use tare_record::checkpoint::{DoneStep, GroupVerdicts};

/// A fork may exceed the budget by this share of its own length. Otherwise the rest of the budget would be wasted.
const OVERRUN: f64 = 0.25;

#[derive(Debug, Clone, Copy)]
struct GroupProgress<'a> {
    group: &'a Group,
    estimate: Duration,
    forks: u32,
    /// Those that count: forks that were set aside do not.
    forks_counted: u32,
    /// Settled once no other fork begins.
    standing: GroupVerdicts,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NextStep<'a> {
    /// Fork `fork` (1-based) of `group`, which is the `at`-th (0-based) of the plan.
    Fork { at: usize, group: &'a Group, fork: u32 },
    /// What is left of the budget is too little for the first fork of this group.
    LeaveOut { group: &'a Group, left: Duration, needed: Duration },
}

#[derive(Debug, Clone)]
pub(crate) struct ForkSchedule<'a> {
    stop: &'a Stop,
    /// Of the completed forks: the plan's estimate, and the time that they took.
    estimated: Duration,
    taken: Duration,
    groups: Vec<GroupProgress<'a>>,
    /// Whether a group ended because the budget was spent.
    pub is_out_of_time: bool,
}

impl<'a> ForkSchedule<'a> {
    pub fn new(plan: &'a Plan, groups: &'a [Group]) -> Self {
        let begin = |group| GroupProgress {
            group,
            estimate: fork_time(plan, group),
            forks: 0,
            forks_counted: 0,
            standing: GroupVerdicts::Open,
        };
        Self {
            stop: &plan.stop,
            estimated: Duration::ZERO,
            taken: Duration::ZERO,
            groups: groups.iter().map(begin).collect(),
            is_out_of_time: false,
        }
    }

    /// The next fork: of the group with the fewest, or of the first that is open. Groups with a verdict on everything
    /// wait: an answer to each question comes before a narrower interval for one. `None` when all are over.
    pub fn next_step(&mut self, elapsed: Duration) -> Option<NextStep<'a>> {
        loop {
            let open = (0..self.groups.len()).filter(|at| self.groups[*at].standing != GroupVerdicts::Settled);
            let is_even = self.stop.order == GroupOrder::Even;
            let rank = |at: &usize| (self.groups[*at].standing, if is_even { self.groups[*at].forks } else { 0 });
            let at = open.min_by_key(rank)?;
            let GroupProgress { group, estimate, forks, .. } = self.groups[at];
            if self.has_had_its_turn(at) {
                self.close(at);
                continue;
            }
            let fork = forks + 1;
            if self.allows_fork(fork, elapsed, estimate) {
                return Some(NextStep::Fork { at, group, fork });
            }
            self.run_out_of_time(at);
            if fork == 1 {
                return Some(NextStep::LeaveOut { group, left: self.left(elapsed), needed: self.fork_time(estimate) });
            }
        }
    }

    /// Whether a group has had its declared forks. One that was set aside is replaced, up to half as many again.
    fn has_had_its_turn(&self, at: usize) -> bool {
        let GroupProgress { forks, forks_counted, .. } = self.groups[at];
        let Forks::UntilDecided { max_forks: Some(declared), .. } = self.stop.forks else { return false };
        self.stop.order == GroupOrder::Listed && (forks_counted >= declared || forks >= declared + declared / 2)
    }

    /// Notes a fork. Settled comparisons end its group, unless its number of forks is fixed or still too small.
    pub fn note_step(&mut self, step: &DoneStep) {
        let Some(group) = self.groups.iter_mut().find(|progress| progress.group.id == step.group) else { return };
        group.forks += 1;
        group.forks_counted = step.forks_counted;
        self.estimated += group.estimate;
        self.taken += Duration::from_nanos(step.taken_ns);
        if self.stop.forks.may_decide(group.forks) {
            group.standing = step.standing;
        }
    }

    /// Starts no more forks of a group, because the next one does not fit the budget.
    pub fn run_out_of_time(&mut self, at: usize) {
        self.is_out_of_time |= matches!(self.stop.forks, Forks::UntilDecided { .. });
        self.close(at);
    }

    pub fn close(&mut self, at: usize) {
        self.groups[at].standing = GroupVerdicts::Settled;
    }

    /// The longest that the run may still take. The fork of group `at` that begins is finished, even beyond the budget.
    pub fn time_left(&self, at: usize, elapsed: Duration) -> Duration {
        self.left(elapsed).max(self.fork_time(self.groups[at].estimate))
    }

    /// What is left of the budget, or of the fixed forks.
    fn left(&self, elapsed: Duration) -> Duration {
        match self.stop.forks {
            Forks::Fixed { count } => {
                let open = self.groups.iter().filter(|group| group.standing != GroupVerdicts::Settled);
                open.map(|group| self.fork_time(group.estimate) * count.saturating_sub(group.forks)).sum()
            }
            Forks::UntilDecided { budget, .. } => budget.0.saturating_sub(elapsed),
        }
    }

    /// The time of a fork, corrected by how far earlier estimates were off: that describes the machine, not a group.
    fn fork_time(&self, estimate: Duration) -> Duration {
        if self.estimated.is_zero() {
            return estimate;
        }
        estimate.mul_f64(self.taken.as_secs_f64() / self.estimated.as_secs_f64())
    }

    /// Whether a fork that is the `fork`-th (1-based) of its group may begin after `elapsed`.
    fn allows_fork(&self, fork: u32, elapsed: Duration, estimate: Duration) -> bool {
        match self.stop.forks {
            Forks::Fixed { count } => fork <= count,
            Forks::UntilDecided { budget, .. } => {
                // The first fork always runs: even a budget that is too small gives figures, without an interval.
                self.taken.is_zero() || elapsed + self.fork_time(estimate).mul_f64(1.0 - OVERRUN) <= budget.0
            }
        }
    }

    /// Forks of each group, where that is fixed.
    pub fn fixed_forks(&self) -> Option<u32> {
        match self.stop.forks {
            Forks::Fixed { count } => Some(count),
            Forks::UntilDecided { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use tare_units::Span;

    use super::*;
    use crate::tests::{group, plan, until_decided};

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_fork_begins_only_if_most_of_it_fits() {
        let plan = planned(Forks::UntilDecided { budget: Span(s(100)), at_least: 5, max_forks: None });
        let mut schedule = ForkSchedule::new(&plan, &plan.groups);
        assert!(schedule.allows_fork(1, s(500), s(40)), "the first of all always runs");
        (schedule.estimated, schedule.taken) = (s(40), s(40));
        assert!(schedule.allows_fork(3, s(70), s(40)), "70 + 30 of 40 fits");
        assert!(!schedule.allows_fork(3, s(71), s(40)));
        assert!(!schedule.allows_fork(1, s(71), s(40)), "the first of another group must fit, too");
    }

    #[test]
    fn estimates_are_corrected_by_the_forks_that_were_and_each_group_counts_its_own() {
        let plan = planned(Forks::Fixed { count: 3 });
        let mut schedule = ForkSchedule::new(&plan, &plan.groups[..2]);
        (schedule.groups[0].estimate, schedule.groups[1].estimate) = (s(10), s(20));
        assert_eq!(schedule.time_left(0, s(0)), s(90));
        (schedule.estimated, schedule.taken) = (s(10), s(20));
        assert_eq!(schedule.fork_time(s(20)), s(40), "everything takes twice as long as was thought");
        schedule.groups[0].forks = 1;
        assert_eq!(schedule.time_left(0, s(20)), s(2 * 20 + 3 * 40));
    }

    #[test]
    fn listed_groups_wait_until_those_before_them_are_decided_or_have_had_their_forks() {
        let forks = Forks::UntilDecided { budget: Span(s(1_000)), at_least: 2, max_forks: Some(3) };
        let mut plan = planned(forks);
        plan.stop.order = GroupOrder::Listed;
        let (steps, out_of_time) = steps(&plan, 10, |group, fork| group == "y" && fork == 2);
        assert_eq!(steps, ["x1", "x2", "x3", "y1", "y2", "z1", "z2", "z3"]);
        assert!(!out_of_time);
    }

    fn done(group: &Group, taken: Duration, standing: GroupVerdicts, forks_counted: u32) -> DoneStep {
        DoneStep { group: group.id.clone(), taken_ns: taken.as_nanos() as u64, standing, forks_counted }
    }

    /// Three groups of growing size under these rules.
    fn planned(forks: Forks) -> Plan {
        let mut plan = plan(&["a", "b"], &["Get"]);
        plan.groups = vec![
            group("x", &["a", "b"], &["Get"]),
            group("y", &["a", "b", "c"], &["Get"]),
            group("z", &["a", "b"], &["Get", "Post"]),
        ];
        plan.stop.forks = forks;
        plan
    }

    /// Takes steps until all is over; each fork takes `fork_s` seconds. `decides` says after which fork a group closes.
    fn steps(plan: &Plan, fork_s: u64, decides: impl Fn(&str, u32) -> bool) -> (Vec<String>, bool) {
        let mut schedule = ForkSchedule::new(plan, &plan.groups);
        let (mut steps, mut now) = (Vec::new(), Duration::ZERO);
        while let Some(step) = schedule.next_step(now) {
            match step {
                NextStep::LeaveOut { group, .. } => steps.push(format!("no {}", group.id)),
                NextStep::Fork { group, fork, .. } => {
                    steps.push(format!("{}{fork}", group.id));
                    now += s(fork_s);
                    let settled = decides(&group.id, fork);
                    let standing = if settled { GroupVerdicts::Settled } else { GroupVerdicts::Open };
                    schedule.note_step(&done(group, s(fork_s), standing, fork));
                }
            }
            assert!(steps.len() < 100, "the schedule does not end");
        }
        (steps, schedule.is_out_of_time)
    }

    #[test]
    fn a_group_with_a_verdict_waits_until_the_others_have_one_too() {
        let forks = Forks::UntilDecided { budget: Span(s(1_000)), at_least: 2, max_forks: Some(4) };
        for (order, expected) in [
            (GroupOrder::Listed, "x1 x2 y1 y2 y3 z1 z2 x3 x4 y4 z3 z4"),
            (GroupOrder::Even, "x1 y1 z1 x2 y2 z2 y3 x3 z3 x4 y4 z4"),
        ] {
            let mut plan = planned(forks);
            plan.stop.order = order;
            let mut schedule = ForkSchedule::new(&plan, &plan.groups);
            let mut steps = Vec::new();
            while let Some(NextStep::Fork { at, group, fork }) = schedule.next_step(s(0)) {
                steps.push(format!("{}{fork}", group.id));
                // The second group needs a fork more than the others for its verdict. None is ever narrow enough.
                let has_verdict = fork >= if group.id == "y" { 3 } else { 2 };
                let standing = if has_verdict { GroupVerdicts::Answered } else { GroupVerdicts::Open };
                schedule.note_step(&done(group, s(1), standing, fork));
                if fork == 4 {
                    schedule.close(at);
                }
            }
            assert_eq!(steps.join(" "), expected);
        }
    }

    #[test]
    fn a_listed_group_replaces_forks_that_were_set_aside_up_to_half_as_many_as_were_declared() {
        let forks = Forks::UntilDecided { budget: Span(s(1_000)), at_least: 2, max_forks: Some(4) };
        let mut plan = planned(forks);
        plan.stop.order = GroupOrder::Listed;
        plan.groups.truncate(2);
        for (set_aside, expected) in
            [(0, "x1 x2 x3 x4 y1 y2 y3 y4"), (1, "x1 x2 x3 x4 x5 y1 y2 y3 y4"), (9, "x1 x2 x3 x4 x5 x6 y1 y2 y3 y4")]
        {
            let mut schedule = ForkSchedule::new(&plan, &plan.groups);
            let mut steps = Vec::new();
            while let Some(NextStep::Fork { group, fork, .. }) = schedule.next_step(s(0)) {
                steps.push(format!("{}{fork}", group.id));
                // The first forks of the first group are set aside.
                let counted = if group.id == "x" { fork.saturating_sub(set_aside) } else { fork };
                schedule.note_step(&done(group, s(1), GroupVerdicts::Open, counted));
            }
            assert_eq!(steps.join(" "), expected, "{set_aside} set aside");
        }
    }

    #[test]
    fn groups_take_turns() {
        for (forks, decided, expected, out_of_time) in [
            (Forks::Fixed { count: 2 }, 1, "x1 y1 z1 x2 y2 z2", false),
            (until_decided(10_000, 1), 1, "x1 y1 z1", false),
            (until_decided(10_000, 2), 1, "x1 y1 z1 x2 y2 z2", false),
            (until_decided(10_000, 1), 2, "x1 y1 z1 x2 y2 z2", false),
            (until_decided(1, 1), 9, "x1 no y no z", true),
        ] {
            let (steps, is_out) = steps(&planned(forks), 40, |_, fork| fork >= decided);
            assert_eq!((steps.join(" ").as_str(), is_out), (expected, out_of_time), "{forks:?} {decided}");
        }
    }

    #[test]
    fn a_group_that_is_decided_makes_room_for_the_others() {
        let (steps, _) = steps(&planned(until_decided(400, 1)), 40, |id, _| id != "y");
        assert_eq!(steps[..4], ["x1", "y1", "z1", "y2"]);
        assert!(steps[4..].iter().all(|step| step.starts_with('y')));
    }

    #[test]
    fn the_time_left_covers_the_groups_that_go_on() {
        let plan = planned(Forks::Fixed { count: 2 });
        let mut schedule = ForkSchedule::new(&plan, &plan.groups);
        let of = |group: &Group| fork_time(&plan, group);
        let all: Duration = plan.groups.iter().map(|group| of(group) * 2).sum();
        assert_eq!((schedule.time_left(0, s(0)), schedule.fixed_forks()), (all, Some(2)));
        schedule.close(1);
        assert_eq!(schedule.time_left(0, s(0)), all - of(&plan.groups[1]) * 2);
        schedule.note_step(&done(&plan.groups[0], of(&plan.groups[0]), GroupVerdicts::Open, 1));
        let left = of(&plan.groups[0]) + of(&plan.groups[2]) * 2;
        assert!(schedule.time_left(0, s(0)).abs_diff(left) < Duration::from_micros(1));
        let plan = planned(until_decided(100, 1));
        let schedule = ForkSchedule::new(&plan, &plan.groups);
        assert_eq!((schedule.time_left(0, s(30)), schedule.fixed_forks()), (s(70), None));
        let last = fork_time(&plan, &plan.groups[0]);
        assert_eq!(schedule.time_left(0, s(99)), last, "a fork that begins is finished");
    }
}
