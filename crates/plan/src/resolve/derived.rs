//! Settings that follow from the rest of a plan: the region that JVMs need, what earlier runs say, and the
//! declared number of forks.

use std::collections::BTreeSet;

use tare_stats::moderated::MIN_PRIOR_GROUPS;
use tare_stats::repeated::MAX_LOOKS;
use tare_stats::verdict::LARGE_TABLE;
use tare_units::Percent;

use super::Inputs;
use crate::choices::{GroupOrder, PriorUse};
use crate::earlier::{EarlierForks, EarlierSpread, RunConditions};
use crate::estimate::starts_within_budget;
use crate::plan::{Forks, Group, Mode, Plan, Program, Role, Setting, Source, Variant};
use crate::profile::ProfileEvent;

/// The default region of servers on JVMs: their starts differ by 2 to 3 %, so that ±2 % would take hours to decide.
const JVM_REGION: f64 = 0.05;

/// Fills in what neither suite nor flags state.
pub(super) fn derive(plan: &mut Plan, inputs: &Inputs<'_>) {
    let is_on_jvm = |variant: &Variant| match &variant.program {
        Program::Command(server) => server.starts_jvm(),
        Program::External { .. } => false,
        Program::Catalog | Program::CatalogIn { .. } | Program::CatalogLike { .. } => {
            inputs.inventory.get(variant.catalog_server()).is_some_and(|server| server.jvm)
        }
    };
    if plan.started().any(is_on_jvm) {
        widen_region(plan);
    } else {
        sample_cpu_alone(plan);
    }
    if !plan.started().any(|variant| variant.program.is_of_catalog()) {
        drop_focus_of_catalog(plan);
    }
    consult_earlier_runs(plan, inputs);
    state_how_comparisons_are_judged(plan);
    declare_forks(plan);
}

/// The focus of the catalog names frames of its servers.
fn drop_focus_of_catalog(plan: &mut Plan) {
    if let Some(setting) = default_of(plan, "focus") {
        setting.value.clear();
        plan.profile.iter_mut().for_each(|profile| profile.focus.clear());
    }
}

/// ±5 % where a server runs on a JVM and nothing else is asked for.
fn widen_region(plan: &mut Plan) {
    if let Some(setting) = default_of(plan, "region") {
        "5%".clone_into(&mut setting.value);
        plan.stop.region = JVM_REGION;
    }
}

/// Only the heap of a JVM can be sampled. Where no server says that it runs on one, profiles are of CPU, unless more is asked for.
fn sample_cpu_alone(plan: &mut Plan) {
    let Some(setting) = default_of(plan, "events") else { return };
    ProfileEvent::Cpu.name().clone_into(&mut setting.value);
    if let Some(profile) = &mut plan.profile {
        profile.events = vec![ProfileEvent::Cpu];
    }
}

/// The setting of this key, where neither suite nor flags state it.
fn default_of<'a>(plan: &'a mut Plan, key: &str) -> Option<&'a mut Setting> {
    plan.settings.iter_mut().find(|setting| setting.key == key && setting.source == Source::Default)
}

/// Takes spread and duration of forks from earlier runs of this machine, and lists the spreads by family and scenario.
fn consult_earlier_runs(plan: &mut Plan, inputs: &Inputs<'_>) {
    if plan.mode != Mode::Compared {
        return;
    }
    let place = RunConditions {
        machine: inputs.machine.identity.clone(),
        jdk: inputs.machine.jdk,
        server_cpus: plan.machine.server_cpus.clone(),
        scheduling: plan.machine.scheduling,
    };
    let scenarios = plan.groups.iter().flat_map(|group| {
        let family = group.baseline().family.as_str();
        group.scenarios.iter().map(move |scenario| (family, scenario.name.as_str()))
    });
    let mut scenarios: Vec<(&str, &str)> = scenarios.collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    let earlier = EarlierForks::of_runs(inputs.earlier, &place, &scenarios, plan.stop.prior);
    if plan.stop.prior == PriorUse::Auto && matches!(plan.stop.forks, Forks::UntilDecided { .. }) {
        let rows = prior_rows(&scenarios, &earlier);
        let at =
            plan.settings.iter().position(|setting| setting.key == "prior").map_or(plan.settings.len(), |at| at + 1);
        plan.settings.splice(at..at, rows);
    }
    plan.stop.earlier = earlier;
}

/// A row for each family, and one for each scenario that has spreads of its own.
fn prior_rows(scenarios: &[(&str, &str)], earlier: &EarlierForks) -> Vec<Setting> {
    let families = scenarios.iter().map(|(family, _)| (*family, None));
    let known = earlier.spreads.iter().map(|spread| (spread.of.family.as_str(), spread.of.scenario.as_deref()));
    let of: BTreeSet<(&str, Option<&str>)> = families.chain(known).collect();
    of.into_iter().map(|(family, scenario)| prior_row(family, scenario, earlier)).collect()
}

