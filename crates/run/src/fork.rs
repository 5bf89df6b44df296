//! One fork of one group: start all, verify, and for each scenario warm up and measure in random alternation; stop all.

use std::collections::BTreeMap;
use std::time::Duration;

use tare_load::{Cancel, Check, Conversation, LoadSession, Method, Protocol, RequestSpec, Sending, SessionSpec, Stamp};
use tare_plan::contract::{Contract, ExpectBody, SameAs};
use tare_plan::plan::{Group, Mode, NamedScenario, Plan, Rate, SliceKind, Warmup};
use tare_record::sample::Phase;
use tare_sys::affinity::CpuSet;

use crate::error::RunError;
use crate::fleet::{Fleet, Member, Yard};
use crate::journal::Journal;
use crate::order;
use crate::progress::{Place, Progress};
use crate::slice::{Order, Slot, drive};
use crate::warmup::warm_up;

/// The cores of both sides, as sets.
#[derive(Debug, Clone)]
pub(crate) struct Cores {
    pub server: CpuSet,
    pub load: CpuSet,
    /// Where servers warm up.
    pub warmup: CpuSet,
}

impl Cores {
    /// How a slice of this kind sends: the generator stays awake for an open load, if that is wanted, on cores of its own.
    pub fn sending(&self, kind: SliceKind, spin: bool) -> Sending {
        let may_spin = spin && kind != SliceKind::Saturating && !self.server.overlaps(&self.load);
        if may_spin { Sending::Spinning } else { Sending::Exact }
    }
}

/// Everything that stays the same from fork to fork.
pub(crate) struct Trial<'a> {
    pub yard: Yard<'a>,
    pub cores: Cores,
    pub cancel: Cancel,
    /// Rate of the open slices by group and scenario, once it is known.
    pub rates: BTreeMap<(String, String), f64>,
}

/// One slice to come: which kind, round and member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    kind: SliceKind,
    round: u32,
    member: usize,
}

impl<'a> Trial<'a> {
    /// Runs one fork. Servers that fail are events; the others go on.
    pub fn fork(&mut self, group: &'a Group, place: &Place<'_>, journal: &mut Journal<'_>) -> Result<(), RunError> {
        let mut fleet = Fleet::start(self.yard, &group.variants, &self.cores.warmup, place, journal)?;
        let names: Vec<&str> = group.scenarios.iter().map(|named| named.name.as_str()).collect();
        fleet.verify(self.yard, &names, place, journal)?;
        fleet.observe_rest(self.yard.cancelled);
        let mut shuffle = order::Order::at(self.yard.plan.seed, &["scenarios", &group.id, &place.fork.to_string()]);
        for named in shuffle.shuffled(&group.scenarios) {
            if self.cancel.is_cancelled() || fleet.healthy() == 0 {
                break;
            }
            self.scenario(&mut fleet, named, place, journal)?;
        }
        fleet.stop(place, journal)
    }

    fn scenario(
        &mut self,
        fleet: &mut Fleet<'a>,
        named: &NamedScenario,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        if let Some(push) = &named.scenario.push {
            return self.pushed(fleet, named, push, place, journal);
        }
        let mut sessions = self.sessions(fleet, named)?;
        warm_up(fleet, &mut sessions, &self.cores, self.yard.plan, &named.name, place, &self.cancel, journal)?;
        if let Some(slo) = &self.yard.plan.slo {
            return self.capacities(fleet, &mut sessions, named, slo, place, journal);
        }
        self.settle(fleet, &mut sessions, named, place, journal)?;
        if self.yard.plan.mode == Mode::Profiled {
            return self.profile(fleet, &mut sessions, named, place, journal);
        }
        for (number, turn, of) in self.turns(fleet, named, place) {
            if self.cancel.is_cancelled() {
                break;
            }
            self.measure(fleet, &mut sessions, named, (number, of), turn, place, journal)?;
        }
        Ok(())
    }

