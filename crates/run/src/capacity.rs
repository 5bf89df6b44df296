//! The search for the largest load that keeps a curve of latencies: tries of every server in turn, each as large as what its
//! tries before say.

use tare_load::LoadSession;
use tare_plan::plan::{NamedScenario, SliceKind};
use tare_plan::slo::{LoadBy, Slo};
use tare_record::keeping::{keeps, search};
use tare_record::sample::Phase;
use tare_stats::CapacitySearch;

use crate::error::RunError;
use crate::fleet::Fleet;
use crate::fork::{Trial, slot};
use crate::journal::Journal;
use crate::progress::{Place, Progress};
use crate::slice::{Order, drive};

impl Trial<'_> {
    /// Searches with every healthy server, one try of each in turn, until each search is over.
    pub fn capacities(
        &self,
        fleet: &mut Fleet<'_>,
        sessions: &mut [LoadSession],
        named: &NamedScenario,
        slo: &Slo,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), RunError> {
        let by = slo.by(&named.scenario);
        let mut searches: Vec<CapacitySearch> = fleet.members.iter().map(|_| search(slo, by)).collect();
        let mut round = 0;
        loop {
            let mut tried = false;
            for (index, search) in searches.iter_mut().enumerate() {
                let Some(load) = search.next().filter(|_| fleet.members[index].healthy) else { continue };
                if self.cancel.is_cancelled() {
                    return Ok(());
                }
                tried = true;
                let at = Try { index, round, load };
                if let Some(kept) = self.attempt(fleet, &mut sessions[index], named, slo, at, place, journal)? {
                    search.note(kept);
                }
            }
            if !tried {
                return Ok(());
            }
            round += 1;
        }
    }

    /// One try; `None` where it was cut short.
    #[allow(clippy::too_many_arguments, reason = "one slice needs the whole scene; a struct would only rename it")]
    fn attempt(
        &self,
        fleet: &mut Fleet<'_>,
        session: &mut LoadSession,
        named: &NamedScenario,
        slo: &Slo,
        at: Try,
        place: &Place<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<Option<bool>, RunError> {
        let plan = self.yard.plan;
        let member = &mut fleet.members[at.index];
        journal.show(&Progress::Measuring {
            place: *place,
            scenario: &named.name,
            variant: &member.variant.name,
            kind: SliceKind::Capacity,
            slice: at.round + 1,
            slices: at.round + 1,
            last_per_s: None,
        });
        let (by, workers) = (slo.by(&named.scenario), self.cores.load.len() as u32);
        let order = Order {
            kind: SliceKind::Capacity,
            phase: Phase::Measure,
            round: at.round,
            // Each worker needs a connection.
            users: if by == LoadBy::Users { (at.load.round() as u32).max(workers) } else { plan.load.users },
            rate_per_s: if by == LoadBy::Rate { at.load } else { 0.0 },
            length: slo.each.0,
            discard: plan.slices.discard.0,
            seed: plan.seed ^ (u64::from(place.fork) << 32) ^ u64::from(at.round),
            sending: self.cores.sending(SliceKind::Poisson, plan.load.spin),
        };
        let slice = drive(member, session, &order, slot(named, place), plan, &self.cancel, journal)?;
        if self.cancel.is_cancelled() {
            return Ok(None);
        }
        let (kept, answered) = (keeps(slo, &slice.clone().pack()), slice.ok > 0);
        journal.slice(slice)?;
        member.check_health(answered, place, &named.name, journal)?;
        Ok(Some(kept))
    }
}

/// Which try of which server, and with how much.
#[derive(Clone, Copy)]
struct Try {
    index: usize,
    round: u32,
    load: f64,
}
