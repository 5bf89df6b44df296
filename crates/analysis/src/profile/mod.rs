//! From the profiles of a record to what people see of them: sentences, tables, flame graphs, and files for other tools.

mod layer;
mod sentence;
mod sides;
mod touched;
mod view;

use tare_plan::plan::{Group, Mode, NamedScenario, Variant};
use tare_plan::profile::ProfileEvent;
use tare_record::{EventKind, EventRecord, RunRecord};

use crate::format;
use crate::summarize::summarize;
use crate::summary::{Profiles, Summary, Why, WhySentence};
use crate::words::headline::MOST_DIFFERENCES;
use layer::{Focus, has_layer};

pub use layer::{BETWEEN_STARTS, first_answers};
pub use sentence::{cost, interval};
pub use sides::Side;
pub use touched::no_sample_in;

/// Error probability of the intervals over profiled starts: their number is small and fixed before the run.
pub const ALPHA: f64 = 0.05;

/// The summary of a run with what its profiling starts showed: `profiled` is their record, for a record that has none itself.
pub fn summarize_with(record: &RunRecord, profiled: Option<&RunRecord>) -> Summary {
    let mut summary = summarize(record);
    let own = (record.header.plan.mode == Mode::Profiled).then_some(record);
    let profiles = own.or(profiled).map(|profiled| study_profiles(profiled, &summary));
    if let Some(answer) = profiles.as_ref().filter(|_| own.is_some()).and_then(answer) {
        summary.headline.text = answer;
    }
    summary.profiles = profiles;
    summary
}

/// The first sentence of each server; `None` where there is nothing to say.
fn answer(profiles: &Profiles) -> Option<String> {
    let sentences = profiles.whys.iter().filter_map(|why| Some(why.sentences.first()?.text.as_str()));
    let sentences: Vec<&str> = sentences.take(MOST_DIFFERENCES).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// What the profiles of `record` say of the differences of a run. One that cannot be read, or holds no samples, is left
/// out, and a sentence says so.
fn study_profiles(record: &RunRecord, scored: &Summary) -> Profiles {
    let plan = &record.header.plan;
    let pattern = plan.profile.as_ref().map(|profile| profile.focus.clone()).unwrap_or_default();
    let mut profiles = Profiles { focus: pattern, ..Profiles::default() };
    let focus = Focus::of_plan(plan);
    for (group, named) in plan.groups.iter().flat_map(|g| g.scenarios.iter().map(move |s| (g, s))) {
        for variant in &group.variants {
            of_variant(record, group, named, variant, focus.as_ref(), scored, &mut profiles);
        }
    }
    profiles.versions = view::across_versions(record, &profiles.views);
    profiles
}

fn of_variant(
    record: &RunRecord,
    group: &Group,
    named: &NamedScenario,
    variant: &Variant,
    focus: Option<&Focus>,
    scored: &Summary,
    profiles: &mut Profiles,
) {
    let baseline = group.baseline();
    let against = (baseline.name != variant.name).then_some(baseline);
    let (mut views, mut of_layer, mut left_out) = (Vec::new(), None, Vec::new());
    for &event in record.header.plan.profile.iter().flat_map(|profile| &profile.events) {
        let side = |of: &Variant| Side::of_variant(record, &group.id, &named.name, &of.name, event);
        let own = Side::read(record, &group.id, &named.name, &variant.name, event);
        let said = |starts: String| format!("{} has no usable {} profile of {starts}.", variant.name, event.name());
        left_out.extend(own.left_out().map(said));
        if own.records.is_empty() {
            continue;
        }
        let other = against.and_then(side);
        views.push(view::view(&own, other.as_ref(), focus.map(|focus| &focus.frames)));
        if event == ProfileEvent::Cpu && has_layer(group, variant) {
            of_layer = focus.and_then(|focus| focus.sentence(&own, other.as_ref()));
        }
    }
    let id = format!("{}/{}/{}", group.id, named.name, variant.name);
    let mut sentences = against.map_or_else(Vec::new, |one| sentence::sentences(&id, &views, &one.name, scored));
    if views.is_empty() {
        of_layer = why_none(record, group, variant, named);
    }
    // What the whole costs comes first.
    let place = sentences.len().min(1);
    let plain = |text| WhySentence { text, ..WhySentence::default() };
    sentences.splice(place..place, of_layer.map(plain));
    sentences.extend(left_out.into_iter().map(plain));
    if !sentences.is_empty() {
        let (variant, baseline) = (variant.name.clone(), against.map(|baseline| baseline.name.clone()));
        profiles.whys.push(Why { id, scenario: named.name.clone(), variant, baseline, sentences });
    }
    profiles.views.extend(views);
}

/// That a server was not profiled, with the reason that its sampler gave.
fn why_none(record: &RunRecord, group: &Group, variant: &Variant, named: &NamedScenario) -> Option<String> {
    let is_here =
        |event: &&EventRecord| event.is_about(&group.id, &variant.name) && event.scenario.as_ref() == Some(&named.name);
    let reason = record.events.iter().filter(is_here).find_map(|event| match &event.kind {
        EventKind::ProfileFailed { reason } => Some(reason),
        _ => None,
    });
    reason.map(|reason| format!("{} was not profiled: {}", variant.name, format::sentence(reason)))
}
