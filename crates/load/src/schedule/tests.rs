//! Schedules as tables, and properties of all schedules.

use std::time::Duration;

use proptest::prelude::*;

#[path = "../../../../bench/rust/src/bin/truth/exponential.rs"]
mod exponential;

use self::exponential::{ExpectedMean, ExponentialFit};
use super::{ActiveUsers, Arrivals, Schedule, Share, Stages};

const ALONE: Share = Share { worker: 0, workers: 1 };
const MS: u64 = 1_000_000;

fn starts(schedule: &Schedule, seed: u64, share: Share, count: usize) -> Vec<u64> {
    schedule.arrivals(seed, share).unwrap().take(count).collect()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn even(rate_per_s: &Stages) -> Schedule {
    Schedule::Open { rate_per_s: rate_per_s.clone(), arrivals: Arrivals::Even }
}

fn of_all_workers(schedule: &Schedule, workers: usize, count: usize) -> Vec<u64> {
    let part = |worker| starts(schedule, 3, Share { worker, workers }, count);
    let mut together: Vec<u64> = (0..workers).flat_map(part).collect();
    together.sort_unstable();
    together
}

#[test]
fn constant_starts_are_a_table() {
    for (rate_per_s, expected) in [
        (1.0, [0, 1_000_000_000, 2_000_000_000]),
        (1000.0, [0, 1_000_000, 2_000_000]),
        (3.0, [0, 333_333_333, 666_666_666]),
        (1e9, [0, 1, 2]),
    ] {
        assert_eq!(starts(&Schedule::constant(rate_per_s), 0, ALONE, 3), expected, "{rate_per_s}/s");
    }
}

#[test]
fn staged_starts_are_a_table() {
    let ramp = || Stages::starting_at(0.0).then(2.0, seconds(2));
    for (what, rate_per_s, expected_ms) in [
        // A rate of t/s has added up to t²/2: one more at √2 s, and from 2 s on two in a second.
        ("up and on", ramp(), vec![0, 1414, 2000, 2500, 3000]),
        // Down from 2/s to 0 in 2 s: request n leaves at 2 − √(4 − 2n), and then none follow.
        ("down to nothing", Stages::starting_at(2.0).then(0.0, seconds(2)), vec![0, 585]),
        (
            "a pause",
            Stages::starting_at(2.0)
                .then(2.0, seconds(1))
                .then(0.0, Duration::ZERO)
                .then(0.0, seconds(5))
                .then(1.0, Duration::ZERO)
                .then(1.0, seconds(2))
                .then(0.0, Duration::ZERO),
            vec![0, 500, 6000, 7000],
        ),
        (
            "a jump",
            Stages::starting_at(1.0).then(1.0, seconds(2)).then(4.0, Duration::ZERO),
            vec![0, 1000, 2000, 2250, 2500],
        ),
    ] {
        let found: Vec<u64> = starts(&even(&rate_per_s), 0, ALONE, 5).iter().map(|ns| ns / MS).collect();
        assert_eq!(found, expected_ms, "{what}");
    }
}

/// The level at this moment; at a jump, the later value.
fn level_at(stages: &Stages, at_ns: u64) -> f64 {
    let at_ns = at_ns as f64;
    let segments = stages.segments();
    let segment = segments.iter().find(|segment| at_ns < segment.begins_ns + segment.length_ns).unwrap();
    segment.from + (segment.to - segment.from) * (at_ns - segment.begins_ns) / segment.length_ns
}

#[test]
fn users_come_and_go_by_the_table() {
    let users = Stages::starting_at(0.0).then(4.0, seconds(4)).then(4.0, seconds(2)).then(1.0, Duration::ZERO);
    let active_users = ActiveUsers::of(&users, ALONE);
    for (user, ready_s, joins_s) in [
        (0, 0, Some(0)),
        (1, 0, Some(1)),
        (3, 0, Some(3)),
        (3, 2, Some(3)),
        (3, 5, Some(5)),
        (3, 6, None),
        (4, 0, None),
        (0, 99, Some(99)),
    ] {
        let found = active_users.active_from_ns(user, ready_s * 1000 * MS);
        assert_eq!(found, joins_s.map(|joins_s: u64| joins_s * 1000 * MS), "user {user}, ready at {ready_s} s");
    }
}

#[test]
fn rounding_does_not_add_up() {
    let schedule = Schedule::constant(3.0);
    assert_eq!(schedule.arrivals(0, ALONE).unwrap().nth(3_000_000), Some(1_000_000_000_000_000));
    // A ramp of an hour, then an hour at its end rate: the millionth request after the ramp leaves as without the ramp.
    let ramp = even(&Stages::starting_at(0.0).then(1000.0, seconds(3600)));
    let in_the_ramp = 1_800_000;
    assert_eq!(ramp.arrivals(0, ALONE).unwrap().nth(in_the_ramp), Some(3600 * 1000 * MS));
    assert_eq!(ramp.arrivals(0, ALONE).unwrap().nth(in_the_ramp + 1_000_000), Some(4600 * 1000 * MS));
}

#[test]
fn closed_has_no_starts_of_its_own() {
    assert!(Schedule::Closed.arrivals(0, ALONE).is_none());
    assert_eq!(Schedule::Closed.rate_per_s(), None);
}

#[test]
fn a_seed_names_one_poisson_schedule() {
    let schedule = Schedule::poisson(500.0);
    assert_eq!(starts(&schedule, 7, ALONE, 50), starts(&schedule, 7, ALONE, 50));
    assert_ne!(starts(&schedule, 7, ALONE, 50), starts(&schedule, 8, ALONE, 50));
    let [one, other] = [0, 1].map(|worker| Share { worker, workers: 2 });
    // The seeds of a run differ by the number of the fork, from the 32nd bit on.
    for seed in [7, 7 ^ (1 << 32)] {
        assert_ne!(starts(&schedule, seed, one, 50), starts(&schedule, 7, other, 50));
    }
}

#[test]
fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
    let count = 200_000;
    let starts = starts(&Schedule::poisson(1000.0), 42, ALONE, count);
    let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    // Five standard errors of each estimate.
    let tolerance = 5.0 / (count as f64).sqrt();
    assert!((mean / 1e6 - 1.0).abs() < tolerance, "mean {mean}");
    assert!((variance.sqrt() / 1e6 - 1.0).abs() < 2.0 * tolerance, "sd {}", variance.sqrt());
}

