//! Forks of every group in turn, until each comparison is decided, the forks are done or the budget is spent.

use std::time::Duration;

use tare_plan::estimate::fork_time;
use tare_plan::plan::{Forks, Group, Role};
use tare_record::sample::{EndStatus, EventLevel, EventRecord, RunRecord};

use crate::budget::Budget;
use crate::error::RunError;
use crate::fork::Trial;
use crate::journal::Journal;
use crate::progress::{Place, Progress, Standing};

/// How the comparisons stand: made from the record by whoever knows the statistics of the report.
pub type Judge<'a> = dyn Fn(&RunRecord) -> Vec<Standing> + 'a;

/// Where one group stands.
struct Course<'a> {
    group: &'a Group,
    /// Of one fork.
    estimate: Duration,
    forks: u32,
    over: bool,
}

/// Runs the whole plan and says how it ended.
pub(crate) fn run<'a>(
    trial: &mut Trial<'a>,
    groups: &'a [Group],
    judge: &Judge<'_>,
    journal: &mut Journal<'_>,
) -> Result<EndStatus, RunError> {
    let plan = trial.yard.plan;
    let mut budget = Budget::new(plan.stop.forks);
    let mut courses = courses(trial, groups, journal)?;
    let mut out_of_time = false;
    // The group with the fewest forks goes next, so that the budget is shared evenly.
    while let Some(at) = (0..courses.len()).filter(|at| !courses[*at].over).min_by_key(|at| courses[*at].forks) {
        let Course { group, estimate, forks, .. } = courses[at];
        let elapsed = Duration::from_nanos(journal.elapsed_ns());
        let fork = forks + 1;
        if !budget.allows(fork, elapsed, estimate) {
            out_of_time |= matches!(plan.stop.forks, Forks::UntilDecided { .. });
            courses[at].over = true;
            if fork == 1 {
                leave_out(group, journal)?;
            }
            continue;
        }
        let place = Place {
            group: &group.id,
            fork,
            step: fork,
            of: starts(plan.stop.forks),
            left: left(&budget, &courses, elapsed),
        };
        trial.fork(group, &place, journal)?;
        if trial.cancel.is_cancelled() {
            return Ok(EndStatus::Interrupted);
        }
        courses[at].forks = fork;
        budget.note(estimate, Duration::from_nanos(journal.elapsed_ns()).saturating_sub(elapsed));
        let standings: Vec<Standing> =
            judge(journal.record()).into_iter().filter(|standing| standing.group == group.id).collect();
        journal.show(&Progress::Standing { place, standings: &standings });
        let may_stop = matches!(plan.stop.forks, Forks::UntilDecided { at_least, .. } if fork >= at_least);
        // A group without comparisons, one server alone, has nothing to decide: its first starts suffice.
        courses[at].over =
            may_stop && standings.iter().all(|standing| standing.decided) || hopeless(group, journal.record());
    }
    Ok(if out_of_time { EndStatus::BudgetSpent } else { EndStatus::Complete })
}

/// Every group at its beginning. One of which nothing could be weighed on this machine is over before it starts.
fn courses<'a>(trial: &Trial<'a>, groups: &'a [Group], journal: &mut Journal<'_>) -> Result<Vec<Course<'a>>, RunError> {
    let mut courses = Vec::new();
    for group in groups {
        let place = Place { group: &group.id, fork: 1, step: 1, of: None, left: Duration::ZERO };
        trial.yard.report_missing(&group.variants, &place, journal)?;
        let over = hopeless(group, journal.record());
        courses.push(Course { group, estimate: fork_time(trial.yard.plan, group), forks: 0, over });
    }
    Ok(courses)
}

fn starts(forks: Forks) -> Option<u32> {
    match forks {
        Forks::Fixed { count } => Some(count),
        Forks::UntilDecided { .. } => None,
    }
}

fn left(budget: &Budget, courses: &[Course<'_>], elapsed: Duration) -> Duration {
    budget.left(courses.iter().filter(|course| !course.over).map(|course| (course.forks, course.estimate)), elapsed)
}

/// Says of a group that its turn never came.
fn leave_out(group: &Group, journal: &mut Journal<'_>) -> Result<(), RunError> {
    let text = "the budget was spent before its first start".to_owned();
    let mut event = EventRecord::new(EventLevel::Warning, "not measured", text);
    event.voids = true;
    event.group = Some(group.id.clone());
    event.remedy = Some("Give it more time (--budget), or ask for less (-s, -m).".to_owned());
    journal.event(event)
}

/// Nothing can be learnt from more forks: the baseline, or everything that is weighed against it, is void.
fn hopeless(group: &Group, record: &RunRecord) -> bool {
    let void = |name: &str| {
        record.events.iter().any(|event| {
            event.voids && event.group.as_deref() == Some(&group.id) && event.variant.as_deref() == Some(name)
        })
    };
    let others: Vec<_> = group.variants.iter().filter(|variant| variant.role != Role::Baseline).collect();
    void(&group.baseline().name) || !others.is_empty() && others.iter().all(|variant| void(&variant.name))
}
