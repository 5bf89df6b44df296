//! From the profiles of a record to what people see of them: sentences, tables, flame graphs, and files for other tools.

mod sentence;
mod sides;
mod versions;
mod view;

use tare_plan::plan::{Group, Mode, NamedScenario, Variant};
use tare_plan::profile::ProfileEvent;
use tare_record::RunRecord;

use crate::summarize::summarize;
use crate::summary::{Profiles, Summary, Why};
use crate::words::headline::MOST_DIFFERENCES;

pub use sentence::cost;
pub use sides::Side;

/// Error probability of the intervals over profiled starts: their number is small and fixed before the run.
pub const ALPHA: f64 = 0.05;

/// The summary of a run with what its profiling starts showed: `profiled` is their record, for a record that has none itself.
pub fn summarize_with(record: &RunRecord, profiled: Option<&RunRecord>) -> Summary {
    let mut summary = summarize(record);
    let own = (record.header.plan.mode == Mode::Profiled).then_some(record);
    let profiles = own.or(profiled).map(|profiled| study_profiles(profiled, Some(&summary)));
    if let Some(answer) = profiles.as_ref().filter(|_| own.is_some()).and_then(answer) {
        summary.headline.text = answer;
    }
    summary.profiles = profiles;
    summary
}

/// The first sentence of each comparison; `None` where nothing was profiled beside a baseline.
fn answer(profiles: &Profiles) -> Option<String> {
    let sentences = profiles.whys.iter().filter_map(|why| Some(why.sentences.first()?.text.as_str()));
    let sentences: Vec<&str> = sentences.take(MOST_DIFFERENCES).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// What the profiles of `record` say. `scored` is the summary of the run whose differences they explain, where there is one.
///
/// A profile that cannot be read any more is left out; the record says so when it is opened.
pub fn study_profiles(record: &RunRecord, scored: Option<&Summary>) -> Profiles {
    let focus = record.header.plan.profile.as_ref().map(|profile| profile.focus.clone()).unwrap_or_default();
    let mut profiles = Profiles { focus, ..Profiles::default() };
    let plan = &record.header.plan;
    for (group, named) in plan.groups.iter().flat_map(|g| g.scenarios.iter().map(move |s| (g, s))) {
        for variant in &group.variants {
            of_variant(record, group, named, variant, scored, &mut profiles);
        }
    }
    profiles.versions = versions::across(record, &profiles.views);
    profiles
}

fn of_variant(
    record: &RunRecord,
    group: &Group,
    named: &NamedScenario,
    variant: &Variant,
    scored: Option<&Summary>,
    profiles: &mut Profiles,
) {
    let baseline = group.baseline();
    let against = (baseline.name != variant.name).then_some(baseline);
    let mut views = Vec::new();
    for &event in record.header.plan.profile.iter().flat_map(|profile| &profile.events) {
        let side = |of: &Variant| Side::of_variant(record, &group.id, &named.name, &of.name, event);
        let Some(own) = side(variant) else { continue };
        let other = against.and_then(side);
        views.push(view::view(&own, other.as_ref(), &profiles.focus));
    }
    if let Some(baseline) = against {
        let id = format!("{}/{}/{}", group.id, named.name, variant.name);
        let sentences = sentence::sentences(&id, &views, &baseline.name, scored);
        if !sentences.is_empty() {
            let (variant, baseline) = (variant.name.clone(), baseline.name.clone());
            profiles.whys.push(Why { id, scenario: named.name.clone(), variant, baseline, sentences });
        }
    }
    profiles.views.extend(views);
}

/// The unit of what an event counts.
fn unit(event: ProfileEvent) -> &'static str {
    if event == ProfileEvent::Alloc { "bytes" } else { "ns" }
}
