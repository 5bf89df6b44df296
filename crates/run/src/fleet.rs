//! The servers of one fork: started side by side in random order, verified, moved between cores, stopped together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_plan::contract::Contract;
use tare_plan::plan::{Plan, Variant};
use tare_record::keeping::RESTLESS;
use tare_record::sample::{EventLevel, EventRecord, ForkRecord};
use tare_sut::SutError;
use tare_sut::contract::{CheckOutcome, header_differences, verify};
use tare_sut::probe::cpu::{CpuProbe, CpuSample};
use tare_sut::probe::hiccup::inside::JvmMeter;
use tare_sut::probe::jvm::{JvmProbe, JvmSample};
use tare_sut::probe::memory::off_heap_bytes;
use tare_sut::server::Status;
use tare_sys::affinity::CpuSet;
use tare_sys::clock;

use crate::error::RunError;
use crate::host::Host;
use crate::journal::{Journal, located};
use crate::order::Order;
use crate::prepare::{Launch, Launches};
use crate::progress::{Place, Progress};

/// How long servers are watched at rest, and how often at most: verifying them leaves some with work for a while.
const REST: Duration = Duration::from_millis(250);
const LOOKS: u32 = 4;
/// Lines of a server's log that an event carries.
pub(crate) const LOG_LINES: usize = 20;

/// One server that runs.
pub(crate) struct Member<'a> {
    pub variant: &'a Variant,
    pub launch: &'a Launch,
    pub host: Host,
    pub probe: Option<CpuProbe>,
    /// Where a JVM keeps its counters.
    counters: Option<JvmProbe>,
    /// The meter of hiccups in a JVM, where it was started with one.
    pub meter: Option<JvmMeter>,
    /// Whether the memory beside its heap is to be read after its next scored slice: once for each load it has warmed up
    /// for, because the kernel counts a heap's pages one by one, which takes some 10 ms.
    pub off_heap_due: bool,
    pub startup_ns: u64,
    pub rest_cpu_share: Option<f64>,
    /// False once it has died, hung or lied: it gets no more load.
    pub healthy: bool,
}

/// The servers of one fork, in the order of the plan.
pub(crate) struct Fleet<'a> {
    pub members: Vec<Member<'a>>,
    /// Whether it has warmed up for a scenario before.
    pub warmed: bool,
}

/// What a fleet is started from.
#[derive(Clone, Copy)]
pub(crate) struct Yard<'a> {
    pub plan: &'a Plan,
    pub launches: &'a Launches,
    pub contract: &'a Contract,
    pub logs: &'a Path,
    pub profiles: &'a Path,
    pub cancelled: &'a AtomicBool,
}

impl Yard<'_> {
    /// Says which of `variants` cannot be had on this machine, and why.
    pub fn report_missing<'v>(
        &self,
        variants: impl IntoIterator<Item = &'v Variant>,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        for variant in variants {
            let Some(reason) = self.launches.unavailable(variant) else { continue };
            let mut missing = EventRecord::new(EventLevel::Warning, "not available", reason.to_owned());
            missing.voids = true;
            journal.event(EventRecord { fork: None, ..located(missing, place, &variant.name, None) })?;
        }
        Ok(())
    }
}

