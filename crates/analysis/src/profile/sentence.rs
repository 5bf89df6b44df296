//! The answer in two or three sentences: how much more, and under which methods it is.

use tare_plan::profile::ProfileEvent;

use crate::format::{Change, Unit, and, share, single};
use crate::summary::{Estimate, MovedFrame, NamedMethod, ProfileView, Summary, WhySentence};
use tare_plan::Currency;

/// A method with less than this part of its share in the variant counts as absent from the baseline.
const ABSENT: f64 = 0.05;

/// The sentences of one variant, from its views; none where nothing was profiled on both sides.
pub(super) fn sentences(id: &str, views: &[ProfileView], baseline: &str, scored: &Summary) -> Vec<WhySentence> {
    let of = |event: ProfileEvent| views.iter().find(|view| view.event == event && view.baseline.is_some());
    let mut all = Vec::new();
    if let Some(view) = of(ProfileEvent::Cpu) {
        all.push(costs(view, baseline, of_scored(id, scored)));
        all.extend(under(view));
    }
    all.extend(of(ProfileEvent::Alloc).map(allocates));
    all.extend([ProfileEvent::Wall, ProfileEvent::Lock].into_iter().filter_map(of).filter_map(under));
    all
}

/// What the scored slices said of the same comparison: `CPU/request: higher 8.1 % [7.2, 9.0]`.
fn of_scored(id: &str, scored: &Summary) -> Option<String> {
    let comparison = scored.comparisons.iter().find(|comparison| comparison.id == id)?;
    let currency = comparison.ratio_in(Currency::CpuPerRequest)?;
    Some(format!("scored: {} {}", currency.label, currency.short))
}

fn costs(view: &ProfileView, baseline: &str, scored: Option<String>) -> WhySentence {
    let text = match (view.per_request, view.baseline_per_request, view.difference_per_request) {
        (Some(whole), Some(beneath), Some(difference)) => {
            let change = Change { ratio: whole.value / beneath.value, bounds: None }.signed_interval();
            let scored = scored.map_or(String::new(), |scored| format!("; {scored}"));
            let more = if difference.value < 0.0 { "less" } else { "more" };
            format!(
                "{} uses {} of CPU per request, {} {more} than {baseline} ({change}{scored}).",
                view.variant,
                cost(view, whole.value),
                spread(view, difference),
            )
        }
        _ => format!("{} was profiled beside {baseline}.", view.variant),
    };
    about(view, text, &[])
}

fn under(view: &ProfileView) -> Option<WhySentence> {
    let named: Vec<&MovedFrame> = view.moved.iter().filter(|frame| frame.named).collect();
    let what = match view.event {
        ProfileEvent::Cpu => "Of its CPU",
        ProfileEvent::Wall => "Of its threads' time",
        ProfileEvent::Alloc => "Of its allocation",
        ProfileEvent::Lock => "Of its waiting for locks",
    };
    if named.is_empty() {
        let text = format!("{what}, no method that can be named takes more than in the baseline beyond its interval.");
        return (view.event == ProfileEvent::Cpu).then(|| about(view, text, &[]));
    }
    let parts: Vec<String> = named
        .iter()
        .map(|frame| {
            let absolute = view
                .per_request
                .map_or(String::new(), |whole| format!(", {}", cost(view, whole.value * frame.share.value)));
            format!("{} (±{}{absolute}) is under `{}`", share(frame.share.value), half_width(frame.share), frame.short)
        })
        .collect();
    let text = format!("{what}, {}, {}.", and(&parts), in_baseline(&named));
    Some(about(view, text, &named))
}

fn allocates(view: &ProfileView) -> WhySentence {
    let named: Vec<&MovedFrame> = view.moved.iter().filter(|frame| frame.named).collect();
    let parts: Vec<String> =
        named.iter().map(|frame| format!("{} in `{}`", cost(view, frame.difference.value), frame.short)).collect();
    let within = if parts.is_empty() { String::new() } else { format!(", of that {}", and(&parts)) };
    let text = match view.difference_per_request {
        Some(difference) => {
            let more = if difference.value < 0.0 { "less" } else { "more" };
            format!("It allocates {} {more} per request{within}.", spread(view, difference))
        }
        None => "How much it allocates per request is not known.".to_owned(),
    };
    about(view, text, &named)
}

fn in_baseline(named: &[&MovedFrame]) -> String {
    let absent = |frame: &&&MovedFrame| frame.baseline_share.value <= frame.share.value * ABSENT;
    match (named.iter().filter(absent).count(), named.len()) {
        (1, 1) => "which does not run in the baseline".to_owned(),
        (2, 2) => "neither of which runs in the baseline".to_owned(),
        (absent, all) if absent == all => "none of which runs in the baseline".to_owned(),
        _ => {
            let share_of = |frame: &&&MovedFrame| format!("{} of `{}`", share(frame.baseline_share.value), frame.short);
            let running: Vec<String> =
                named.iter().filter(|frame| !absent(frame)).map(|frame| share_of(&frame)).collect();
            format!("where the baseline has {}", and(&running))
        }
    }
}

fn about(view: &ProfileView, text: String, named: &[&MovedFrame]) -> WhySentence {
    let method = |frame: &&MovedFrame| NamedMethod { short: frame.short.clone(), name: frame.name.clone() };
    WhySentence { text, view: view.id.clone(), methods: named.iter().map(method).collect() }
}

fn half_width(estimate: Estimate) -> String {
    estimate.lo.zip(estimate.hi).map_or_else(|| "?".to_owned(), |(lo, hi)| share((hi - lo) / 2.0))
}

/// `6.9 % [6.1, 7.7]`, of a share.
pub fn interval(estimate: Estimate) -> String {
    let bounds = estimate.lo.zip(estimate.hi);
    let bounds = bounds.map(|(lo, hi)| format!(" [{:.1}, {:.1}]", lo.max(0.0) * 100.0, hi.min(1.0) * 100.0));
    format!("{:.1} %{}", estimate.value * 100.0, bounds.unwrap_or_default())
}

/// `8.2 µs`, `3.4 KB`, without a sign.
pub fn cost(view: &ProfileView, value: f64) -> String {
    single(if view.unit == "bytes" { Unit::Bytes } else { Unit::Nanos }, value.abs())
}

/// `8.2 µs [7.1, 9.3]`, of a difference whose direction is said in words.
fn spread(view: &ProfileView, difference: Estimate) -> String {
    let sign = if difference.value < 0.0 { -1.0 } else { 1.0 };
    let ends = difference.lo.zip(difference.hi).map(|(lo, hi)| if sign < 0.0 { (-hi, -lo) } else { (lo, hi) });
    let signed = |value: f64| if value < 0.0 { format!("−{}", cost(view, value)) } else { cost(view, value) };
    let interval = ends.map_or(String::new(), |(lo, hi)| format!(" [{}, {}]", signed(lo), signed(hi)));
    format!("{}{interval}", cost(view, difference.value))
}