#[test]
fn poisson_gaps_are_exponential_by_the_test_of_anderson_and_darling() {
    // At the 1 % level, two of two hundred schedules are rejected by chance, and more than eight almost never.
    let is_rejected = |seed: &u64| {
        let starts = starts(&Schedule::poisson(500.0), *seed, ALONE, 2500);
        let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        ExponentialFit::from_gaps(&gaps, ExpectedMean::Known(2e6)).is_rejected()
    };
    let rejected: Vec<u64> = (0..200).filter(is_rejected).collect();
    assert!(rejected.len() < 8, "{rejected:?}");
}

/// The workers of all agents; each agent has as many as stand in the list.
fn workers_of_agents(workers: &[usize]) -> Vec<(usize, Share)> {
    let agents = workers.len();
    let of_agent = |(agent, workers): (usize, &usize)| -> Vec<(usize, Share)> {
        let share = Share { worker: agent, workers: agents };
        (0..*workers).map(|worker| (agent, share.of_worker(worker, *workers))).collect()
    };
    workers.iter().enumerate().flat_map(of_agent).collect()
}

#[test]
fn agents_with_different_numbers_of_workers_make_the_whole_schedule_and_equal_parts_of_it() {
    let schedule = Schedule::constant(1000.0);
    let until =
        |share: Share| -> Vec<u64> { schedule.arrivals(3, share).unwrap().take_while(|ns| *ns < 200 * MS).collect() };
    for workers in [&[1][..], &[1, 1, 1], &[2, 1, 4], &[3; 16]] {
        let all = workers_of_agents(workers);
        let mut together: Vec<u64> = all.iter().flat_map(|(_, share)| until(*share)).collect();
        together.sort_unstable();
        assert_eq!(together, until(ALONE), "{workers:?}");
        for count in [0, 1, 7, 1000, u64::MAX] {
            let of_agent = |agent: usize| -> u64 {
                let mine = all.iter().filter(|(other, _)| *other == agent);
                mine.map(|(_, share)| share.part_of(count)).sum()
            };
            let agents = workers.len();
            let parts: Vec<u64> = (0..agents).map(of_agent).collect();
            let expected: Vec<u64> =
                (0..agents).map(|worker| Share { worker, workers: agents }.part_of(count)).collect();
            assert_eq!((&parts, parts.iter().sum::<u64>()), (&expected, count), "{workers:?}");
        }
    }
}

#[test]
fn poisson_arrivals_of_sixteen_agents_have_exponential_gaps() {
    let is_rejected = |seed: &u64| {
        let schedule = Schedule::poisson(8_000.0);
        let of_worker = |(_, share): &(usize, Share)| starts(&schedule, *seed, *share, 160);
        let all: Vec<u64> = workers_of_agents(&[1, 2].repeat(8)).iter().flat_map(of_worker).collect();
        let mut all: Vec<u64> = all.into_iter().filter(|ns| *ns < 200 * MS).collect();
        all.sort_unstable();
        let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        ExponentialFit::from_gaps(&gaps, ExpectedMean::Known(125_000.0)).is_rejected()
    };
    let rejected: Vec<u64> = (0..100).filter(is_rejected).collect();
    assert!(rejected.len() < 6, "{rejected:?}");
}