    /// One unscored slice each as it will be measured: the capacity is seen.
    fn settle(
        &mut self,
        fleet: &mut Fleet<'a>,
        sessions: &mut [LoadSession],
        named: &NamedScenario,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let plan = self.yard.plan;
        let mut slowest: Option<f64> = None;
        for (member, session) in fleet.members.iter_mut().zip(sessions) {
            if !member.healthy || self.cancel.is_cancelled() {
                continue;
            }
            let order = Order {
                phase: Phase::Warmup,
                discard: plan.slices.discard.0,
                ..self.order(SliceKind::Saturating, u32::MAX, 0.0, place)
            };
            let slice = drive(member, session, &order, slot(named, place), plan, &self.cancel, journal)?;
            let per_s = slice.completed as f64 * 1e9 / slice.window_ns.max(1) as f64;
            let answered = slice.ok > 0 || self.cancel.is_cancelled();
            journal.slice(slice)?;
            member.check_health(answered, place, &named.name, journal)?;
            if member.healthy && per_s > 0.0 {
                slowest = Some(slowest.map_or(per_s, |slowest| slowest.min(per_s)));
            }
        }
        let rate = match plan.load.rate {
            Rate::PerSecond { per_s } => Some(per_s),
            Rate::OfCapacity { share } => slowest.map(|slowest| two_digits(slowest * share)),
        };
        if let Some(rate) = rate {
            // The first fork fixes the rate: forks are compared at one rate.
            self.rates.entry((place.group.to_owned(), named.name.clone())).or_insert(rate);
        }
        Ok(())
    }

    /// The slices of this fork and scenario in order: kinds of rounds mixed, variants shuffled within each round.
    fn turns(&self, fleet: &Fleet<'_>, named: &NamedScenario, place: &Place<'_>) -> Vec<(u32, Turn, u32)> {
        let slices = &self.yard.plan.slices;
        let place_words = ["slices", place.group, &named.name, &place.fork.to_string()];
        let mut shuffle = order::Order::at(self.yard.plan.seed, &place_words);
        let rounds = [
            (SliceKind::Saturating, slices.saturating),
            (SliceKind::Fixed, slices.fixed),
            (SliceKind::Poisson, slices.poisson),
        ];
        let rounds = rounds.into_iter().flat_map(|(kind, count)| (0..count).map(move |round| (kind, round)));
        let mut turns = Vec::new();
        for (kind, round) in shuffle.shuffled(rounds) {
            turns.extend(shuffle.shuffled(0..fleet.members.len()).into_iter().map(|member| Turn {
                kind,
                round,
                member,
            }));
        }
        let of = turns.len() as u32;
        turns.into_iter().enumerate().map(|(index, turn)| (index as u32 + 1, turn, of)).collect()
    }

    #[allow(clippy::too_many_arguments, reason = "one slice needs the whole scene; a struct would only rename it")]
    fn measure(
        &self,
        fleet: &mut Fleet<'a>,
        sessions: &mut [LoadSession],
        named: &NamedScenario,
        (number, of): (u32, u32),
        turn: Turn,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let member = &mut fleet.members[turn.member];
        let rate = self.rates.get(&(place.group.to_owned(), named.name.clone())).copied();
        if !member.healthy || turn.kind != SliceKind::Saturating && rate.is_none() {
            return Ok(());
        }
        let last_per_s = journal.record().slices.last().map(|s| s.completed as f64 * 1e9 / s.window_ns.max(1) as f64);
        journal.show(&Progress::Measuring {
            place: *place,
            scenario: &named.name,
            variant: &member.variant.name,
            kind: turn.kind,
            slice: number,
            slices: of,
            last_per_s,
        });
        let order = self.order(turn.kind, turn.round, rate.unwrap_or(0.0), place);
        let slice = drive(
            member,
            &mut sessions[turn.member],
            &order,
            slot(named, place),
            self.yard.plan,
            &self.cancel,
            journal,
        )?;
        let answered = slice.ok > 0;
        if self.cancel.is_cancelled() {
            // Cut short: shorter than the others of its round, so it is not scored.
            return Ok(());
        }
        journal.slice(slice)?;
        member.check_health(answered, place, &named.name, journal)
    }

    pub fn order(&self, kind: SliceKind, round: u32, rate_per_s: f64, place: &Place<'_>) -> Order {
        let plan = self.yard.plan;
        Order {
            kind,
            phase: Phase::Measure,
            round,
            users: plan.load.users,
            rate_per_s,
            length: plan.slices.length.0,
            discard: plan.slices.discard.0,
            // The same arrivals for all variants of a round, others in the next.
            seed: plan.seed ^ (u64::from(place.fork) << 32) ^ u64::from(round),
            sending: self.cores.sending(kind, plan.load.spin),
        }
    }

    /// A session per member; members that are out get one too, so that indices agree.
    pub fn sessions(&self, fleet: &Fleet<'_>, named: &NamedScenario) -> Result<Vec<LoadSession>, RunError> {
        fleet.members.iter().map(|member| self.session(member, named)).collect()
    }

