//! What a run leaves for later plans: how much its forks scattered, and how long they took. It is kept beside the
//! record, so that a plan need not read whole records.

use std::collections::BTreeMap;
use std::path::Path;

use tare_plan::earlier::{EarlierRun, ForkSpread, MIN_EARLIER_FORKS, RunConditions, SpreadOf};
use tare_plan::estimate::fork_time_taken;
use tare_plan::plan::{Group, Mode};
use tare_record::RunRecord;

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
    let means_s = means_s(record);
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

/// Mean time in seconds of one fork of each group, until the first slice of the next fork of any group. The last fork
/// of a record counts only where the group has no other: from its first slice to its last, and the start of its
/// servers.
pub(crate) fn means_s(record: &RunRecord) -> BTreeMap<String, f64> {
    let mut spans = BTreeMap::<(&str, u32), (u64, u64)>::new();
    for slice in &record.slices {
        let (begin, end) = (slice.load.window_start_ns(), slice.load.window_end_ns());
        let span = spans.entry((&slice.key.group, slice.key.fork)).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }
    let mut forks: Vec<(&str, u32, u64, u64)> =
        spans.into_iter().map(|((g, f), (from, to))| (g, f, from, to)).collect();
    forks.sort_by_key(|(_, _, from, _)| *from);
    let mut spans_ns = BTreeMap::<&str, Vec<u64>>::new();
    for pair in forks.windows(2) {
        spans_ns.entry(pair[0].0).or_default().push(pair[1].2 - pair[0].2);
    }
    if let Some(&(group, fork, from, to)) = forks.last() {
        let startups = record.forks.iter().filter(|f| f.group == group && f.fork == fork).map(|f| f.startup_ns);
        spans_ns.entry(group).or_insert_with(|| vec![to - from + startups.max().unwrap_or(0)]);
    }
    let mean_s = |spans_ns: Vec<u64>| spans_ns.iter().sum::<u64>() as f64 / 1e9 / spans_ns.len() as f64;
    spans_ns.into_iter().map(|(group, spans_ns)| (group.to_owned(), mean_s(spans_ns))).collect()
}
