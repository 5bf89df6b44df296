//! One fork of one group: start all, verify, and for each scenario warm up and measure; stop all.

use std::collections::BTreeMap;

use tare_load::Cancel;
use tare_plan::plan::{Group, Mode, NamedScenario};

use crate::cores::Cores;
use crate::driver::Driver;
use crate::error::RunError;
use crate::fleet::{Fleet, Yard};
use crate::journal::Journal;
use crate::order;
use crate::progress::Place;

/// Everything that stays the same from fork to fork.
pub(crate) struct Trial<'a> {
    pub yard: Yard<'a>,
    pub cores: Cores,
    pub cancel: Cancel,
    /// Rate of the open slices by group and scenario, once it is known.
    pub rates: BTreeMap<(String, String), f64>,
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
        let plan = self.yard.plan;
        let mut driver = Driver::open(self, fleet, named, place, journal)?;
        if let Some(push) = &named.scenario.push {
            return driver.pushed(push);
        }
        driver.warm_up()?;
        if let Some(slo) = &plan.slo {
            return driver.capacities(slo);
        }
        let possible = driver.settle()?;
        // The first fork fixes the rate: forks are compared at one rate.
        let key = (place.group.to_owned(), named.name.clone());
        let rate_per_s = self.rates.get(&key).copied().or(possible);
        if plan.mode == Mode::Profiled {
            driver.profile(rate_per_s)?;
        } else {
            driver.rounds(rate_per_s)?;
        }
        self.rates.extend(rate_per_s.map(|rate_per_s| (key, rate_per_s)));
        Ok(())
    }
}
