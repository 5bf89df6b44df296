//! Suite, flags and what exists become a plan: every choice is made here, and each says where it came from.

mod derived;
mod groups;
mod other_servers;
mod profile;
mod question;
mod requested;
mod spoken;

use crate::PlanError;
use crate::contract::Contract;
use crate::earlier::EarlierRun;
use crate::inventory::Inventory;
pub use crate::inventory::MachineFacts;
use crate::plan::{Mode, Plan};
use crate::profile::ProfileOptions;
use crate::settings::{Known, Options, resolve_settings};
use crate::suite::Suite;

#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    pub suite: &'a Suite,
    /// The flags, which win over the suite.
    pub flags: &'a Options,
    /// Flags of `tare profile`, which win over the suite's `[profile]`; they ask for profiling starts by themselves.
    pub profile: Option<&'a ProfileOptions>,
    pub inventory: &'a Inventory,
    /// The catalog's contract.
    pub contract: &'a Contract,
    pub machine: &'a MachineFacts,
    /// What earlier runs say, of this machine and of others.
    pub earlier: &'a [EarlierRun],
    pub fallback_seed: u64,
}

/// Makes the plan. Errors: [`PlanError`] for a name that matches nothing, a value that means nothing, or a choice that
/// leaves nothing to measure.
pub fn resolve_plan(inputs: &Inputs<'_>) -> Result<Plan, PlanError> {
    let mode = mode(inputs.flags).or_else(|| mode(&inputs.suite.run)).unwrap_or(Mode::Compared);
    let streams = inputs.suite.scenarios.values().filter(|scenario| scenario.is_event_stream());
    let (mut filled, values) = resolve_settings(Known {
        flags: inputs.flags,
        suite: &inputs.suite.run,
        suite_file: &inputs.suite.file,
        has_own_servers: !inputs.suite.servers.is_empty(),
        longest_stream: streams.filter_map(|scenario| Some(scenario.push.as_ref()?.span())).max(),
        inventory: inputs.inventory,
        machine: inputs.machine,
        fallback_seed: inputs.fallback_seed,
        mode,
        so_far: Options::default(),
    })?;
    let profile = profile::resolve(inputs, &mut filled.settings)?;
    let (groups, skipped) = groups::resolve(inputs, mode, &values, &mut filled.settings)?;
    let suite = inputs.suite.suite.name.clone().unwrap_or_else(|| stem(&inputs.suite.file));
    let question = inputs.suite.suite.question.clone().unwrap_or_else(|| question::question(&groups));
    let differences = question::differences(inputs.suite, &groups, &filled.machine.jvm_options);
    let mut plan = Plan {
        suite,
        question: format!("{question}{differences}"),
        groups,
        checks: inputs.suite.checks.clone(),
        skipped,
        profile,
        ..filled
    };
    spoken::check(&plan, inputs)?;
    spoken::list(&mut plan, inputs);
    derived::derive(&mut plan, inputs);
    Ok(plan)
}

/// `-d` alone asks for the articles' plain sequential run; forks, a budget, a precision or an A/A test ask for a comparison.
fn mode(options: &Options) -> Option<Mode> {
    let Options { forks, budget, precision, aa, slo, duration, .. } = options;
    let compares =
        [forks.is_some(), budget.is_some(), precision.is_some(), aa.is_some(), slo.is_some()].contains(&true);
    if compares { Some(Mode::Compared) } else { duration.map(|_| Mode::Sequential) }
}

fn stem(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    if stem.is_empty() { "command line".to_owned() } else { stem.to_owned() }
}

#[cfg(test)]
mod tests;
