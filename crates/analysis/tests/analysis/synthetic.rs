//! Synthetic runs: records as a real run would leave them, from a seed and a few planted truths.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use tare_analysis::{Summary, summarize};
use tare_plan::Currency;
use tare_plan::contract::{Expect, Request, Scenario};
use tare_plan::earlier::{EarlierForks, EarlierSpread, SpreadOf};
use tare_plan::plan::{
    Forks, Group, Load, Machine, Mode, NamedScenario, Plan, Program, Rate, Role, Setting, SliceKind, Slices, Source,
    Stop, Variant, Warmup,
};
use tare_plan::turn::TurnLength;
use tare_record::environment::{Environment, FactSection};
use tare_record::{
    CollectorUse, EndStatus, ForkRecord, Hiccups, Pause, PauseCause, Phase, RunHeader, RunRecord, RuntimeUse,
    ServerCpu, ServerUse, SliceKey, SliceSample, StoredSlice, WarmupRecord,
};
use tare_stats::VariancePrior;
use tare_stats::histogram::LatencyHistogram;
use tare_units::Span;

/// Throughput of the baseline.
const BASE_PER_S: f64 = 20_000.0;
const WINDOW_NS: u64 = 450_000_000;

/// What a synthetic server is planted to do, relative to the baseline.
#[derive(Clone)]
pub struct Truth {
    pub name: &'static str,
    pub role: Role,
    /// Throughput relative to the baseline's; CPU per request is its inverse.
    pub speed: f64,
    /// Standard deviation of forks' log-speeds.
    pub fork_sd: f64,
}

pub fn baseline() -> Truth {
    Truth { name: "http4s.Vanilla", role: Role::Baseline, speed: 1.0, fork_sd: 0.004 }
}

pub fn variant(name: &'static str, speed: f64) -> Truth {
    Truth { name, role: Role::Compared, speed, fork_sd: 0.004 }
}

pub fn control() -> Truth {
    Truth { name: "http4s.Vanilla (again)", role: Role::Control, speed: 1.0, fork_sd: 0.004 }
}

pub const ALL_KINDS: [SliceKind; 3] = [SliceKind::Saturating, SliceKind::Fixed, SliceKind::Poisson];

/// A baseline, a server that is 5 % slower, and the control, in 8 forks; made once.
pub fn standard() -> RunRecord {
    static STANDARD: OnceLock<RunRecord> = OnceLock::new();
    let make = || run(&[baseline(), variant("http4s.Tapir", 0.95), control()], 8, &ALL_KINDS);
    STANDARD.get_or_init(make).clone()
}

/// What [`standard`] comes to; made once.
pub fn standard_summary() -> Summary {
    static SUMMARY: OnceLock<Summary> = OnceLock::new();
    SUMMARY.get_or_init(|| summarize(&standard())).clone()
}

/// A whole record of one group and one scenario.
pub fn run(truths: &[Truth], forks: u32, kinds: &[SliceKind]) -> RunRecord {
    let mut record = RunRecord::begin(header(plan(truths)));
    record.end = Some((EndStatus::Complete, u64::from(forks) * 20_000_000_000));
    let mut noise = Noise(8_127);
    for fork in 1..=forks {
        let speeds: Vec<f64> = truths.iter().map(|t| t.speed * (noise.normal() * t.fork_sd).exp()).collect();
        let mut clock = u64::from(fork - 1) * 20_000_000_000;
        for truth in truths {
            record.forks.push(fork_record(truth.name, fork));
            record.warmups.push(warmup(truth.name, fork));
        }
        for (kind, round) in kinds.iter().flat_map(|k| (0..4).map(move |round| (*k, round))) {
            for (truth, speed) in truths.iter().zip(&speeds) {
                let speed = speed * (noise.normal() * 0.01).exp();
                record.slices.push(slice(truth.name, fork, kind, round, clock, speed));
                clock += 500_000_000;
            }
        }
    }
    record
}

/// The record with all of its group once more, in the group `again`.
pub fn in_two_groups(mut record: RunRecord) -> RunRecord {
    let (mut copy, again) = (record.clone(), || "again".to_owned());
    copy.header.plan.groups[0].id = again();
    copy.forks.iter_mut().for_each(|fork| fork.group = again());
    copy.warmups.iter_mut().for_each(|warmup| warmup.group = again());
    copy.slices.iter_mut().for_each(|slice| slice.key.group = again());
    record.header.plan.groups.append(&mut copy.header.plan.groups);
    record.forks.append(&mut copy.forks);
    record.warmups.append(&mut copy.warmups);
    record.slices.append(&mut copy.slices);
    record
}

/// What forks scatter in, of the prior that [`with_prior`] gives.
pub fn throughput() -> SpreadOf {
    SpreadOf::of_scenario("http4s", "SimpleGet", Currency::Throughput, SliceKind::Saturating)
}