#[test]
fn a_poisson_ramp_offers_in_each_part_what_its_rate_adds_up_to() {
    // Up to 2000/s in 10 s, constant for 10 s, down to 500/s in 10 s.
    let rate_per_s =
        Stages::starting_at(0.0).then(2000.0, seconds(10)).then(2000.0, seconds(10)).then(500.0, seconds(10));
    let schedule = Schedule::Open { rate_per_s, arrivals: Arrivals::Poisson };
    let starts: Vec<u64> = schedule.arrivals(9, ALONE).unwrap().take_while(|ns| *ns < 30_000 * MS).collect();
    for (from_s, until_s, expected) in
        [(0, 5, 2_500.0), (5, 10, 7_500.0), (10, 20, 20_000.0), (20, 25, 8_125.0), (25, 30, 4_375.0_f64)]
    {
        let found = starts.iter().filter(|ns| (from_s * 1000 * MS..until_s * 1000 * MS).contains(*ns)).count() as f64;
        assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{found} from {from_s} s to {until_s} s");
    }
}

/// Up to five stages, some of them jumps, some at rate 0.
fn stages() -> impl Strategy<Value = Stages> {
    let level = || prop_oneof![Just(0.0), 0.5..2000.0];
    let over = prop_oneof![Just(Duration::ZERO), (1u64..20_000).prop_map(Duration::from_millis)];
    let stage = (level(), over);
    (level(), proptest::collection::vec(stage, 0..5)).prop_map(|(from, stages)| {
        stages.into_iter().fold(Stages::starting_at(from), |so_far, (to, over)| so_far.then(to, over))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn workers_parts_add_up_to_the_whole(rate_per_s in stages(), workers in 1usize..6) {
        let count = 60;
        let whole = starts(&even(&rate_per_s), 3, ALONE, count * workers);
        prop_assert_eq!(of_all_workers(&even(&rate_per_s), workers, count), whole);
    }

    #[test]
    fn as_many_users_take_part_as_the_level_says(users in stages(), workers in 1usize..6, at_ms in 0u64..60_000) {
        let at_ns = at_ms * MS;
        let takes_part = |worker: usize| {
            let active_users = ActiveUsers::of(&users, Share { worker, workers });
            (0..2001 / workers + 1).filter(|user| active_users.active_from_ns(*user, at_ns) == Some(at_ns)).count()
        };
        let found: usize = (0..workers).map(takes_part).sum();
        let level = level_at(&users, at_ns);
        prop_assert!((found as f64 - level.ceil()).abs() <= 1.0, "{} for {}", found, level);
    }

    #[test]
    fn starts_ascend_and_none_falls_where_the_rate_is_zero(rate_per_s in stages(), random in any::<bool>()) {
        let arrivals = if random { Arrivals::Poisson } else { Arrivals::Even };
        let found = starts(&Schedule::Open { rate_per_s: rate_per_s.clone(), arrivals }, 5, ALONE, 500);
        prop_assert!(found.is_sorted());
        for start in found {
            // A start is truncated to the nanosecond, so it may be just before the moment at which the rate rises.
            let level = level_at(&rate_per_s, start + 1);
            prop_assert!(level > 0.0, "a start at {} ns", start);
        }
    }

    #[test]
    fn as_many_start_by_any_moment_as_the_rate_has_added_up_to(rate_per_s in stages(), until_ms in 1u64..60_000) {
        let until = Duration::from_millis(until_ms);
        // An oracle without inversion: adds up the trapezium of every stage that began before the moment.
        let sum: f64 = rate_per_s.segments().iter().map(|segment| {
            let begins = Duration::from_nanos(segment.begins_ns as u64).min(until);
            let ends = if segment.length_ns.is_finite() {
                (begins + Duration::from_nanos(segment.length_ns as u64)).min(until)
            } else {
                until
            };
            let share = (ends - begins).as_secs_f64() * 1e9 / segment.length_ns;
            let level = segment.from + (segment.to - segment.from) * share;
            (segment.from + level) / 2.0 * (ends - begins).as_secs_f64()
        }).filter(|part| part.is_finite()).sum();
        let until_ns = until_ms * MS;
        let found = even(&rate_per_s).arrivals(0, ALONE).unwrap().take_while(|ns| *ns < until_ns).count() as f64;
        prop_assert!((found - sum.ceil()).abs() <= 1.0 && (found - sum).abs() <= 1.0 + 1e-6, "{} for {}", found, sum);
    }
}
