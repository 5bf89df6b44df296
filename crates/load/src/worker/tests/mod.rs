//! The loop in a simulated world, where every time is exact.

mod cancel;
mod clock_probe;
mod close;
mod connection_events;
mod events;
mod idle;
mod pace;
mod pipeline;
mod requests;
mod sending;
mod simulation;
mod spinning;
mod truth;
mod websocket;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tare_sample::{ErrorClass, ErrorTallies, SliceSample, TracedRequest};
use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::Token;
use tare_sys::socket::SocketOptions;

use self::simulation::{ANSWER, Listener, Reaction, Script, World, WorldClock, after, frozen_between};
use super::{Setup, Worker, WorkerSlice};
use crate::cancel::Cancel;
use crate::input::check::Check;
use crate::input::request::{RequestSet, RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::recorder::server_clock::ClockModel;
use crate::recorder::slice::SliceSpec;
use crate::schedule::stop_rule::StopRule;
use crate::schedule::{Schedule, Share, Stages};
use tare_sys::procfs::backlog::Backlog;

const MS: u64 = 1_000_000;
const TIMEOUT: Duration = Duration::from_secs(10);

fn worker(world: World) -> Worker<World, WorldClock> {
    one_of(1, world, Box::new(|| None))
}

/// A worker with this protocol, which sends these requests.
fn speaking(protocol: Protocol, requests: &Requests, world: World) -> Worker<World, WorldClock> {
    of_setup(Setup { protocol, ..setup(requests, 1) }, world, Box::new(|| None))
}

/// A worker with this protocol.
fn with_protocol(protocol: Protocol, world: World) -> Worker<World, WorldClock> {
    speaking(protocol, &expecting_ok(), world)
}

/// The first of `workers` workers.
fn one_of(workers: usize, world: World, backlog: Backlog) -> Worker<World, WorldClock> {
    of_setup(setup(&expecting_ok(), workers), world, backlog)
}

fn of_setup(setup: Setup, world: World, backlog: Backlog) -> Worker<World, WorldClock> {
    let clock = world.clock();
    Worker::new(world, clock, setup, backlog)
}

fn expecting_ok() -> Requests {
    RequestSpec::get("/").expecting(Check::body_is(*b"ok")).into()
}

fn setup(requests: &Requests, workers: usize) -> Setup {
    Setup {
        targets: Arc::from([SocketAddr::from((Ipv4Addr::LOCALHOST, 80)).into()]),
        options: SocketOptions::default(),
        security: None,
        protocol: Protocol::default(),
        base: "http://localhost".into(),
        requests: RequestSet::encode("localhost", requests).unwrap(),
        timeout: TIMEOUT,
        connect_timeout: Duration::from_secs(1),
        share: Share { worker: 0, workers },
        users: Vec::new(),
        failed_users: ErrorTallies::default(),
    }
}

#[test]
fn connections_are_spread_over_all_addresses_by_all_workers_together() {
    let address = |last: u8| SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 80)).into();
    let mut connections = [0; 3];
    for worker in 0..2 {
        let share = Share { worker, workers: 2 };
        let targets = Arc::from([address(1), address(2), address(3)]);
        let setup = Setup { targets, share, ..setup(&expecting_ok(), 2) };
        for token in 0..6 {
            let target = setup.target_of(Token(token));
            let place = setup.targets.iter().position(|other| other == target).unwrap();
            connections[place] += 1;
        }
    }
    assert_eq!(connections, [4, 4, 4]);
}

fn slice(schedule: Schedule, stop: StopRule) -> WorkerSlice {
    let spec = SliceSpec { drain_timeout: Duration::from_secs(5), ..SliceSpec::new(schedule, 1, stop) };
    WorkerSlice {
        spec,
        start: Nanos(100 * MS),
        server_clock: Some(ClockModel::default()),
        every: None,
        cancel: Cancel::new(),
    }
}