    fn session(&self, member: &Member<'_>, named: &NamedScenario) -> Result<LoadSession, RunError> {
        let plan = self.yard.plan;
        let contract = member.launch.contract(self.yard.contract);
        let request = request(contract, &member.variant.identity(), named)?;
        Ok(LoadSession::open(&SessionSpec {
            connections: plan.connections(&named.scenario) as usize,
            cpus: self.cores.load.clone(),
            timeout: plan.load.timeout.0,
            connect_timeout: plan.load.timeout.0.min(Duration::from_secs(5)),
            congestion: Some(plan.load.congestion.clone()).filter(|name| name != "default"),
            host: member.launch.host(),
            protocol: protocol(named),
            ..SessionSpec::new(member.host.address(), vec![request])
        })?)
    }
}

/// The cores that a plan names, checked against those that there are.
pub(crate) fn cores(plan: &Plan) -> Result<Cores, RunError> {
    let parse = |key: &str, list: &str| -> Result<CpuSet, RunError> {
        let wrong = |message: String| RunError::Plan { key: format!("--{key}"), message };
        let cpus: CpuSet = list.parse().map_err(|error| wrong(format!("{error}")))?;
        let allowed = CpuSet::allowed().map_err(|error| wrong(error.to_string()))?;
        let missing = cpus.iter().find(|cpu| !allowed.contains(*cpu));
        match missing {
            Some(cpu) => Err(wrong(format!("core {cpu} is not there; this process may use {allowed}"))),
            None => Ok(cpus),
        }
    };
    let server = parse("server-cpus", &plan.machine.server_cpus)?;
    let load = parse("load-cpus", &plan.machine.load_cpus)?;
    let warmup = match plan.warmup {
        Warmup::UntilSteady { all_cpus: true, .. } => server.union(&load),
        _ => server.clone(),
    };
    Ok(Cores { server, load, warmup })
}

/// What is spoken: HTTP/1.1, or a WebSocket over it that all users listen on.
fn protocol(named: &NamedScenario) -> Protocol {
    named.scenario.push.as_ref().map_or_else(Protocol::default, |push| {
        Protocol::WebSocket(Conversation::Push(tare_load::Push {
            messages_per_user: u64::from(push.messages),
            period: push.period.0,
            stamp: Stamp::Unix,
        }))
    })
}

/// The scenario as the generator sends and checks it, with what this server is held to.
fn request(contract: &Contract, server: &str, named: &NamedScenario) -> Result<RequestSpec, RunError> {
    let expect = contract.exchange(server, &named.name).map_or(&named.scenario.expect, |exchange| exchange.expect);
    let wanted = &named.scenario.request;
    let method = Method::named(&wanted.method).map_err(|error| RunError::Plan {
        key: format!("[scenarios.{}] method", named.name),
        message: error.to_string(),
    })?;
    let mut request = RequestSpec::new(method, &wanted.path).expecting(Check::status(expect.status));
    request.headers.extend(wanted.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    request.checks.extend(expect.headers.iter().map(|(name, value)| Check::header_is(name, value)));
    request.checks.extend(expect.body.as_ref().map(|body| match body {
        ExpectBody::Exact(text) => Check::body_is(text.as_bytes()),
        ExpectBody::Length { bytes } => Check::length(*bytes),
        ExpectBody::Same { same_as: SameAs::Request } => Check::body_is(&*wanted.body_bytes()),
    }));
    Ok(match &wanted.body {
        None => request,
        Some(body) => request.body(body.bytes()),
    })
}

/// Where the slices of this fork and scenario belong.
pub(crate) fn slot<'a>(named: &'a NamedScenario, place: &Place<'a>) -> Slot<'a> {
    Slot { group: place.group, scenario: &named.name, fork: place.fork }
}

/// A rate that people can read and type again: two significant digits.
fn two_digits(rate: f64) -> f64 {
    let scale = 10_f64.powi(rate.abs().max(1.0).log10().floor() as i32 - 1);
    (rate / scale).floor().max(1.0) * scale
}

#[cfg(test)]
mod tests {
    use super::two_digits;

    #[test]
    fn rates_have_two_significant_digits_and_never_exceed_the_share() {
        for (rate, rounded) in [(9437.0, 9400.0), (18_812.0, 18_000.0), (7.3, 7.3), (103.0, 100.0)] {
            assert!((two_digits(rate) - rounded).abs() < 1e-9, "{rate} became {}", two_digits(rate));
        }
    }
}
