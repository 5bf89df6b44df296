//! The record, sorted by cell: which slices, warm-ups and starts belong to which variant under which scenario.

pub(crate) mod disturbance;

use std::collections::BTreeMap;

use tare_plan::LoadPlan;
use tare_plan::plan::{Group, NamedScenario, SliceKind, Variant};
use tare_record::environment::NetworkBandwidth;
use tare_record::{ErrorClass, EventRecord, ForkRecord, LoadRecord, Phase, RunRecord, StoredSlice, WarmupRecord};
use tare_units::Span;

use crate::evidence::disturbance::SetAside;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Subject<'a> {
    pub group: &'a str,
    pub scenario: &'a str,
    pub variant: &'a str,
    /// `None` for a load.
    pub planned: Option<(&'a NamedScenario, &'a Variant)>,
    /// Time between two pushed messages, where the plan states it.
    pub push_period: Option<Span>,
    pub sends_events: bool,
}

impl<'a> Subject<'a> {
    fn of_variant(group: &'a Group, named: &'a NamedScenario, variant: &'a Variant) -> Self {
        Self {
            group: &group.id,
            scenario: &named.name,
            variant: &variant.name,
            planned: Some((named, variant)),
            push_period: named.scenario.push.as_ref().map(|push| push.period),
            sends_events: named.scenario.is_event_stream(),
        }
    }

    fn of_load(plan: &'a LoadPlan) -> Self {
        let (push_period, sends_events) = (plan.push_period(), plan.sends_events());
        Self { group: &plan.url, scenario: &plan.request, variant: &plan.url, planned: None, push_period, sends_events }
    }
}

#[derive(Default)]
pub(crate) struct Evidence<'a> {
    pub subject: Subject<'a>,
    /// Warm-up and scored, in the order of the record.
    pub slices: Vec<&'a StoredSlice>,
    /// The scored ones that count.
    counted: BTreeMap<u32, Vec<&'a StoredSlice>>,
    /// What does not count for all cells of the group under this scenario alike.
    pub set_aside: SetAside,
    pub warmups: Vec<&'a WarmupRecord>,
    pub forks: Vec<&'a ForkRecord>,
    pub events: &'a [EventRecord],
    /// The share of failed requests above which its numbers are void.
    pub most_failed: f64,
    /// Empty where they are not known, as those of a load on a URL.
    pub server_cpus: &'a str,
    pub network: Option<NetworkBandwidth>,
}

impl<'a> Evidence<'a> {
    /// `group/scenario/variant`.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.subject.group, self.subject.scenario, self.subject.variant)
    }

    /// Counts all scored slices but these. Every figure goes through them, fork by fork.
    fn leave_out(&mut self, set_aside: SetAside) {
        let counts = |slice: &&StoredSlice| slice.key.phase == Phase::Measure && !set_aside.contains(slice);
        self.counted = by_key(self.slices.iter().copied().filter(counts), |slice| slice.key.fork);
        self.set_aside = set_aside;
    }

    /// Scored slices of all forks, because failures count in those that are set aside, too. Without the tries of
    /// searches: some are meant to break the curve.
    pub fn driven_slices(&self) -> impl Iterator<Item = &'a StoredSlice> {
        self.slices.iter().copied().filter(|s| s.key.phase == Phase::Measure && s.key.kind != SliceKind::Capacity)
    }

    /// Those of the forks that count.
    pub fn measured(&self) -> impl Iterator<Item = &'a StoredSlice> {
        self.counted.values().flatten().copied().filter(|s| s.key.kind != SliceKind::Capacity)
    }

    /// Those and the tries of searches of one fork.
    fn scored_in(&self, fork: u32) -> impl Iterator<Item = &'a StoredSlice> {
        self.counted.get(&fork).into_iter().flatten().copied()
    }

    pub fn measured_in(&self, fork: u32) -> impl Iterator<Item = &'a StoredSlice> {
        self.scored_in(fork).filter(|s| s.key.kind != SliceKind::Capacity)
    }

    pub fn of_kind(&self, kind: SliceKind) -> impl Iterator<Item = &'a StoredSlice> {
        self.counted.values().flatten().copied().filter(move |s| s.key.kind == kind)
    }

    pub fn in_fork(&self, kind: SliceKind, fork: u32) -> impl Iterator<Item = &'a StoredSlice> {
        self.scored_in(fork).filter(move |s| s.key.kind == kind)
    }

    pub fn fork_numbers(&self) -> Vec<u32> {
        self.counted.keys().copied().collect()
    }

    pub fn by_fork(&self, value: impl Fn(u32) -> Option<f64>) -> BTreeMap<u32, f64> {
        self.fork_numbers().into_iter().filter_map(|fork| Some((fork, value(fork)?))).collect()
    }

    pub fn warmup(&self, fork: u32) -> Option<&'a WarmupRecord> {
        self.warmups.iter().copied().find(|w| w.fork == fork)
    }

    /// Whether a fork was steady when measuring began. A fork without a record of that counts as steady.
    pub fn was_steady(&self, fork: u32) -> bool {
        self.warmup(fork).is_none_or(|w| w.steady)
    }

    /// Events that make this cell void. One that names less covers more.
    pub fn voiding(&self) -> impl Iterator<Item = &'a EventRecord> {
        let covers = |named: &Option<String>, mine: &str| named.as_ref().is_none_or(|name| name == mine);
        let Subject { group, scenario, variant, .. } = self.subject;
        self.events.iter().filter(move |e| {
            e.voids && covers(&e.group, group) && covers(&e.scenario, scenario) && covers(&e.variant, variant)
        })
    }

    /// How many requests at the rate of its latency got no answer in time, and of how many, if only that rate is too
    /// much for the server. Its response times then measure how long the load lasted; its other figures hold.
    pub fn overload(&self) -> Option<(u64, u64)> {
        let count = |kind: SliceKind, of: fn(&StoredSlice) -> u64| {
            self.driven_slices().filter(|slice| slice.key.kind == kind).map(of).sum::<u64>()
        };
        let all = |kind| count(kind, |slice| slice.load.ok + slice.load.failed);
        let failed = |kind| count(kind, |slice| slice.load.failed);
        let too_late = count(SliceKind::Poisson, |slice| slice.load.errors.for_class(ErrorClass::Timeout).count);
        let is_too_much = |part: u64, all: u64| part as f64 > self.most_failed * all as f64;
        let (closed, open) = (all(SliceKind::Saturating), all(SliceKind::Poisson));
        let fails_otherwise = is_too_much(failed(SliceKind::Saturating), closed)
            || is_too_much(failed(SliceKind::Poisson).saturating_sub(too_late), open);
        (closed > 0 && is_too_much(too_late, open) && !fails_otherwise).then_some((too_late, open))
    }
}

