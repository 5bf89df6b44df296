//! What a run leaves for later plans: how much its forks scattered, and how long they took. It is kept beside the
//! record, so that a plan need not read whole records.

use std::path::Path;

use tare_plan::earlier::{EarlierRun, ForkSpread, MIN_EARLIER_FORKS, RunConditions, SpreadOf};
use tare_plan::estimate::fork_time_taken;
use tare_plan::plan::{Group, Mode};
use tare_record::RunRecord;

use crate::compare::fork_time;
use crate::summary::{CurrencyRatio, Summary};

pub const EARLIER_FILE: &str = "forks.json";

pub fn of_run(record: &RunRecord, summary: &Summary) -> Option<EarlierRun> {
    let plan = &record.header.plan;
    if plan.mode != Mode::Compared {
        return None;
    }
    let environment = &record.header.environment;
    let place = RunConditions {
        machine: environment.machine_identity(),
        jdk: environment.jdk_release(),
        server_cpus: plan.machine.server_cpus.clone(),
        scheduling: plan.machine.scheduling,
    };
    let means_s = fork_time::means_s(record);
    let time = |group: &Group| Some(fork_time_taken(plan, group, *means_s.get(&group.id)?));
    Some(EarlierRun { place, spreads: spreads(summary), fork_times: plan.groups.iter().filter_map(time).collect() })
}

/// What the run in this folder left for later plans; `None` if it left nothing that can be read.
pub fn read(run_dir: &Path) -> Option<EarlierRun> {
    serde_json::from_slice(&std::fs::read(run_dir.join(EARLIER_FILE)).ok()?).ok()
}

/// All comparisons of a summary, and its controls where they are not the comparisons themselves.
fn spreads(summary: &Summary) -> Vec<ForkSpread> {
    let family = |group: &str| summary.cells.iter().find(|c| c.group == group && c.baseline).map(|c| c.family.as_str());
    let compared = summary.comparisons.iter().map(|c| (c.group.as_str(), c.scenario.as_str(), &c.currencies));
    let is_compared = |group: &str, currencies: &[CurrencyRatio]| {
        summary.comparisons.iter().any(|c| c.group == group && c.currencies == currencies)
    };
    let controls = summary.noise.iter().map(|n| (n.group.as_str(), n.scenario.as_str(), &n.currencies));
    let all = compared.chain(controls.filter(|(group, _, currencies)| !is_compared(group, currencies)));
    all.filter_map(|(group, scenario, currencies)| Some((family(group)?, scenario, currencies)))
        .flat_map(|(family, scenario, currencies)| currencies.iter().filter_map(|one| spread(family, scenario, one)))
        .collect()
}

fn spread(family: &str, scenario: &str, currency: &CurrencyRatio) -> Option<ForkSpread> {
    let sd = currency.sd_forks.filter(|_| currency.forks >= MIN_EARLIER_FORKS && currency.is_known())?;
    let of = SpreadOf::of_scenario(family, scenario, currency.name, currency.load);
    Some(ForkSpread { of, sd, forks: currency.forks })
}
