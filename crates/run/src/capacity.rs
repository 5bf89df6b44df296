//! The search for the largest load that keeps a curve of latencies: tries of every server in turn, each as large as what its
//! tries before say.

use tare_plan::plan::SliceKind;
use tare_plan::slo::{LoadBy, Slo};
use tare_record::keeping::{keeps, search};
use tare_stats::CapacitySearch;

use crate::driver::Driver;
use crate::error::RunError;
use crate::slice::Order;

impl Driver<'_, '_, '_> {
    /// Searches with every healthy server, one try of each in turn, until each search is over.
    pub fn capacities(&mut self, slo: &Slo) -> Result<(), RunError> {
        let by = slo.by(&self.named.scenario);
        let mut searches: Vec<CapacitySearch> = self.fleet.members.iter().map(|_| search(slo, by)).collect();
        for round in 0.. {
            let mut tried = false;
            for (member, search) in searches.iter_mut().enumerate() {
                let Some(load) = search.next().filter(|_| self.may_drive(member)) else { continue };
                tried = true;
                self.announce(member, SliceKind::Capacity, (round + 1, round + 1), None);
                let order = self.trying(slo, round, load);
                if let Some(slice) = self.whole_slice(member, &order)? {
                    search.note(keeps(slo, slice));
                }
            }
            if !tried {
                break;
            }
        }
        Ok(())
    }

    /// The slice that tries a load.
    fn trying(&self, slo: &Slo, round: u32, load: f64) -> Order {
        let order = Order { length: slo.each.0, ..self.order(SliceKind::Capacity, round, 0.0) };
        // Each worker needs a connection.
        let least = self.trial.cores.load.len() as u32;
        match slo.by(&self.named.scenario) {
            LoadBy::Users => Order { users: (load.round() as u32).max(least), ..order },
            LoadBy::Rate => Order { rate_per_s: load, ..order },
        }
    }
}
