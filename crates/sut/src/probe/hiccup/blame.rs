//! Which delays are pauses, and the cause of each: the machine, the JVM's collector, another safepoint, or a stop of
//! this process alone.

use tare_record::{Pause, PauseCause, RuntimeUse};
use tare_sys::clock::Nanos;

use super::Delay;

/// Shorter delays are normal for a scheduler.
const PAUSE_NS: u64 = 5_000_000;
/// Largest number of pauses reported per slice, the longest first.
const MOST: usize = 100;

/// The pauses of both meters, exact to an interval of the meter, in order of time since `origin`. A cause must explain
/// half of a pause: first the machine, where the outside meter paused too; then the JVM's collections and safepoints
/// (`used`), as far as their time lasts, the longest pause first.
pub fn blame_pauses(machine: &[Delay], jvm: &[Delay], used: Option<&RuntimeUse>, origin: Nanos) -> Vec<Pause> {
    let outside = find_pauses(machine);
    let mut inside = find_pauses(jvm);
    inside.sort_by_key(|pause| std::cmp::Reverse(pause.late_ns));
    let mut collecting = used.and_then(|used| used.collecting_ns).unwrap_or(0);
    let mut stopping = used.and_then(|used| used.safepoint_ns).unwrap_or(0).saturating_sub(collecting);
    let with_cause = |pause: &Delay, cause| Pause { at_ns: pause.due.since(origin), length_ns: pause.late_ns, cause };
    let mut all: Vec<Pause> = inside
        .iter()
        .map(|pause| {
            let shared_ns: u64 = outside.iter().map(|other| overlap_ns(*pause, *other)).sum();
            let cause = if shared_ns * 2 >= pause.late_ns {
                PauseCause::Machine
            } else if take_if_half_covered(&mut collecting, pause.late_ns) {
                PauseCause::Collection
            } else if take_if_half_covered(&mut stopping, pause.late_ns) {
                PauseCause::Safepoint
            } else {
                PauseCause::Process
            };
            with_cause(pause, cause)
        })
        .collect();
    let is_listed = |pause: &&Delay| inside.iter().any(|inside| overlap_ns(*inside, **pause) > 0);
    all.extend(outside.iter().filter(|pause| !is_listed(pause)).map(|pause| with_cause(pause, PauseCause::Machine)));
    all.sort_by_key(|pause| std::cmp::Reverse(pause.length_ns));
    all.truncate(MOST);
    all.sort_by_key(|pause| pause.at_ns);
    all
}

/// The first delay of each pause. Later ones within the pause are its consequence.
fn find_pauses(delays: &[Delay]) -> Vec<Delay> {
    let mut found: Vec<Delay> = Vec::new();
    for delay in delays.iter().filter(|delay| delay.late_ns >= PAUSE_NS) {
        if found.last().is_none_or(|last| delay.due >= last.woken_at()) {
            found.push(*delay);
        }
    }
    found
}

fn overlap_ns(one: Delay, other: Delay) -> u64 {
    one.woken_at().min(other.woken_at()).since(one.due.max(other.due))
}

/// Whether a cause's remaining time covers half of a pause. If so, the pause is subtracted from it.
fn take_if_half_covered(left_ns: &mut u64, pause_ns: u64) -> bool {
    let covers = *left_ns * 2 >= pause_ns;
    if covers {
        *left_ns = left_ns.saturating_sub(pause_ns);
    }
    covers
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A meter's delays for a pause: each deadline in it is late by the rest of the pause.
    fn stall(begin_ms: u64, length_ms: u64) -> Vec<Delay> {
        (0..length_ms).map(|i| Delay { due: Nanos((begin_ms + i) * MS), late_ns: (length_ms - i) * MS }).collect()
    }

    fn blame(machine: &[Delay], jvm: &[Delay], collecting_ms: u64, safepoint_ms: u64) -> Vec<(u64, u64, PauseCause)> {
        let (collecting, safepoint) = (Some(collecting_ms * MS), Some(safepoint_ms * MS));
        let used = RuntimeUse { collecting_ns: collecting, safepoint_ns: safepoint, ..RuntimeUse::default() };
        let all = blame_pauses(machine, jvm, Some(&used), Nanos::ZERO);
        all.iter().map(|pause| (pause.at_ns / MS, pause.length_ns / MS, pause.cause)).collect()
    }

    #[test]
    fn a_pause_is_blamed_on_what_accounts_for_it() {
        let pause = stall(100, 50);
        for (machine, collecting, safepoint, cause) in [
            (stall(99, 51), 50, 50, PauseCause::Machine),
            (stall(100, 10), 0, 0, PauseCause::Process),
            (vec![], 49, 50, PauseCause::Collection),
            (vec![], 3, 53, PauseCause::Safepoint),
            (vec![], 3, 4, PauseCause::Process),
        ] {
            assert_eq!(blame(&machine, &pause, collecting, safepoint), [(100, 50, cause)]);
        }
    }

    #[test]
    fn time_that_explains_one_pause_does_not_explain_another() {
        let two = [stall(100, 20), stall(300, 50)].concat();
        let expected = [(100, 20, PauseCause::Process), (300, 50, PauseCause::Collection)];
        assert_eq!(blame(&[], &two, 50, 50), expected);
    }

    #[test]
    fn a_pause_of_the_outside_meter_alone_is_the_machines() {
        assert_eq!(blame(&stall(5, 7), &[], 100, 100), [(5, 7, PauseCause::Machine)]);
        assert_eq!(blame(&stall(5, 4), &stall(50, 4), 100, 100), [], "too short to be a pause");
    }

    #[test]
    fn only_the_longest_of_many_pauses_are_returned() {
        let many: Vec<Delay> = (0..200).flat_map(|i| stall(i * 100, 5 + i % 40)).collect();
        let all = blame(&[], &many, 0, 0);
        assert_eq!(all.len(), MOST);
        assert!(all.iter().all(|(_, length, _)| *length >= 24) && all.is_sorted());
    }
}