/// `prior of http4s: 31 earlier comparisons`, with the spread of each currency; of one scenario or of all together.
fn prior_row(family: &str, scenario: Option<&str>, earlier: &EarlierForks) -> Setting {
    let is_of = |spread: &&EarlierSpread| spread.of.family == family && spread.of.scenario.as_deref() == scenario;
    let spreads: Vec<&EarlierSpread> = earlier.spreads.iter().filter(is_of).collect();
    let most = spreads.iter().map(|spread| spread.comparisons).max().unwrap_or(0);
    let text = |spread: &&EarlierSpread| {
        let name = format!("{} ({})", spread.of.currency.facts().name, spread.of.load.name());
        let prior = spread.prior?;
        Some(format!("{name} {:.1} % like {:.0} forks", prior.sd * 100.0, prior.df + 1.0))
    };
    let priors: Vec<String> = spreads.iter().filter_map(text).collect();
    let value = if !priors.is_empty() {
        format!("{most} earlier comparisons")
    } else if most >= MIN_PRIOR_GROUPS as u32 {
        format!("none: {most} earlier comparisons are too unlike one another")
    } else {
        let others = "runs on another processor, JDK or cores, or scheduled otherwise, do not count";
        let elsewhere = Some(earlier.elsewhere).filter(|runs| *runs > 0).map(|runs| format!("; {others}: {runs}"));
        format!("none: {most} of {MIN_PRIOR_GROUPS} earlier comparisons{}", elsewhere.unwrap_or_default())
    };
    let meaning = match priors.as_slice() {
        [] => "intervals rest on the starts of this run alone".to_owned(),
        priors => format!("standard deviation between starts: {}", priors.join(", ")),
    };
    let of_scenario = scenario.map_or_else(String::new, |scenario| format!(", {scenario}"));
    Setting::new("stop", &format!("prior of {family}{of_scenario}"), value, Source::Default, &meaning)
}

/// One sentence of the plan on the rule that its comparisons are judged by.
fn state_how_comparisons_are_judged(plan: &mut Plan) {
    let compared = |group: &Group| group.variants.iter().filter(|one| one.role == Role::Compared).count();
    let comparisons: usize = plan.groups.iter().map(|group| compared(group) * group.scenarios.len()).sum();
    if plan.mode != Mode::Compared || comparisons == 0 {
        return;
    }
    let (value, meaning) = if comparisons < LARGE_TABLE as usize {
        ("one by one".to_owned(), format!("fewer than {LARGE_TABLE} comparisons share neither spread nor errors"))
    } else {
        let spread = match plan.stop.prior {
            PriorUse::Auto => "the spread of starts comes from all comparisons of a currency and a length of requests",
            PriorUse::Off => "each comparison by the spread of its own starts",
        };
        let alpha = Percent(plan.stop.alpha);
        let errors =
            format!("of the differences of one currency, {alpha} are false at most on average (Benjamini-Hochberg)");
        (format!("as a table of {comparisons}"), format!("{spread}; {errors}"))
    };
    plan.add_setting_of_stop(Setting::new("stop", "judged", value, Source::Default, &meaning));
}

/// As many forks as the budget is planned for, where no flag or suite says how many. It is fixed before anything is
/// measured, as the intervals depend on it.
fn declare_forks(plan: &mut Plan) {
    let affordable = starts_within_budget(plan);
    let is_for_another_budget = is_for_another_budget(plan);
    let Forks::UntilDecided { at_least, max_forks, .. } = &mut plan.stop.forks else { return };
    if plan.mode != Mode::Compared || (max_forks.is_some() && !is_for_another_budget) {
        return;
    }
    // A fork more than the time is enough for widens the intervals little. Listed groups would leave the last one short.
    let is_listed = plan.stop.order == GroupOrder::Listed && plan.groups.len() > 1;
    let whole = if is_listed { affordable.floor() } else { affordable.round() };
    let declared = (whole as u32).clamp(*at_least, MAX_LOOKS);
    *max_forks = Some(declared);
    plan.settings.retain(|setting| setting.key != "max_forks");
    let meaning = "starts that fit into the budget: the intervals are planned for as many";
    let setting = Setting::new("stop", "max_forks", declared.to_string(), Source::Default, meaning);
    plan.add_setting_of_stop(setting);
}

/// Whether the suite declares forks for its own budget, and a flag gives another one.
fn is_for_another_budget(plan: &Plan) -> bool {
    let is_from = |key: &str, source: Source| plan.settings.iter().any(|s| s.key == key && s.source == source);
    is_from("budget", Source::Flag) && is_from("max_forks", Source::Suite)
}
