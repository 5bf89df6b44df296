//! A small run to write: one group, one scenario, two variants.

use std::collections::BTreeMap;

use tare_plan::Engine;
use tare_plan::ServerClock;
use tare_plan::plan::{Forks, Load, Machine, Plan, Rate, SliceKind, Slices, Stop, Warmup};
use tare_plan::profile::ProfileEvent;
use tare_plan::turn::TurnLength;
use tare_record::cross_check::{CrossCheckOutcome, CrossCheckRecord, ToolFigures};
use tare_record::profile::{PackedText, ProfileRecord, Weight};
use tare_record::{
    ClockEstimate, ErrorClass, ErrorTally, EventKind, EventLevel, EventRecord, ForkRecord, Hiccups, LatencyParts,
    MessageTally, PackedHistogram, Pause, PauseCause, Phase, RunHeader, RuntimeUse, ServerCpu, ServerUse, SliceKey,
    SliceSample, StoredSlice, WarmupRecord,
};
use tare_stats::histogram::LatencyHistogram;
use tare_units::Span;

pub fn header(id: &str) -> RunHeader {
    let plan = Plan {
        suite: "quick".to_owned(),
        question: "What does Tapir cost?".to_owned(),
        load: Load {
            users: 8,
            rate: Rate::OfCapacity { share: 0.5 },
            timeout: Span::from_secs(10),
            congestion: "default".to_owned(),
            spin: true,
            server_clock: ServerClock::Estimate,
        },
        warmup: Warmup::UntilSteady { cap: Span::from_secs(30), first_cap: Span::from_secs(30), all_cpus: true },
        slices: Slices {
            length: Span::from_millis(500),
            discard: Span::from_millis(50),
            saturating: 4,
            fixed: 4,
            latency: Span::from_secs(4),
            push: 1,
            turn: TurnLength::Auto,
        },
        stop: Stop {
            forks: Forks::UntilDecided { budget: Span::from_secs(60), at_least: 5, max_forks: None },
            region: 0.02,
            alpha: 0.01,
            floor: 0.005,
            ..Stop::default()
        },
        machine: Machine {
            server_cpus: "0".to_owned(),
            load_cpus: "1".to_owned(),
            jvm_cpus: 2,
            java: "newest".to_owned(),
            startup_timeout: Span::from_secs(30),
            stop_grace: Span::from_secs(5),
            ..Machine::default()
        },
        seed: 7,
        ..Plan::default()
    };
    RunHeader {
        id: id.to_owned(),
        started_unix_ns: 1_795_000_000_000_000_000,
        command: vec!["tare".to_owned(), "run".to_owned()],
        tare_version: "0.1.0".to_owned(),
        git_revision: None,
        plan_hash: plan.hash(),
        plan,
        environment: tare_record::environment::Environment::default(),
    }
}

pub fn slice(round: u32) -> StoredSlice {
    StoredSlice::new(key(round), load(round), server())
}

fn key(round: u32) -> SliceKey {
    SliceKey {
        fork: 1,
        group: "g".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: "http4s.Tapir".to_owned(),
        phase: Phase::Measure,
        kind: SliceKind::Poisson,
        round,
        users: 8,
        offered_per_s: Some(1_000.0),
    }
}

fn load(round: u32) -> SliceSample {
    let mut response = LatencyHistogram::new();
    (1..=500).for_each(|i| response.record_ns(i * 10_000 + u64::from(round)));
    let mut jitter = LatencyHistogram::new();
    jitter.record_ns(300_000);
    let mut failed_time = LatencyHistogram::new();
    (0..2).for_each(|_| failed_time.record_ns(300_000));
    let timeouts = ErrorTally { count: 2, example: "after 10 s".to_owned() };
    SliceSample {
        start_ns: u64::from(round) * 500_000_000,
        window_ns: 450_000_000,
        workers: 1,
        offered: 502,
        completed: 499,
        completed_in_slice: 499,
        ok: 500,
        failed: 2,
        bytes_in: 65_000,
        bytes_out: 32_000,
        blocked: 3,
        blocked_ns: 4_000,
        connections_opened: 8,
        connections_lost: 1,
        tls_handshakes: 8,
        tls_resumed: 7,
        generator_cpu_ns: 90_000_000,
        generator_spin_ns: 40_000_000,
        errors: [(ErrorClass::Timeout, timeouts)].into_iter().collect(),
        messages: MessageTally {
            received: 500,
            missing: 1,
            clock_within_ns: 90,
            clock: Some(ClockEstimate { offset_ns: Some(-7), messages: 40, ..ClockEstimate::default() }),
            ..MessageTally::default()
        },
        service: response.clone(),
        stamp_lag: response.clone(),
        response,
        failed_time,
        jitter,
        ..SliceSample::default()
    }
}