impl<'a> Fleet<'a> {
    /// Starts those of `variants` that can be had, each on `cpus`. A server that does not start is an event, not an error.
    pub fn start(
        yard: Yard<'a>,
        variants: impl IntoIterator<Item = &'a Variant>,
        cpus: &CpuSet,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<Self, RunError> {
        let mut order = Order::at(yard.plan.seed, &["start", place.group, &place.fork.to_string()]);
        let shuffled = order.shuffled(variants);
        journal.show(&Progress::Starting { place: *place, servers: shuffled.len() });
        let mut starts = Vec::new();
        for variant in shuffled.into_iter().filter(|variant| yard.launches.unavailable(variant).is_none()) {
            let launch = yard.launches.get(variant)?;
            let log =
                yard.logs.join(format!("{}-{}-{}.log", file_name(place.group), file_name(&variant.name), place.step));
            starts.push((variant, launch, launch.start(yard.plan, variant, cpus.clone(), log)));
        }
        let begun = clock::now();
        let started: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = starts
                .iter()
                .map(|(_, _, start)| scope.spawn(move || (start.raise(yard.cancelled), clock::now().since(begun))))
                .collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut members = Vec::new();
        for ((variant, launch, _), joined) in starts.into_iter().zip(started) {
            let Ok((result, startup_ns)) = joined else { return Err(RunError::NotPrepared(variant.name.clone())) };
            match result {
                Ok(host) => {
                    // Without a probe (the server has just died, or runs elsewhere) its CPU is not available.
                    let probe = host.pid().and_then(|pid| CpuProbe::new(pid).ok());
                    let counters = host.pid().and_then(JvmProbe::find);
                    let meter = probe.as_ref().and_then(|probe| JvmMeter::find(yard.logs, probe.processes()));
                    let rest_cpu_share = None;
                    members.push(Member {
                        variant,
                        launch,
                        host,
                        probe,
                        counters,
                        meter,
                        off_heap_due: true,
                        startup_ns,
                        rest_cpu_share,
                        healthy: true,
                    });
                }
                Err(SutError::Cancelled { .. }) => {}
                Err(error) => {
                    let said = error.to_string();
                    // An error's first line says what happened; the server's own last lines follow.
                    let (text, log) = said.split_once('\n').unwrap_or((&said, ""));
                    let mut failed =
                        EventRecord::new(EventLevel::Error, "did not start", text.trim_end_matches(':').to_owned());
                    failed.log = Some(log.to_owned()).filter(|log| !log.is_empty());
                    failed.voids = true;
                    journal.event(located(failed, place, &variant.name, None))?;
                    journal.fork(not_started(variant, launch.command(), place))?;
                }
            }
        }
        let place_in_plan: BTreeMap<&str, usize> = yard
            .plan
            .groups
            .iter()
            .flat_map(|group| group.variants.iter().enumerate().map(|(index, v)| (v.name.as_str(), index)))
            .collect();
        members.sort_by_key(|member| place_in_plan.get(member.variant.name.as_str()).copied());
        Ok(Self { members, warmed: false })
    }

    /// Holds every server against the contract; one that answers otherwise gets no load.
    pub fn verify(
        &mut self,
        yard: Yard<'_>,
        scenarios: &[&str],
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        journal.show(&Progress::Verifying { place: *place });
        let mut answers: Vec<(&str, Vec<CheckOutcome>)> = Vec::new();
        for member in self.members.iter_mut().filter(|member| member.healthy) {
            let contract = member.launch.contract(yard.contract);
            let wanted = |name: &str| scenarios.contains(&name) || !contract.scenarios.contains_key(name);
            let identity = member.variant.identity();
            let exchanges = contract.exchanges(&identity, member.variant.routes).filter(|e| wanted(e.name));
            let outcomes = verify(member.host.address(), exchanges, yard.plan.load.timeout.0);
            for outcome in outcomes.iter().filter(|outcome| !outcome.passed) {
                member.healthy = false;
                let text = format!("{}: {}", outcome.check, outcome.difference.as_deref().unwrap_or("differs"));
                let mut failed = EventRecord::new(EventLevel::Error, "does not answer as the contract says", text);
                failed.voids = true;
                failed.remedy = Some(format!("Not timed. See it with: tare verify {}", member.variant.server));
                failed.log = member.host.log_tail(LOG_LINES);
                journal.event(located(failed, place, &member.variant.name, None))?;
            }
            answers.push((&member.variant.name, outcomes));
        }
        if place.fork == 1 {
            compare_headers(&answers, place, journal)?;
        }
        Ok(())
    }

    /// What the servers use while nobody asks them anything; compiling and collecting that verifying them has set off do not count.
    pub fn observe_rest(&mut self, cancelled: &AtomicBool) {
        let is_restless = |member: &Member<'_>| member.rest_cpu_share.is_some_and(|share| share > RESTLESS);
        for _ in 0..LOOKS {
            let before: Vec<_> = self.members.iter_mut().map(Member::cpu).collect();
            pause(REST, cancelled);
            for (member, before) in self.members.iter_mut().zip(before) {
                let used = before.zip(member.cpu()).map(|(before, after)| after.since(&before).share_at_rest());
                member.rest_cpu_share = used.map(|used| member.rest_cpu_share.map_or(used, |least| least.min(used)));
            }
            if !self.members.iter().any(is_restless) {
                break;
            }
        }
    }

    /// Moves all servers to `cpus`.
    pub fn set_cpus(&self, cpus: &CpuSet) {
        for member in self.members.iter().filter(|member| member.healthy) {
            // A server that has just died cannot be moved; the next look at its health says so.
            let _ = member.host.set_cpus(cpus);
        }
    }

    /// Those that may be driven.
    pub fn healthy(&self) -> usize {
        self.members.iter().filter(|member| member.healthy).count()
    }

    /// Stops all and records how each ended.
    pub fn stop(self, place: &Place<'_>, journal: &mut Journal<'_>) -> Result<(), RunError> {
        let stopped: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .members
                .into_iter()
                .map(|member| {
                    scope.spawn(move || {
                        let Member { variant, launch, host, startup_ns, rest_cpu_share, healthy, .. } = member;
                        let end = host.stop();
                        ForkRecord {
                            fork: 0,
                            group: String::new(),
                            variant: variant.name.clone(),
                            command: launch.command(),
                            startup_ns,
                            resolved: launch.resolved.clone(),
                            rest_cpu_share,
                            end,
                            healthy,
                        }
                    })
                })
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        for fork in stopped {
            journal.fork(ForkRecord { fork: place.fork, group: place.group.to_owned(), ..fork })?;
        }
        Ok(())
    }
}

impl Member<'_> {
    /// What it has used so far; `None` where that cannot be seen.
    pub fn cpu(&mut self) -> Option<CpuSample> {
        self.probe.as_mut()?.sample().ok()
    }

