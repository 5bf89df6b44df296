//! Forks of every group in turn, until each comparison is decided, the forks are done or the budget is spent.

use std::time::Duration;

use tare_plan::estimate::fork_time;
use tare_plan::plan::{Forks, Group, Role};
use tare_record::sample::{EndStatus, RunRecord};

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
    budget: Budget,
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
    let mut courses: Vec<Course<'a>> = groups
        .iter()
        .map(|group| Course { group, budget: Budget::new(plan.stop.forks), forks: 0, over: false })
        .collect();
    let mut out_of_time = false;
    loop {
        let open = courses.iter().filter(|course| !course.over).count() as u32;
        // The group with the fewest forks goes next, so that the budget is shared evenly.
        let Some(course) = courses.iter_mut().filter(|course| !course.over).min_by_key(|course| course.forks) else {
            break;
        };
        let estimate = fork_time(plan, course.group);
        let elapsed = Duration::from_nanos(journal.elapsed_ns());
        let fork = course.forks + 1;
        if !course.budget.allows(fork, elapsed, estimate) {
            out_of_time |= matches!(plan.stop.forks, Forks::UntilDecided { .. });
            course.over = true;
            continue;
        }
        let of = match plan.stop.forks {
            Forks::Fixed { count } => Some(count),
            Forks::UntilDecided { .. } => None,
        };
        let place = Place {
            group: &course.group.id,
            fork,
            step: fork,
            of,
            left: course.budget.left(course.forks, open, elapsed, estimate),
        };
        trial.fork(course.group, &place, journal)?;
        if trial.cancel.is_cancelled() {
            return Ok(EndStatus::Interrupted);
        }
        course.forks = fork;
        course.budget.note(Duration::from_nanos(journal.elapsed_ns()).saturating_sub(elapsed));
        let standings: Vec<Standing> =
            judge(journal.record()).into_iter().filter(|standing| standing.group == course.group.id).collect();
        journal.show(&Progress::Standing { place, standings: &standings });
        let may_stop = matches!(plan.stop.forks, Forks::UntilDecided { at_least, .. } if fork >= at_least);
        // A group without comparisons, one server alone, has nothing to decide: its first starts suffice.
        course.over =
            may_stop && standings.iter().all(|standing| standing.decided) || hopeless(course.group, journal.record());
    }
    Ok(if out_of_time { EndStatus::BudgetSpent } else { EndStatus::Complete })
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