fn server() -> ServerUse {
    let of = |ns: u64| {
        let mut histogram = LatencyHistogram::new();
        histogram.record_ns(ns);
        PackedHistogram::from(&histogram)
    };
    let by_pool = BTreeMap::from([("io-compute".to_owned(), 300_000_000)]);
    ServerUse {
        cpu: Some(ServerCpu {
            wall_ns: 460_000_000,
            total_ns: 300_000_000,
            by_kind: BTreeMap::from([("application".to_owned(), 300_000_000)]),
            by_pool: BTreeMap::from([("application".to_owned(), by_pool)]),
            probing_ns: Some(400_000),
            requests: 502,
            ..ServerCpu::default()
        }),
        rss_bytes: Some(80_000_000),
        rss_peak_bytes: None,
        runtime: Some(RuntimeUse {
            collections: Some(1),
            collecting_ns: Some(2_000_000),
            safepoint_ns: Some(0),
            requests: 502,
            ..RuntimeUse::default()
        }),
        hiccups: Some(Hiccups {
            machine: PackedHistogram::default(),
            jvm: Some(of(50_000_000)),
            pauses: vec![Pause { at_ns: 7, length_ns: 50_000_000, cause: PauseCause::Collection }],
        }),
        others_share: Some(0.02),
        parts: Some(LatencyParts {
            met_stop: of(13_000_000),
            met_stall: PackedHistogram::default(),
            met_none: of(70_000),
        }),
        ..ServerUse::default()
    }
}

pub fn profile() -> ProfileRecord {
    ProfileRecord {
        fork: 1,
        group: "g".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: "http4s.Tapir".to_owned(),
        event: ProfileEvent::Cpu,
        sampler: "async-profiler".to_owned(),
        span_ns: 5,
        offered_per_s: 1000.0,
        requests: 5,
        cpu_ns: Some(100),
        file: Some("a.jfr".to_owned()),
        weight: Weight::Samples { every_ns: 1_000_000 },
        stacks: PackedText::pack("a;b 5\n"),
    }
}

pub fn fork() -> ForkRecord {
    ForkRecord {
        fork: 1,
        group: "g".to_owned(),
        variant: "http4s.Tapir".to_owned(),
        command: vec!["java".to_owned()],
        startup_ns: 900_000_000,
        resolved: BTreeMap::new(),
        rest_cpu_share: Some(0.001),
        end: "stopped".to_owned(),
        healthy: true,
    }
}

pub fn warmup() -> WarmupRecord {
    WarmupRecord {
        fork: 1,
        group: "g".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: "http4s.Tapir".to_owned(),
        span_ns: 12_000_000_000,
        steady: false,
        reason: "the JIT takes 3 % of CPU".to_owned(),
    }
}

pub fn cross_check() -> CrossCheckRecord {
    let figures = ToolFigures {
        window_ns: 2_000_000_000,
        ok: 1_000,
        failed: 1,
        mean_ns: 812_500.0,
        max_ns: 9_000_000,
        percentiles: vec![(50.0, 700_000), (99.0, 8_500_000)],
        resolution_ns: 1_000,
    };
    CrossCheckRecord {
        engine: Engine::Wrk,
        version: "4.1.0".to_owned(),
        fork: 1,
        group: "g".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: "http4s.Tapir".to_owned(),
        command: vec!["wrk".to_owned()],
        users: 8,
        outcome: CrossCheckOutcome::Measured(figures),
        output: "Running 2s test".to_owned(),
    }
}

pub fn event() -> EventRecord {
    EventRecord {
        at_ns: 5,
        kind: EventKind::Other,
        level: EventLevel::Error,
        voids: true,
        group: Some("g".to_owned()),
        variant: Some("http4s.Tapir".to_owned()),
        scenario: None,
        fork: Some(1),
        title: "http4s.Tapir died".to_owned(),
        text: "exited with code 1".to_owned(),
        remedy: None,
        log: Some("<script>alert(1)</script>\n\u{0}".to_owned()),
    }
}