/// The record of a plan that declares its forks, and has a prior of this standard deviation for throughput.
pub fn with_prior(mut record: RunRecord, sd: f64) -> RunRecord {
    let forks = record.forks.iter().map(|fork| fork.fork).max();
    let stop = &mut record.header.plan.stop;
    stop.forks = Forks::UntilDecided { budget: Span::from_secs(300), at_least: 3, max_forks: forks };
    let prior = Some(VariancePrior { sd, df: 6.0 });
    let spreads = vec![EarlierSpread { of: throughput(), comparisons: 31, sd, prior }];
    stop.earlier = EarlierForks { spreads, ..EarlierForks::default() };
    record
}

/// A plain run: one fork, saturating slices only.
pub fn sequential(truths: &[Truth]) -> RunRecord {
    let mut record = run(truths, 1, &[SliceKind::Saturating]);
    record.header.plan.mode = Mode::Sequential;
    record.header.plan.stop.forks = Forks::Fixed { count: 1 };
    record.header.plan.warmup = Warmup::Fixed { span: Span::from_secs(5), users: 1 };
    record.warmups.clear();
    record
}

pub fn fork_record(variant: &str, fork: u32) -> ForkRecord {
    ForkRecord {
        fork,
        group: "http4s".to_owned(),
        variant: variant.to_owned(),
        command: vec!["java".to_owned(), "-cp".to_owned(), "classes".to_owned(), "Main".to_owned()],
        startup_ns: 1_000_000_000,
        resolved: BTreeMap::from([("tapir".to_owned(), "1.11.15".to_owned())]),
        rest_cpu_share: Some(0.001),
        end: "stopped".to_owned(),
        healthy: true,
    }
}

fn warmup(variant: &str, fork: u32) -> WarmupRecord {
    WarmupRecord {
        fork,
        group: "http4s".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: variant.to_owned(),
        span_ns: 12_000_000_000,
        steady: true,
        reason: String::new(),
    }
}

pub fn slice(variant: &str, fork: u32, kind: SliceKind, round: u32, start_ns: u64, speed: f64) -> StoredSlice {
    let offered = (kind != SliceKind::Saturating).then_some(BASE_PER_S / 5.0);
    let per_s = offered.unwrap_or(BASE_PER_S * speed);
    let completed = (per_s * WINDOW_NS as f64 / 1e9).round() as u64;
    let cpu_per_request = 45_000.0 / speed;
    let total_ns = (cpu_per_request * completed as f64) as u64;
    let jit = total_ns / 100;
    let mut response = LatencyHistogram::new();
    // An exponential distribution at its own quantiles: exact, and the same in every slice.
    for i in 0..400 {
        let quantile = (f64::from(i) + 0.5) / 400.0;
        response.record_ns((-(1.0 - quantile).ln() * 600_000.0 / speed) as u64 + 100_000);
    }
    let mut send_lag = LatencyHistogram::new();
    if offered.is_some() {
        (0..400).for_each(|i| send_lag.record_ns(5_000 + i * 10));
    }
    let key = SliceKey {
        fork,
        group: "http4s".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: variant.to_owned(),
        phase: Phase::Measure,
        kind,
        round,
        users: 128,
        offered_per_s: offered,
    };
    let load = SliceSample {
        start_ns,
        window_ns: WINDOW_NS,
        workers: 1,
        offered: completed,
        sent: send_lag.len(),
        completed,
        completed_in_slice: completed,
        ok: completed,
        bytes_in: completed * 130,
        bytes_out: completed * 60,
        generator_cpu_ns: WINDOW_NS / 4,
        service: response.clone(),
        response,
        send_lag,
        ..SliceSample::default()
    };
    let by_pool = BTreeMap::from([("io-compute".to_owned(), total_ns - jit)]);
    let server = ServerUse {
        cpu: Some(ServerCpu {
            wall_ns: WINDOW_NS,
            total_ns,
            by_kind: BTreeMap::from([("application".to_owned(), total_ns - jit), ("jit".to_owned(), jit)]),
            by_pool: BTreeMap::from([("application".to_owned(), by_pool)]),
            probing_ns: Some(total_ns / 500),
            requests: completed,
            ..ServerCpu::default()
        }),
        rss_bytes: Some(250_000_000),
        rss_peak_bytes: Some(260_000_000),
        runtime: Some(runtime_use(speed, completed)),
        hiccups: Some(hiccups(start_ns)),
        others_share: Some(0.01),
        ..ServerUse::default()
    };
    StoredSlice::new(key, load, server)
}

/// A young collection per slice, and the memory of a small server.
fn runtime_use(speed: f64, completed: u64) -> RuntimeUse {
    let collectors = BTreeMap::from([("G1 young".to_owned(), CollectorUse { pauses: 1, pause_ns: WINDOW_NS / 100 })]);
    RuntimeUse {
        collections: Some(1),
        collecting_ns: Some(WINDOW_NS / 100),
        collectors,
        safepoint_ns: Some(WINDOW_NS / 90),
        safepoints: Some(2),
        allocated_bytes: Some((8_000.0 / speed) as u64 * completed),
        heap_used_bytes: Some(120_000_000),
        heap_committed_bytes: Some(1_000_000_000),
        heap_after_gc_bytes: Some(20_000_000),
        metaspace_bytes: Some(40_000_000),
        off_heap_bytes: Some(90_000_000),
        requests: completed,
        ..RuntimeUse::default()
    }
}

