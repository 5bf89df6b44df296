//! Whether anything shows that two servers differ at all: a variable that no program reads makes two of the same.

use tare_plan::plan::{CommandServer, Program};
use tare_record::{EventName, RunRecord};

use crate::format::enumerate;
use crate::summary::{Comparison, VerdictKind};

/// Of the first comparison without a material difference whose servers differ in variables alone and answered alike.
pub(crate) fn unread_variable(record: &RunRecord, comparisons: &[Comparison]) -> Option<String> {
    let same = |c: &&Comparison| c.currencies.first().is_some_and(|c| c.verdict == VerdictKind::NoMaterialDifference);
    comparisons.iter().filter(same).find_map(|comparison| {
        // Servers of the suite that tare started without others behind them.
        let command = |name: &str| match &record.header.plan.variant(&comparison.group, name)?.program {
            Program::Command(server) => Some(&**server),
            _ => None,
        };
        let (layer, bare) = (command(&comparison.variant)?, command(&comparison.baseline)?);
        let others = CommandServer { env: bare.env.clone(), baseline: None, kind: None, ..layer.clone() };
        let is_same_program = others == CommandServer { baseline: None, kind: None, ..bare.clone() };
        let changed = layer.env.iter().filter(|(name, value)| bare.env.get(*name) != Some(value));
        let removed = bare.env.iter().filter(|(name, _)| !layer.env.contains_key(*name));
        let names: Vec<String> = changed.chain(removed).map(|(name, _)| name.clone()).collect();
        let has_other_headers = record.events.iter().any(|event| {
            event.kind.name() == EventName::HeadersDiffer && event.is_about(&comparison.group, &comparison.variant)
        });
        (is_same_program && !names.is_empty() && !has_other_headers).then(|| {
            format!(
                "Only {} differs between {} and {}, and they answered alike in every header: nothing shows that their program \
                 reads it.",
                enumerate(&names),
                comparison.variant,
                comparison.baseline
            )
        })
    })
}