/// Opens this many connections, and runs a slice on them.
fn drive(mut worker: Worker<World, WorldClock>, connections: usize, slice: &WorkerSlice) -> SliceSample {
    worker.prepare(connections, &Cancel::new(), &mut |_| {}).unwrap();
    let sample = worker.run(slice, &mut |_| {}).unwrap();
    assert_eq!(sample.offered, sample.ok + sample.failed);
    sample
}

fn run(world: World, connections: usize, slice: &WorkerSlice) -> SliceSample {
    let sample = drive(worker(world), connections, slice);
    assert_eq!((sample.response.len(), sample.failed_time.len()), (sample.ok, sample.failed));
    sample
}

fn seconds(seconds: u64) -> StopRule {
    StopRule::Duration(Duration::from_secs(seconds))
}

fn constant(rate_per_s: f64) -> Schedule {
    Schedule::constant(rate_per_s)
}

/// Three digits of an HDR histogram.
fn assert_about(found: Option<u64>, expected: u64) {
    let found = found.expect("an empty histogram");
    assert!(found.abs_diff(expected) <= expected / 1000, "{found} instead of {expected}");
}

/// Frozen during the second second of the slice.
fn stalling() -> Script {
    frozen_between(Nanos(1100 * MS), Nanos(2100 * MS), Duration::from_millis(1))
}

#[test]
fn a_stall_shows_in_the_response_times_and_not_in_the_service_times_after_it() {
    let sample = run(World::new(stalling()), 4, &slice(constant(100.0), seconds(10)));
    assert_eq!((sample.offered, sample.ok), (1000, 1000));
    // A hundred requests should have left during the stall. They wait between 1 s and 10 ms, and their backlog delays
    // the next two.
    assert_about(sample.response.max_ns(), 1001 * MS);
    let late = sample.response.count_above_ns(5 * MS);
    assert_eq!(late, 102);
    // Only the four requests under way had a long service time.
    assert_eq!(sample.service.count_above_ns(5 * MS), 4);
    assert_about(sample.service.value_at_quantile_ns(0.99), MS);
    assert!((96..=99).contains(&sample.blocked), "{} were blocked", sample.blocked);
}

#[test]
fn users_of_a_closed_loop_come_one_after_the_other_and_go() {
    // Up to four users within four seconds, four users for a second, then one user for a second.
    let users = Stages::starting_at(0.0)
        .then(4.0, Duration::from_secs(4))
        .then(4.0, Duration::from_secs(1))
        .then(1.0, Duration::ZERO);
    let sample =
        run(World::new(after(Duration::from_millis(10))), 4, &slice(Schedule::ClosedStages { users }, seconds(6)));
    // Each user sends a hundred requests per second: the first for six seconds, the others for four, three and two.
    assert_eq!((sample.offered, sample.ok), (1500, 1500));
    assert_eq!(sample.send_lag.max_ns(), Some(0));
    assert_about(sample.response.max_ns(), 10 * MS);
}

#[test]
fn a_trace_holds_the_times_of_the_first_requests_and_of_no_others() {
    let mut slice = slice(constant(10.0), seconds(1));
    slice.spec.trace = 3;
    let sample = run(World::new(after(Duration::from_millis(2))), 1, &slice);
    let expected = [100, 200, 300].map(|millis: u64| TracedRequest {
        intended_ns: millis * MS,
        sent_ns: Some(millis * MS),
        ended_ns: (millis + 2) * MS,
        is_answered: true,
        was_blocked: false,
    });
    assert_eq!((sample.offered, sample.trace.as_slice()), (10, expected.as_slice()));
}

#[test]
fn a_closed_loop_does_not_see_how_many_a_stall_would_have_hit() {
    let sample = run(World::new(stalling()), 1, &slice(Schedule::Closed, seconds(10)));
    assert_eq!(sample.response.count_above_ns(5 * MS), 1);
    assert_eq!(sample.offered, 9000);
    assert_eq!(sample.blocked, 0);
}