    /// What its JVM has done so far; `None` where it is none.
    pub fn jvm(&self) -> Option<JvmSample> {
        self.counters.as_ref()?.sample()
    }

    /// Resident memory of its JVM beside a heap of so many bytes.
    pub fn off_heap_bytes(&self, heap_committed_bytes: u64) -> Option<u64> {
        off_heap_bytes(self.host.pid()?, heap_committed_bytes)
    }

    /// Looks whether the server still lives and answered anything; if not, it is out, and the record says why.
    ///
    /// `answered` is false when a slice brought no right answer at all.
    pub fn check_health(
        &mut self,
        answered: bool,
        place: &Place<'_>,
        scenario: &str,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let text = match self.host.status() {
            Status::Exited(how) => format!("the server ended in the middle of the run ({how})"),
            Status::Stopped => "the server's process is stopped (SIGSTOP): it answers nothing".to_owned(),
            Status::Running if !answered => "no right answer in a whole slice".to_owned(),
            Status::Running => return Ok(()),
        };
        self.healthy = false;
        let mut failed = EventRecord::new(EventLevel::Error, "failed", text);
        failed.voids = true;
        failed.log = self.host.log_tail(LOG_LINES);
        journal.event(located(failed, place, &self.variant.name, Some(scenario)))
    }
}

/// Waits, but not longer than until Ctrl-C.
pub(crate) fn pause(span: Duration, cancelled: &AtomicBool) {
    let end = clock::now().since(tare_sys::clock::Nanos::ZERO) + span.as_nanos() as u64;
    while !cancelled.load(Ordering::Relaxed) {
        let left = end.saturating_sub(clock::now().0);
        if left == 0 {
            return;
        }
        std::thread::sleep(Duration::from_nanos(left).min(Duration::from_millis(20)));
    }
}

/// Headers that differ between a variant and its baseline are told once: they may be a cost, or a benchmark's mistake.
/// Where the contract lets a variant answer otherwise, its headers may differ too.
fn compare_headers(
    answers: &[(&str, Vec<CheckOutcome>)],
    place: &Place<'_>,
    journal: &mut Journal<'_>,
) -> Result<(), RunError> {
    let Some(((_, first), others)) = answers.split_first() else { return Ok(()) };
    for (name, other) in others {
        let alike: Vec<CheckOutcome> = other.iter().filter(|outcome| outcome.because.is_none()).cloned().collect();
        let differences = header_differences(first, &alike);
        if !differences.is_empty() {
            let found = EventRecord::new(
                EventLevel::Info,
                "answers with other headers than its baseline",
                differences.join("; "),
            );
            journal.event(located(found, place, name, None))?;
        }
    }
    Ok(())
}

fn not_started(variant: &Variant, command: Vec<String>, place: &Place<'_>) -> ForkRecord {
    ForkRecord {
        fork: place.fork,
        group: place.group.to_owned(),
        variant: variant.name.clone(),
        command,
        startup_ns: 0,
        resolved: BTreeMap::new(),
        rest_cpu_share: None,
        end: "did not start".to_owned(),
        healthy: false,
    }
}

/// A variant's name as part of a file name.
pub(crate) fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_@".contains(c) { c } else { '_' }).collect()
}
