//! What follows from the rest of a plan once it is whole: the region that JVMs need and the declared number of forks.

use tare_stats::repeated::MAX_LOOKS;

use crate::estimate::starts_within_budget;
use crate::inventory::Inventory;
use crate::plan::{Forks, Mode, Plan, Setting, Source};

/// The default region of servers on JVMs: their starts differ by 2 to 3 %, so that ±2 % would take hours to decide.
const JVM_REGION: f64 = 0.05;

/// Fills in what no suite and no flag says.
pub(super) fn derive(plan: &mut Plan, inventory: &Inventory) {
    widen_region(plan, inventory);
    declare_forks(plan);
}

/// ±5 % where a server runs on a JVM and nothing else is asked for.
fn widen_region(plan: &mut Plan, inventory: &Inventory) {
    let mut variants = plan.groups.iter().flat_map(|group| &group.variants);
    if !variants.any(|variant| inventory.get(&variant.server).is_some_and(|server| server.jvm)) {
        return;
    }
    let is_region = |setting: &&mut Setting| setting.key == "region" && setting.source == Source::Default;
    if let Some(setting) = plan.settings.iter_mut().find(is_region) {
        plan.stop.region = JVM_REGION;
        "5%".clone_into(&mut setting.value);
    }
}

/// As many forks as the budget is planned for, where no flag or suite says how many. It is fixed before anything is measured, as the intervals depend on it.
fn declare_forks(plan: &mut Plan) {
    let affordable = starts_within_budget(plan);
    let Forks::UntilDecided { at_least, max_forks, .. } = &mut plan.stop.forks else { return };
    if plan.mode != Mode::Compared || max_forks.is_some() {
        return;
    }
    let declared = (affordable as u32).clamp(*at_least, MAX_LOOKS.max(*at_least));
    *max_forks = Some(declared);
    let setting = Setting {
        section: "stop".to_owned(),
        key: "max_forks".to_owned(),
        value: declared.to_string(),
        source: Source::Default,
        meaning: "declared starts, from budget and planned time of a start: intervals are narrowest up to it"
            .to_owned(),
    };
    let after = plan.settings.iter().rposition(|setting| setting.section == "stop");
    plan.settings.insert(after.map_or(plan.settings.len(), |at| at + 1), setting);
}