#[test]
fn each_user_of_a_closed_loop_waits_for_its_answer() {
    let sample = run(World::new(after(Duration::from_millis(2))), 5, &slice(Schedule::Closed, seconds(1)));
    assert_eq!((sample.offered, sample.ok, sample.send_lag.max_ns()), (2500, 2500, Some(0)));
    // The last five answers arrive at the end, which is outside the window.
    assert_eq!((sample.completed, sample.completed_in_slice), (2495, 2500));
    assert_about(sample.response.max_ns(), 2 * MS);
}

#[test]
fn a_count_is_exact_and_ends_with_its_last_answer() {
    let stop = StopRule::Count { requests: 7, at_most: Duration::from_secs(9) };
    let world = World::new(after(Duration::from_millis(3)));
    let sent = world.requests_sent();
    let sample = run(world, 2, &slice(Schedule::Closed, stop));
    assert_eq!((sample.ok, sample.window_ns, sent.get()), (7, 12 * MS, 7));
}

#[test]
fn the_discarded_head_uses_up_no_count() {
    let requests = 7;
    let stop = StopRule::Count { requests, at_most: Duration::from_secs(9) };
    for schedule in [Schedule::Closed, constant(1000.0)] {
        let mut slice = slice(schedule, stop);
        slice.spec.discard_head = Duration::from_millis(300);
        let world = World::new(after(Duration::from_millis(3)));
        let sent = world.requests_sent();
        let sample = run(world, 2, &slice);
        assert_eq!((sample.offered, sample.ok), (requests, requests), "{:?}", slice.spec.schedule);
        assert!(sent.get() > 100 && sample.window_ns > 0, "{} were sent in {} ns", sent.get(), sample.window_ns);
    }
}

#[test]
fn a_count_against_a_silent_server_ends_nevertheless() {
    let stop = StopRule::Count { requests: 7, at_most: Duration::from_secs(1) };
    let sample = run(World::new(Box::new(|_| Reaction::Never)), 2, &slice(Schedule::Closed, stop));
    assert_eq!((sample.offered, sample.errors.for_class(ErrorClass::Timeout).count), (2, 2));
}

#[test]
fn the_discarded_head_belongs_to_no_number() {
    let mut slice = slice(constant(1000.0), seconds(1));
    slice.spec.discard_head = Duration::from_millis(400);
    let sample = run(World::new(after(Duration::from_micros(100))), 4, &slice);
    assert_eq!((sample.offered, sample.completed, sample.completed_in_slice), (600, 600, 1000));
    assert_eq!((sample.window_ns, sample.discarded_head_ns, sample.start_ns), (600 * MS, 400 * MS, 100 * MS));
    assert_eq!(sample.generator_cpu_ns, 60 * MS);
}

#[test]
fn what_is_answered_in_the_drain_counts_by_its_intended_start() {
    let sample = run(World::new(after(Duration::from_millis(700))), 1000, &slice(constant(1000.0), seconds(1)));
    assert_eq!((sample.offered, sample.ok, sample.completed), (1000, 1000, 300));
}

#[test]
fn timeout_is_recorded_at_its_deadline() {
    let mut slice = slice(Schedule::Closed, seconds(15));
    slice.spec.drain_timeout = Duration::from_secs(1);
    let sample = run(World::new(Box::new(|_| Reaction::Never)), 1, &slice);
    assert_eq!(sample.errors.for_class(ErrorClass::Timeout).count, 2);
    // One fails at its deadline of 10 s. The other, sent later, fails when the drain ends at 16 s.
    assert_about(sample.failed_time.max_ns(), 10_000 * MS);
    assert!(sample.response.is_empty());
    assert_eq!(sample.connections_lost, 2);
}

#[test]
fn waiting_requests_time_out_at_their_own_deadline() {
    let mut slice = slice(constant(10.0), seconds(30));
    slice.spec.drain_timeout = Duration::ZERO;
    let sample = run(World::new(Box::new(|_| Reaction::Never)), 1, &slice);
    assert_eq!((sample.offered, sample.failed), (300, 300));
    assert_eq!(sample.errors.for_class(ErrorClass::Timeout).count, 300);
    assert_about(sample.failed_time.max_ns(), 10_000 * MS);
}

