//! The headline of a run. Of one comparison: what is decided, then what is open. Of several: a sentence for each of the
//! first three, and how many have each verdict.

use tare_plan::plan::{CommandServer, Mode, Plan, Program};
use tare_record::{EventName, RunRecord};

use crate::compare::Compared;
use crate::compare::wording::{bound_in_words, what_would_decide};
use crate::format::{Change, count, enumerate, sentence as with_full_stop, share};
use crate::summary::{Cell, Comparison, CurrencyRatio, Headline, Sentence, VerdictKind};
use crate::words::{VERDICTS, count_verdicts};
use tare_plan::Currency;

/// The most differences of one comparison, and the most comparisons, that have a sentence each.
pub(crate) const MOST_DIFFERENCES: usize = 3;

/// A comparison with its ratios in the order in which they are told; none where it is void.
struct Answer<'a> {
    comparison: &'a Comparison,
    ratios: Vec<&'a CurrencyRatio>,
}

/// The answer of these comparisons, which are all that were `compared` or one of them; `None` where there is none.
pub(crate) fn headline(comparisons: &[Comparison], compared: &Compared) -> Option<Headline> {
    let mut answers: Vec<Answer<'_>> = comparisons.iter().map(|comparison| Answer::of(comparison, compared)).collect();
    let place = |answer: &Answer<'_>| VERDICTS.iter().position(|(verdict, _)| *verdict == answer.verdict());
    // The difference that is certain, for the order of equal verdicts.
    let size = |answer: &Answer<'_>| answer.ratios.first().map_or(0.0, |lead| certain_log(lead));
    answers.sort_by(|a, b| place(a).cmp(&place(b)).then(size(b).total_cmp(&size(a))));
    let verdict = answers.first()?.verdict();
    let mut sentences = match answers.as_slice() {
        [only] => only.in_full(compared),
        several => leads(&several[..several.len().min(MOST_DIFFERENCES)], compared),
    };
    if answers.len() > MOST_DIFFERENCES {
        let verdicts: Vec<VerdictKind> = answers.iter().map(Answer::verdict).collect();
        sentences.push(format!("Of {} comparisons: {}.", answers.len(), count_verdicts(&verdicts)));
    }
    let is_biased = compared.is_control_alone && verdict.is_difference();
    sentences.extend(is_biased.then(|| "The two are identical, so this machine or tare favours one side.".to_owned()));
    let is_one_start = verdict == VerdictKind::NoInterval;
    sentences.extend(is_one_start.then(|| "One start gives no interval.".to_owned()));
    Some(Headline { text: sentences.join(" "), verdict })
}