/// A millisecond's meters over a window: the machine is always in time, the JVM pauses once for 10 ms.
fn hiccups(start_ns: u64) -> Hiccups {
    let (mut machine, mut jvm) = (LatencyHistogram::new(), LatencyHistogram::new());
    for i in 0..450_u64 {
        machine.record_ns(55_000 + i);
        jvm.record_ns(60_000 + i + if i < 10 { (10 - i) * 1_000_000 } else { 0 });
    }
    let pause = Pause { at_ns: start_ns, length_ns: 10_060_000, cause: PauseCause::Collection };
    Hiccups { machine: (&machine).into(), jvm: Some((&jvm).into()), pauses: vec![pause] }
}

fn header(plan: Plan) -> RunHeader {
    let facts = |facts: &[(&str, &str)]| facts.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    RunHeader {
        id: "2026-11-20-1".to_owned(),
        started_unix_ns: 1_795_205_385_000_000_000,
        command: ["tare", "run", "-s", "http4s.*"].map(str::to_owned).to_vec(),
        tare_version: "0.1.0".to_owned(),
        git_revision: Some("0123abc".to_owned()),
        plan_hash: plan.hash(),
        plan,
        environment: Environment {
            sections: vec![
                FactSection {
                    title: "Machine".to_owned(),
                    facts: facts(&[("CPU", "Test CPU"), ("governor", "performance")]),
                },
                FactSection { title: "JVM".to_owned(), facts: facts(&[("JDK", "25.0.1")]) },
            ],
            network: None,
        },
    }
}

fn plan(truths: &[Truth]) -> Plan {
    let setting = |section: &str, key: &str, value: &str, source| Setting {
        section: section.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        source,
        meaning: String::new(),
    };
    Plan {
        suite: "quick".to_owned(),
        question: "What does Tapir cost on http4s?".to_owned(),
        groups: vec![Group {
            id: "http4s".to_owned(),
            variants: truths.iter().map(planned).collect(),
            scenarios: vec![NamedScenario { name: "SimpleGet".to_owned(), scenario: scenario() }],
            ladder: false,
        }],
        load: Load {
            users: 128,
            rate: Rate::OfCapacity { share: 0.5 },
            timeout: Span::from_secs(10),
            congestion: "default".to_owned(),
            spin: true,
            ..Load::default()
        },
        warmup: Warmup::UntilSteady { cap: Span::from_secs(30), first_cap: Span::from_secs(30), all_cpus: true },
        slices: Slices {
            length: Span::from_millis(500),
            discard: Span::from_millis(50),
            saturating: 4,
            fixed: 4,
            latency: Span::from_secs(2),
            push: 1,
            turn: TurnLength::Whole,
        },
        stop: Stop {
            forks: Forks::UntilDecided { budget: Span::from_secs(300), at_least: 5, max_forks: None },
            region: 0.02,
            alpha: 0.01,
            floor: 0.005,
            ..Stop::default()
        },
        machine: Machine {
            server_cpus: "0".to_owned(),
            load_cpus: "1".to_owned(),
            jvm_options: vec!["-XX:+UseG1GC".to_owned(), "-Xmx1g".to_owned()],
            jvm_cpus: 2,
            java: "newest".to_owned(),
            startup_timeout: Span::from_secs(30),
            stop_grace: Span::from_secs(5),
            ..Machine::default()
        },
        seed: 8_127,
        settings: vec![
            setting("load", "users", "128", Source::Flag),
            setting("stop", "region", "0.02", Source::Default),
        ],
        ..Plan::default()
    }
}

fn planned(truth: &Truth) -> Variant {
    Variant {
        name: truth.name.to_owned(),
        server: truth.name.trim_end_matches(" (again)").to_owned(),
        family: "http4s".to_owned(),
        kind: if truth.name.contains("Tapir") { "tapir" } else { "vanilla" }.to_owned(),
        version: None,
        routes: 1,
        role: truth.role,
        program: Program::Catalog,
        upstream: None,
    }
}

fn scenario() -> Scenario {
    let request = Request {
        method: "GET".to_owned(),
        path: "/path0/4".to_owned(),
        grpc: None,
        headers: BTreeMap::new(),
        body: None,
    };
    Scenario {
        title: "One small GET".to_owned(),
        routes: 1,
        request,
        expect: Expect { status: 200, ..Expect::default() },
        ..Scenario::default()
    }
}

/// Seeded noise without a library: splitmix64, and a sum of twelve uniforms for a normal.
pub struct Noise(pub u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