#[test]
fn a_refusing_server_is_tried_ever_more_slowly() {
    let refusing = World::new(after(Duration::ZERO)).listening(Listener::Refuses);
    let sample = run(refusing, 1, &slice(Schedule::Closed, seconds(2)));
    let refused = sample.errors.for_class(ErrorClass::Connect).count;
    // It failed before the slice too, so its back-off continues: 2, 4, 8 … 128 ms, then 256 ms each time.
    assert_eq!((refused, sample.failed), (14, 14));
}

#[test]
fn a_reset_is_a_read_error_and_the_user_goes_on() {
    let mut count = 0;
    let sample = run(
        World::new(Box::new(move |arrival| {
            count += 1;
            let at = arrival + Duration::from_millis(1);
            if count % 10 == 0 { Reaction::Reset { at } } else { Reaction::Answer { at, bytes: ANSWER } }
        })),
        1,
        &slice(Schedule::Closed, StopRule::Count { requests: 100, at_most: Duration::from_secs(10) }),
    );
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Read).count), (90, 10));
    assert_eq!((sample.connections_lost, sample.connections_opened), (10, 10));
}

#[test]
fn two_answers_for_one_request_are_a_connection_event() {
    const TWICE: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let script: Script = Box::new(|arrival| Reaction::Answer { at: arrival + Duration::from_millis(1), bytes: TWICE });
    let sample = run(
        World::new(script),
        1,
        &slice(Schedule::Closed, StopRule::Count { requests: 3, at_most: Duration::from_secs(10) }),
    );
    assert_eq!((sample.ok, sample.failed), (3, 0));
    assert_eq!(sample.connection_events.for_class(ErrorClass::Protocol).count, 3);
}

#[test]
fn a_poisson_slice_offers_what_its_seed_says() {
    let schedule = Schedule::poisson(500.0);
    let expected = schedule.arrivals(1, Share { worker: 0, workers: 1 }).unwrap().take_while(|ns| *ns < 2_000 * MS);
    let expected = expected.count() as u64;
    let world = World::new(after(Duration::from_micros(50)));
    let clock = world.clock();
    let sample = run(world, 64, &slice(schedule, seconds(2)));
    assert_eq!((sample.offered, sample.blocked), (expected, 0));
    assert_eq!(sample.send_lag.max_ns(), Some(0), "the world's waits are exact");
    assert!(clock.now() >= Nanos(2_100 * MS));
}

#[test]
fn the_parts_of_a_slice_add_up_to_it() {
    for (schedule, discard_head) in [(Schedule::Closed, 0), (constant(1000.0), 0), (constant(1000.0), 700)] {
        let mut plain = slice(schedule.clone(), seconds(3));
        plain.spec.discard_head = Duration::from_millis(discard_head);
        let expected = run(World::new(stalling()), 4, &plain);
        let watched = WorkerSlice { every: Some(Duration::from_millis(250)), ..plain };
        let mut parts = Vec::new();
        let mut worker = worker(World::new(stalling()));
        worker.prepare(4, &Cancel::new(), &mut |_| {}).unwrap();
        let last = worker.run(&watched, &mut |part| parts.push(part)).unwrap();
        assert!(parts.len() >= 11, "{} parts in 3 s", parts.len());
        let mut sum = parts.remove(0);
        parts.iter().chain([&last]).for_each(|part| sum.append(part));
        let facts = |s: &SliceSample| (s.start_ns, s.window_ns, s.workers, s.offered, s.ok, s.completed, s.bytes_in);
        assert_eq!(facts(&sum), facts(&expected));
        assert_eq!(
            (&sum.response, &sum.service, &sum.send_lag),
            (&expected.response, &expected.service, &expected.send_lag)
        );
        assert_eq!(sum.generator_cpu_ns, expected.generator_cpu_ns);
    }
}
