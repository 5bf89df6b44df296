//! The question of a run, and how its servers differ: what is read first.

use tare_units::{distinct, enumerate, grouped_by};

use crate::plan::{Changes, Group, NamedScenario, Program, Role, Transport, TransportKeys, Variant};
use crate::suite::Suite;

/// How servers differ from those that they are like or stand in front of, in sentences: the first thing to know of such a comparison.
/// One sentence for all that speak the same.
pub(super) fn differences(suite: &Suite, groups: &[Group], jvm_options: &[String]) -> String {
    let with_group = groups.iter().flat_map(|group| group.variants.iter().map(move |variant| (group, variant)));
    let variants: Vec<(&Group, &Variant)> = with_group.filter(|(_, variant)| variant.role != Role::Control).collect();
    let sentences = distinct(variants.iter().flat_map(|(_, variant)| sentences_of(suite, variant, jvm_options)));
    let spoken = variants.iter().filter_map(|(group, variant)| {
        let transport = variant.program.transport();
        let text = || transport.text() + &where_stated(group);
        (transport != Transport::default()).then(|| (text(), variant.server.as_str()))
    });
    let spoken = grouped_by(spoken).into_iter().map(|(text, servers)| match distinct(servers).as_slice() {
        [one] => format!(" {one} speaks {text}."),
        many => format!(" These speak {text}: {}.", many.join(", ")),
    });
    sentences.into_iter().chain(spoken).collect()
}

/// What a server changes, and what it stands in front of.
fn sentences_of(suite: &Suite, variant: &Variant, jvm_options: &[String]) -> Vec<String> {
    let differs = match &variant.program {
        Program::CatalogLike { changes, .. } if *changes == Changes::default() => None,
        Program::CatalogLike { like, changes, .. } => Some(format!("is {like} with {}", changes.text(jvm_options))),
        _ => suite.servers.get(&variant.server).and_then(|server| server.differs.clone()),
    };
    let place = variant.upstream.as_ref().map(|upstream| format!("stands in front of {}", upstream.name));
    differs.into_iter().chain(place).map(|what| format!(" {} {what}.", variant.server)).collect()
}

/// In which scenarios it speaks so, where they say it.
fn where_stated(group: &Group) -> String {
    let states = |named: &&NamedScenario| named.scenario.transport_keys() != TransportKeys::default();
    let stating: Vec<String> = group.scenarios.iter().filter(states).map(|named| named.name.clone()).collect();
    if stating.is_empty() { String::new() } else { format!(" in {}", enumerate(&stating)) }
}

/// The question in words, for a run that states none.
pub(super) fn question(groups: &[Group]) -> String {
    let Some(group) = groups.first() else { return String::new() };
    let baseline = &group.baseline().name;
    let compared: Vec<&str> =
        group.variants.iter().filter(|v| v.role == Role::Compared).map(|v| v.name.as_str()).collect();
    match compared.as_slice() {
        [] if group.variants.len() > 1 => format!("How far does {baseline} differ from itself?"),
        [] => format!("How fast is {baseline}?"),
        [one] if groups.len() == 1 => format!("What does {one} cost on top of {baseline}?"),
        many if groups.len() == 1 => format!("What do {} cost on top of {baseline}?", many.join(", ")),
        _ => {
            let mut baselines: Vec<&str> = groups.iter().map(|g| g.baseline().name.as_str()).collect();
            baselines.dedup();
            format!("What do the layers cost on top of {}?", baselines.join(", "))
        }
    }
}