/// The lead of each, and what would decide it, which is said once where it is the same for those that follow.
fn leads(answers: &[Answer<'_>], compared: &Compared) -> Vec<String> {
    let outlooks: Vec<Option<String>> = answers.iter().map(|answer| answer.outlook(compared)).collect();
    let mut sentences = Vec::new();
    for (at, answer) in answers.iter().enumerate() {
        sentences.push(answer.lead(compared));
        let is_said_later = outlooks.get(at + 1) == Some(&outlooks[at]);
        sentences.extend(outlooks[at].clone().filter(|_| !is_said_later));
    }
    sentences
}

pub(crate) fn sentence(comparison: &Comparison, compared: &Compared) -> Option<Sentence> {
    let Headline { text, verdict } = headline(std::slice::from_ref(comparison), compared)?;
    Some(Sentence { comparison: comparison.id.clone(), text, verdict })
}

pub(crate) fn without_comparison(plan: &Plan, cells: &[Cell]) -> Headline {
    let capacities = cells.iter().filter_map(|cell| Some(with_full_stop(&cell.capacity.as_ref()?.sentence)));
    let capacities: Vec<String> = capacities.take(MOST_DIFFERENCES).collect();
    let text = match (plan.mode, cells.len()) {
        (Mode::Profiled, _) => "This run was profiled. It has no scores.".to_owned(),
        (_, 0) => "Nothing was measured in this run.".to_owned(),
        _ if !capacities.is_empty() => capacities.join(" "),
        (_, n) => format!("{} measured, none of them compared with a baseline.", count(n as u64, "cell")),
    };
    Headline { text, verdict: VerdictKind::NoInterval }
}

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

/// The measure in a sentence: `CPU per request`, `p99 at half load`.
pub(crate) fn noun(ratio: &CurrencyRatio) -> &str {
    ratio.name.facts().noun.unwrap_or(&ratio.label)
}

/// `uses 6.9 % more CPU per request than http4s.Vanilla on SimpleGet [0.1, 14.1]`, and from a factor of three on
/// `uses 7.9 times the CPU per request of http4s.Vanilla on SimpleGet [6.9, 9.1]`.
pub(crate) fn difference(currency: Currency, label: &str, change: &Change, beside: Option<(&str, &str)>) -> String {
    let facts = currency.facts();
    let object = facts.objects[usize::from(change.ratio > 1.0)].replace("{}", label);
    let (size, interval) = change.size();
    let (size, object, than) = match size.strip_prefix('×') {
        Some(factor) => (format!("{factor} times the"), object.split_once(' ').map_or("", |(_, noun)| noun), "of"),
        None => (size, object.as_str(), "than"),
    };
    let beside = beside.map_or_else(String::new, |(baseline, scenario)| format!(" {than} {baseline} on {scenario}"));
    format!("{} {size} {object}{beside}{interval}", facts.verb)
}

/// The measures whose differences a headline states of this comparison, the strongest first.
pub(crate) fn told_differences(comparison: &Comparison) -> impl Iterator<Item = Currency> {
    let differences = in_order(comparison).into_iter().filter(|ratio| ratio.verdict.is_difference());
    differences.take(MOST_DIFFERENCES).map(|ratio| ratio.name)
}

impl<'a> Answer<'a> {
    fn of(comparison: &'a Comparison, compared: &Compared) -> Self {
        let is_void = compared.void.contains_key(&comparison.id);
        Self { comparison, ratios: if is_void { Vec::new() } else { in_order(comparison) } }
    }

    fn verdict(&self) -> VerdictKind {
        self.ratios.first().map_or(VerdictKind::Void, |lead| lead.verdict)
    }

    fn measures(&self, verdict: VerdictKind) -> Vec<String> {
        let alike = self.ratios.iter().filter(|ratio| ratio.verdict == verdict);
        alike.map(|ratio| noun(ratio).to_owned()).collect()
    }

    fn lead(&self, compared: &Compared) -> String {
        let Comparison { id, variant, baseline, .. } = self.comparison;
        let scenario = &self.comparison.scenario_among(&compared.comparisons);
        let (variant, baseline) = match compared.is_control_alone {
            true => (baseline, "a second start of itself"),
            false => (variant, baseline.as_str()),
        };
        let Some(lead) = self.ratios.first() else {
            let why = compared.void.get(id).map_or("nothing was measured", String::as_str);
            return format!("{variant} on {scenario} is void: {why}.");
        };
        let (change, region) = (lead.change(), share(compared.region));
        let differs = || difference(lead.name, &lead.label, &change, Some((baseline, scenario)));
        match lead.verdict {
            VerdictKind::NoMaterialDifference => {
                let measures = self.measures(lead.verdict);
                // It is judged by the interval at 2 α, and the one that is shown is wider.
                let is_inside = |(lo, hi): (f64, f64)| lo > 1.0 - compared.region && hi < 1.0 + compared.region;
                let interval = match change.bounds {
                    _ if measures.len() > 1 => String::new(),
                    Some(shown) if !is_inside(shown) => {
                        let narrow = share(1.0 - 2.0 * compared.alpha);
                        format!("{}; the {narrow} interval lies within ", change.signed_interval())
                    }
                    _ => change.signed_interval() + ", within ",
                };
                let told = format!("{} ({interval}±{region})", enumerate(&measures));
                format!("{variant} shows no material difference from {baseline} on {scenario} in {told}.")
            }
            VerdictKind::Inconclusive | VerdictKind::Void => {
                let so_far = lead.bound.map_or_else(|| change.signed_interval(), |of| bound_in_words(of, &change));
                let measure = noun(lead);
                format!("Not decided yet: {variant} against {baseline} on {scenario}, {measure} {so_far}.")
            }
            VerdictKind::NoInterval => format!("In one start each, {variant} {}.", differs()),
            VerdictKind::Worse | VerdictKind::Better => {
                let is_little = !lead.material && (lead.ratio - 1.0).abs() < compared.region;
                let note = is_little.then(|| format!(", perhaps less than the {region} that matters"));
                format!("{variant} {}{}.{}", differs(), note.unwrap_or_default(), self.cost(lead))
            }
        }
    }

    /// What would decide a lead that is open.
    fn outlook(&self, compared: &Compared) -> Option<String> {
        let is_open = |lead: &&&CurrencyRatio| matches!(lead.verdict, VerdictKind::Inconclusive | VerdictKind::Void);
        let lead = self.ratios.first().filter(is_open)?;
        let is_disturbed = compared.disturbed.contains(&self.comparison.id);
        Some(what_would_decide(lead, is_disturbed, compared.comparisons.len()))
    }

    /// ` That is +2.5 µs of CPU a request …` after a decided difference in CPU per request.
    fn cost(&self, ratio: &CurrencyRatio) -> String {
        let cost = self.comparison.cpu_cost.as_ref();
        let cost = cost.filter(|_| ratio.name == Currency::CpuPerRequest && ratio.verdict.is_decision());
        cost.map_or_else(String::new, |cost| format!(" That is {}.", cost.text))
    }

    /// The lead, then the other differences, what does not differ, and what is open.
    fn in_full(&self, compared: &Compared) -> Vec<String> {
        let mut sentences = leads(std::slice::from_ref(self), compared);
        let Some(lead) = self.ratios.first() else { return sentences };
        // Where the lead has no interval, no other measure states a difference, and they are told as the lead is.
        let is_told = |ratio: &&&CurrencyRatio| {
            ratio.verdict.is_difference() || [ratio.verdict, lead.verdict] == [VerdictKind::NoInterval; 2]
        };
        for ratio in self.ratios.iter().skip(1).filter(is_told).take(MOST_DIFFERENCES - 1) {
            let difference = difference(ratio.name, &ratio.label, &ratio.change(), None);
            sentences.push(format!("It {difference}.{}", self.cost(ratio)));
        }
        let within_region = format!(" (±{})", share(compared.region));
        for (verdict, before, after) in [
            (VerdictKind::NoMaterialDifference, "It shows no material difference in ", within_region.as_str()),
            (VerdictKind::Inconclusive, "Not decided yet: ", ""),
            (VerdictKind::NoInterval, "From one start, without an interval: ", ""),
        ] {
            let measures = self.measures(verdict);
            // The lead stands for all of its kind.
            if verdict != lead.verdict && !measures.is_empty() {
                sentences.push(format!("{before}{}{after}.", enumerate(&measures)));
            }
        }
        sentences
    }
}

/// The ratios of a comparison in the order in which they are told: differences before equality, the deciding measure before
/// throughput and the others, the median last, because no table has it; the surest first. One start states no more than
/// the lead.
fn in_order(comparison: &Comparison) -> Vec<&CurrencyRatio> {
    let place = |(at, ratio): &(usize, &CurrencyRatio)| match (ratio.verdict, ratio.name) {
        (verdict, _) if verdict.is_difference() && *at == 0 => 0,
        (verdict, Currency::Throughput) if verdict.is_difference() => 1,
        (verdict, Currency::LatencyP50) if verdict.is_difference() => 3,
        (verdict, _) if verdict.is_difference() => 2,
        (VerdictKind::NoMaterialDifference, _) => 4,
        _ if *at == 0 => 5,
        (VerdictKind::NoInterval, _) => 6,
        _ => 7,
    };
    let mut ratios: Vec<(usize, &CurrencyRatio)> = comparison.currencies.iter().enumerate().collect();
    ratios.sort_by(|a, b| place(a).cmp(&place(b)).then(certain_log(b.1).total_cmp(&certain_log(a.1))));
    ratios.into_iter().map(|(_, ratio)| ratio).collect()
}

/// The difference that even the end of the interval next to 1 shows, as a logarithm; 0 where no difference is stated,
/// so that such ratios keep their order.
fn certain_log(ratio: &CurrencyRatio) -> f64 {
    let log = |end: Option<f64>| end.unwrap_or(ratio.ratio).ln().abs();
    let is_stated = !matches!(ratio.verdict, VerdictKind::NoMaterialDifference | VerdictKind::Inconclusive);
    if is_stated { log(ratio.lo).min(log(ratio.hi)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn ratio(name: &str, verdict: &str, (ratio, lo, hi): (f64, f64, f64)) -> serde_json::Value {
        serde_json::json!({
            "name": name, "load": "saturating", "label": name, "unit": "ns", "higher_is_better": false,
            "baseline_value": 100.0, "variant_value": 110.0, "ratio": ratio, "lo": lo, "hi": hi, "method": "Student t",
            "forks": 3, "sd_forks": 0.1, "fork_ratios": [], "fork_numbers": [], "verdict": verdict, "material": false, "short": "",
            "reason": null, "needed_s": null,
        })
    }

    fn comparison(scenario: &str, currencies: &[serde_json::Value]) -> Comparison {
        let comparison = serde_json::json!({
            "id": scenario, "group": "g", "scenario": scenario, "variant": "layer", "baseline": "bare",
            "cell": "layer", "baseline_cell": "bare", "odd_forks": [], "currencies": currencies,
        });
        serde_json::from_value(comparison).expect("a comparison")
    }

    fn of(comparisons: &[Comparison]) -> Headline {
        let void = BTreeMap::from([("Void".to_owned(), "it died".to_owned())]);
        let compared = Compared {
            comparisons: Vec::new(),
            noise: Vec::new(),
            void,
            disturbed: BTreeSet::new(),
            region: 0.02,
            alpha: 0.05,
            is_control_alone: false,
        };
        headline(comparisons, &compared).expect("a headline")
    }

    #[test]
    fn a_difference_that_is_certain_may_still_be_too_little_to_matter() {
        let said =
            |value: f64| of(&[comparison("Get", &[ratio("cpu_per_request", "worse", (value, 1.003, 1.036))])]).text;
        assert!(said(1.019).ends_with("[0.3, 3.6], perhaps less than the 2 % that matters."), "{}", said(1.019));
        assert!(!said(1.03).contains("matters"), "{}", said(1.03));
    }

    #[test]
    fn an_interval_that_reaches_beyond_the_region_is_not_said_to_lie_within_it() {
        let same = |lo| ratio("cpu_per_request", "no_material_difference", (0.999, lo, 1.012));
        let said = |lo: f64| of(&[comparison("Get", &[same(lo)])]).text;
        assert!(said(0.985).ends_with("(−0.1 % [−1.5, +1.2], within ±2 %)."), "{}", said(0.985));
        let beyond = "(−0.1 % [−2.4, +1.2]; the 90 % interval lies within ±2 %).";
        assert!(said(0.976).ends_with(beyond), "{}", said(0.976));
    }

    #[test]
    fn a_factor_of_three_or_more_is_no_percentage() {
        let said = |name| of(&[comparison("Get", &[ratio(name, "worse", (7.89, 6.9, 9.12))])]).text;
        assert_eq!(said("cpu_per_request"), "layer uses 7.9 times the CPU per request of bare on Get [6.9, 9.1].");
        assert_eq!(
            said("allocated_per_request"),
            "layer allocates 7.9 times the bytes per request of bare on Get [6.9, 9.1]."
        );
        assert_eq!(said("latency_p99"), "layer has 7.9 times the latency_p99 of bare on Get [6.9, 9.1].");
    }

    #[test]
    fn several_comparisons_have_a_sentence_each_and_many_are_counted() {
        let get = comparison("Get", &[ratio("cpu_per_request", "worse", (1.1, 1.08, 1.12))]);
        let post = comparison("Post", &[ratio("cpu_per_request", "worse", (1.2, 1.18, 1.22))]);
        let same = comparison("Put", &[ratio("cpu_per_request", "no_material_difference", (1.0, 0.99, 1.01))]);
        let open = comparison("Head", &[ratio("cpu_per_request", "inconclusive", (1.0, 0.9, 1.1))]);
        let void = comparison("Void", &[]);
        let two = "layer uses 20 % more CPU per request than bare on Post [18, 22]. \
                   layer uses 10 % more CPU per request than bare on Get [8, 12].";
        let few = of(&[get.clone(), void.clone(), post.clone()]);
        assert_eq!(few.text.replace(".0", ""), format!("{two} layer on Void is void: it died."));
        let many = of(&[get, open, same, void, post]);
        assert!(many.text.replace(".0", "").starts_with(two), "{}", many.text);
        let counted = "Of 5 comparisons: 2 worse, 1 no material difference, 1 not decided, 1 void.";
        assert!(many.text.ends_with(counted), "{}", many.text);
    }

    #[test]
    fn a_percentile_from_one_start_is_no_difference() {
        let deciding = ratio("cpu_per_request", "worse", (1.1, 1.08, 1.12));
        let mut p99 = ratio("latency_p99", "no_interval", (2.0, 1.0, 1.0));
        (p99["lo"], p99["hi"]) = (serde_json::Value::Null, serde_json::Value::Null);
        let said = of(&[comparison("Get", &[deciding, p99])]).text;
        assert!(said.ends_with(" From one start, without an interval: latency_p99."), "{said}");
    }

    #[test]
    fn throughput_is_said_before_stronger_differences_and_the_median_after_weaker_ones() {
        let measured = [
            ("cpu_per_request", 1.1),
            ("allocated_per_request", 1.4),
            ("latency_p50", 1.6),
            ("latency_p99", 1.2),
            ("throughput", 0.95),
        ];
        let ratios = measured.map(|(name, value)| ratio(name, "worse", (value, value, value)));
        let compared = comparison("Get", &ratios);
        let order: Vec<&str> = in_order(&compared).into_iter().map(|ratio| ratio.name.facts().name).collect();
        assert_eq!(order, ["cpu_per_request", "throughput", "allocated_per_request", "latency_p99", "latency_p50"]);
    }
}