/// One entry per cell of the plan, also for cells that were never measured, with those of one group and scenario
/// together. `set_aside` says what does not count of these.
pub(crate) fn gather(record: &RunRecord, set_aside: impl Fn(&[Evidence<'_>]) -> SetAside) -> Vec<Vec<Evidence<'_>>> {
    let mut slices = by_key(&record.slices, |s| (&*s.key.group, &*s.key.scenario, &*s.key.variant));
    let mut warmups = by_key(&record.warmups, |w| (&*w.group, &*w.scenario, &*w.variant));
    let forks = by_key(&record.forks, |f| (&*f.group, &*f.variant));
    let mut cells = Vec::new();
    for group in &record.header.plan.groups {
        for scenario in &group.scenarios {
            let mut together = Vec::new();
            for variant in &group.variants {
                let key = (&*group.id, &*scenario.name, &*variant.name);
                together.push(Evidence {
                    subject: Subject::of_variant(group, scenario, variant),
                    slices: slices.remove(&key).unwrap_or_default(),
                    warmups: warmups.remove(&key).unwrap_or_default(),
                    forks: forks.get(&(&*group.id, &*variant.name)).cloned().unwrap_or_default(),
                    events: &record.events,
                    most_failed: MOST_FAILED,
                    server_cpus: &record.header.plan.machine.server_cpus,
                    network: record.header.environment.network,
                    ..Evidence::default()
                });
            }
            let aside = set_aside(&together);
            together.iter_mut().for_each(|cell| cell.leave_out(aside.clone()));
            cells.push(together);
        }
    }
    cells
}

/// The entries of each key, in the order of the record.
fn by_key<'a, T, K: Ord>(
    entries: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&'a T) -> K,
) -> BTreeMap<K, Vec<&'a T>> {
    let mut found: BTreeMap<K, Vec<&T>> = BTreeMap::new();
    entries.into_iter().for_each(|entry| found.entry(key(entry)).or_default().push(entry));
    found
}

pub(crate) fn of_load(record: &LoadRecord) -> Evidence<'_> {
    let mut evidence = Evidence {
        subject: Subject::of_load(&record.header.plan),
        slices: record.intervals.iter().collect(),
        events: &record.events,
        most_failed: failures_allowed(&record.header.plan),
        ..Evidence::default()
    };
    evidence.leave_out(SetAside::default());
    evidence
}

/// The share of failed requests that the numbers of a cell bear, unless the user of a load allows more.
const MOST_FAILED: f64 = 0.001;

/// A load that fails on `errors>10%` may have up to a tenth of failed requests.
fn failures_allowed(plan: &LoadPlan) -> f64 {
    let limits = plan.conditions.iter().filter(|condition| condition.bounds_all_errors());
    limits.map(|condition| condition.limit).reduce(f64::min).unwrap_or(MOST_FAILED).max(MOST_FAILED)
}
