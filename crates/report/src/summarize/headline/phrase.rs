//! Turns facts into English clauses: the first with subject and verb, the others shorter.

use super::coverage::{AllComparisons, Coverage};
use super::fact::Fact;
use super::region_in_words;
use crate::format::{Change, capital, fixed, share};
use crate::summary::CurrencyRatio;

/// The known facts in one sentence, the first difference in full.
pub(super) fn known_sentence(facts: &[Fact<'_>], most: usize, compared: &AllComparisons, region: f64) -> String {
    let (differences, same): (Vec<&Fact<'_>>, Vec<&Fact<'_>>) = facts.iter().partition(|fact| fact.is_difference());
    let Some((lead, others)) = differences.split_first() else { return equivalence_sentence(&same, compared, region) };
    let others = &others[..others.len().min(most - 1)];
    let mut clauses = vec![full_clause(lead, compared) + &immaterial_note(lead, region)];
    clauses.extend(others.iter().map(|fact| short_clause(fact, lead, compared)));
    if let Some(first) = same.first() {
        let place = place_if_different(
            &compared.cover_by_name(&first.comparisons()),
            &compared.cover_by_name(&lead.comparisons()),
        );
        let verb = if distinct_nouns(&same).len() > 1 { "show" } else { "shows" };
        let nouns = list(&distinct_nouns(&same));
        clauses.push(format!("{nouns} {verb} no material difference ({}){place}", region_in_words(region)));
    }
    capital_unless_name(&clauses.join("; ")) + "."
}

/// A note on a difference that is certain, but whose estimates lie in the region of practical equivalence.
fn immaterial_note(fact: &Fact<'_>, region: f64) -> String {
    let is_little = fact.items.iter().all(|(_, ratio)| !ratio.material && (ratio.ratio - 1.0).abs() < region);
    if is_little { format!(", perhaps less than the {} that matters", share(region)) } else { String::new() }
}

/// Figures without intervals.
pub(super) fn single_start_figures(facts: &[Fact<'_>], most: usize, compared: &AllComparisons) -> String {
    let Some((lead, others)) = facts.split_first() else { return "Nothing was compared.".to_owned() };
    let clauses: Vec<String> = std::iter::once(full_clause(lead, compared))
        .chain(others.iter().take(most - 1).map(|fact| short_clause(fact, lead, compared)))
        .collect();
    format!("In one start each, {}. One start gives no interval.", clauses.join("; "))
}

/// `Throughput and p99 at half load are not decided yet.`, or with measures that are open for other comparisons:
/// `Not decided yet: p99 at half load; throughput in 2 of 3 comparisons.`
pub(super) fn open_sentence(facts: &[Fact<'_>], compared: &AllComparisons) -> Option<String> {
    let mut clauses: Vec<(Coverage, Vec<&Fact<'_>>)> = Vec::new();
    for fact in facts {
        let place = compared.cover_by_name(&fact.comparisons());
        match clauses.iter_mut().find(|(known, _)| *known == place) {
            Some((_, same)) => same.push(fact),
            None => clauses.push((place, vec![fact])),
        }
    }
    let place = |(cover, facts): &(Coverage, Vec<&Fact<'_>>)| {
        let is_everywhere = facts.first().is_some_and(|fact| fact.items.len() == compared.len());
        if is_everywhere { String::new() } else { subject_and_place(cover) }
    };
    match clauses.as_slice() {
        [] => None,
        [one] => {
            let nouns = distinct_nouns(&one.1);
            let verb = if nouns.len() > 1 { "are" } else { "is" };
            Some(format!("{} {verb} not decided yet{}.", capital(&list(&nouns)), place(one)))
        }
        several => {
            let clause = |one: &(Coverage, Vec<&Fact<'_>>)| format!("{}{}", list(&distinct_nouns(&one.1)), place(one));
            Some(format!("Not decided yet: {}.", several.iter().map(clause).collect::<Vec<_>>().join("; ")))
        }
    }
}

/// `http4s.TapirInterceptor on SimpleGet has one start, which gives no interval.`
pub(super) fn single_start_sentence(facts: &[Fact<'_>], compared: &AllComparisons) -> Option<String> {
    let place = compared.cover_by_name(&facts.iter().find(|fact| fact.is_deciding)?.comparisons());
    let verb = if place.is_plural { "have" } else { "has" };
    Some(capital(&format!("{}{} {verb} one start, which gives no interval.", place.subject, place.place)))
}

/// The parts of a fact that get a figure of their own: one for each of a few variants, because a figure of two layers would be
/// true of neither.
fn parts_by_variant<'a>(fact: &Fact<'a>, compared: &AllComparisons) -> Vec<(Fact<'a>, Coverage)> {
    let covered = |fact: Fact<'a>| {
        let cover = compared.cover_by_name(&fact.comparisons());
        (fact, cover)
    };
    let whole = covered(fact.clone());
    if whole.1.is_counted {
        return vec![whole];
    }
    let parts: Vec<(Fact<'a>, Coverage)> = fact.by_variant().into_iter().map(covered).collect();
    let have_one_baseline = parts.windows(2).all(|pair| pair[0].1.baseline == pair[1].1.baseline);
    if have_one_baseline { parts } else { vec![whole] }
}

/// `http4s.Tapir uses 6.9 % more CPU per request than http4s.Vanilla on SimpleGet [0.1, 14.1]`.
fn full_clause(fact: &Fact<'_>, compared: &AllComparisons) -> String {
    let parts = parts_by_variant(fact, compared);
    let Some(((lead, leading), others)) = parts.split_first() else { return String::new() };
    let (value, interval) = leading_figure(lead);
    let (verb, object) = (verb(lead, leading), object(lead));
    let Coverage { subject, baseline, place, .. } = leading;
    let first = format!("{subject} {verb} {value} {object} than {baseline}{place}{interval}");
    if others.is_empty() {
        return first;
    }
    let beside_lead = |(own, cover): &(Fact<'_>, Coverage)| {
        let (value, interval) = leading_figure(own);
        let place = if cover.place == leading.place { "" } else { &cover.place };
        format!("{} {value}{place}{interval}", cover.subject)
    };
    let others: Vec<String> = others.iter().map(beside_lead).collect();
    format!("{first}, and {}", list(&others))
}

/// `CPU per request is 7 % higher [4, 11]`, or with its own subject where that is another one.
fn short_clause(fact: &Fact<'_>, lead: &Fact<'_>, compared: &AllComparisons) -> String {
    let (cover, leading) = (compared.cover_by_name(&fact.comparisons()), compared.cover_by_name(&lead.comparisons()));
    let (value, interval) = figure(fact);
    if cover.subject != leading.subject {
        return format!("{} {} {value} {}{}{interval}", cover.subject, verb(fact, &cover), object(fact), cover.place);
    }
    let word = if fact.is_above { "higher" } else { "lower" };
    format!("{} is {value} {word}{}{interval}", fact.noun(), place_if_different(&cover, &leading))
}

/// Equivalence alone.
fn equivalence_sentence(same: &[&Fact<'_>], compared: &AllComparisons, region: f64) -> String {
    let Some(first) = same.first() else { return String::new() };
    let cover = compared.cover_by_name(&first.comparisons());
    let verb = if cover.is_plural { "show" } else { "shows" };
    let region = region_in_words(region);
    let within = match first.items.as_slice() {
        [(_, ratio)] if same.len() == 1 => format!("{}, within {region}", change(ratio).signed_interval()),
        _ => region,
    };
    let (subject, baseline, place) = (&cover.subject, &cover.baseline, &cover.place);
    capital_unless_name(&format!(
        "{subject} {verb} no material difference from {baseline} in {}{place} ({within}).",
        list(&distinct_nouns(same))
    ))
}

fn verb(fact: &Fact<'_>, cover: &Coverage) -> &'static str {
    fact.currency.facts().verbs[usize::from(cover.is_plural)]
}

fn object(fact: &Fact<'_>) -> String {
    fact.currency.facts().objects[usize::from(fact.is_above)].replace("{}", &fact.label)
}

fn change(ratio: &CurrencyRatio) -> Change {
    Change { ratio: ratio.ratio, bounds: ratio.lo.zip(ratio.hi) }
}

/// The figure that a sentence begins with. Of two comparisons, each has its interval: `15 % [13, 17] and 9.5 % [7, 12]`.
fn leading_figure(fact: &Fact<'_>) -> (String, String) {
    match fact.items.as_slice() {
        [(_, one), (_, other)] if one.lo.is_some() && other.lo.is_some() => {
            (format!("{} and {}", change(one).magnitude(), change(other).magnitude()), String::new())
        }
        _ => figure(fact),
    }
}

/// `6.9 %` and ` [0.1, 14.1]` of one comparison. Of two `15 and 9.5 %` in their order, of more `9.5 to 15 %`: a dash
/// between the two would look like an interval.
fn figure(fact: &Fact<'_>) -> (String, String) {
    if let [(_, ratio)] = fact.items.as_slice() {
        let magnitude = change(ratio).magnitude();
        return match magnitude.split_once(" [") {
            Some((value, interval)) => (value.to_owned(), format!(" [{interval}")),
            None => (magnitude, String::new()),
        };
    }
    let size = |ratio: &CurrencyRatio| (ratio.ratio - 1.0).abs() * 100.0;
    let text = |ratio: &CurrencyRatio| {
        // Of several figures none needs more than two digits, or a tenth.
        let decimals = if size(ratio) < 9.95 { change(ratio).decimals().min(1) } else { 0 };
        fixed(size(ratio), decimals)
    };
    let mut ratios: Vec<&CurrencyRatio> = fact.items.iter().map(|(_, ratio)| *ratio).collect();
    let word = if ratios.len() == 2 { "and" } else { "to" };
    if ratios.len() > 2 {
        ratios.sort_by(|a, b| size(a).total_cmp(&size(b)));
    }
    let ends = ratios.first().zip(ratios.last()).map(|(first, last)| (text(first), text(last)));
    let value = match ends.unwrap_or_default() {
        (first, last) if first == last => format!("{first} %"),
        (first, last) => format!("{first} {word} {last} %"),
    };
    (value, String::new())
}

/// The subject and place of a later clause, where they differ from those of the first.
fn place_if_different(cover: &Coverage, lead: &Coverage) -> String {
    match () {
        () if cover == lead => String::new(),
        () if cover.subject == lead.subject => cover.place.clone(),
        () => subject_and_place(cover),
    }
}

/// ` for a and b on Get`; where the variants are counted, ` in 9 of 12 comparisons` says enough.
fn subject_and_place(cover: &Coverage) -> String {
    if cover.is_counted { cover.place.clone() } else { format!(" for {}{}", cover.subject, cover.place) }
}

/// The nouns of facts, each once: `p50` alone where `p99 at half load` follows.
fn distinct_nouns(facts: &[&Fact<'_>]) -> Vec<String> {
    let mut nouns: Vec<String> = Vec::new();
    for noun in facts.iter().map(|fact| fact.noun()) {
        if !nouns.iter().any(|known| known == noun) {
            nouns.push(noun.to_owned());
        }
    }
    for at in 1..nouns.len() {
        if let Some(short) = without_load(&nouns[at - 1], &nouns[at]) {
            nouns[at - 1] = short;
        }
    }
    nouns
}

/// `p50` of `p50 at half load` before `p99 at half load`.
fn without_load(noun: &str, next: &str) -> Option<String> {
    let (name, load) = noun.split_once(' ')?;
    let (next_name, next_load) = next.split_once(' ')?;
    let are_percentiles =
        [name, next_name].iter().all(|name| name.strip_prefix('p').is_some_and(|p| p.parse::<f64>().is_ok()));
    (are_percentiles && load == next_load).then(|| name.to_owned())
}

/// `a`, `a and b`, `a, b and c`.
fn list(nouns: &[String]) -> String {
    match nouns {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => nouns.concat(),
    }
}

/// The text with a capital letter, unless it begins with the name of a server.
fn capital_unless_name(text: &str) -> String {
    if text.starts_with("all ") { capital(text) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::headline::fact::facts;
    use crate::summary::{Comparison, VerdictKind};

    fn ratio(name: &str, label: &str, verdict: &str) -> serde_json::Value {
        serde_json::json!({
            "name": name, "load": "saturating", "label": label, "unit": "ns", "higher_is_better": false,
            "baseline_value": 100.0, "variant_value": 110.0, "ratio": 1.1, "lo": 0.9, "hi": 1.3, "method": "Student t",
            "forks": 3, "sd_forks": 0.1, "fork_ratios": [], "verdict": verdict, "material": false, "short": "",
            "reason": null, "needed_s": null,
        })
    }

    fn comparison(scenario: &str, throughput: &str) -> Comparison {
        let currencies =
            [ratio("throughput", "throughput", throughput), ratio("latency_p99", "p99 at half load", "inconclusive")];
        let comparison = serde_json::json!({
            "id": scenario, "group": "g", "scenario": scenario, "variant": "layer", "baseline": "bare",
            "cell": "layer", "baseline_cell": "bare", "currencies": currencies,
        });
        serde_json::from_value(comparison).expect("a comparison")
    }

    fn open_sentence_of(comparisons: &[Comparison]) -> Option<String> {
        let all: Vec<&Comparison> = comparisons.iter().collect();
        open_sentence(&facts(&all, |verdict| verdict == VerdictKind::Inconclusive), &AllComparisons::of(&all))
    }

    #[test]
    fn a_difference_that_is_certain_may_still_be_too_little_to_matter() {
        let said = |ratio: f64, material: bool| {
            let mut one = comparison("Get", "worse");
            one.currencies.truncate(1);
            let currency = &mut one.currencies[0];
            (currency.ratio, currency.lo, currency.hi, currency.material) = (ratio, Some(1.003), Some(1.036), material);
            known_sentence(&facts(&[&one], VerdictKind::is_decision), 3, &AllComparisons::of(&[&one]), 0.02)
        };
        let little = said(1.019, false);
        assert!(little.ends_with("[0.3, 3.6], perhaps less than the 2 % that matters."), "{little}");
        for (ratio, material) in [(1.03, false), (1.019, true)] {
            let text = said(ratio, material);
            assert!(!text.contains("matters"), "{text}");
        }
    }

    #[test]
    fn each_of_a_few_variants_has_its_own_figure() {
        let measured = |variant: &str, baseline: &str, scenario: &str, percent: f64| {
            let mut one = Comparison {
                variant: variant.to_owned(),
                baseline: baseline.to_owned(),
                ..comparison(scenario, "worse")
            };
            one.currencies.truncate(1);
            one.currencies[0].ratio = 1.0 - percent / 100.0;
            (one.currencies[0].lo, one.currencies[0].hi) = (None, None);
            one
        };
        let said = |comparisons: &[Comparison]| {
            let all: Vec<&Comparison> = comparisons.iter().collect();
            known_sentence(&facts(&all, |verdict| verdict == VerdictKind::Worse), 3, &AllComparisons::of(&all), 0.05)
        };
        let layer = measured("layer", "bare", "Get", 10.0);
        let layers =
            [layer.clone(), measured("layer", "bare", "Post", 12.0), measured("two layers", "bare", "Get", 14.0)];
        assert_eq!(
            said(&layers),
            "layer answers 10 and 12 % fewer requests per second than bare on Get and Post, and two layers 14.0 % on Get."
        );
        let same_place = [layer.clone(), measured("two layers", "bare", "Get", 14.0)];
        assert_eq!(
            said(&same_place),
            "layer answers 10.0 % fewer requests per second than bare on Get, and two layers 14.0 %."
        );
        let two_baselines = [layer, measured("other layer", "other", "Get", 14.0)];
        assert_eq!(
            said(&two_baselines),
            "layer and other layer answer 10 and 14 % fewer requests per second than their baselines on Get."
        );
    }

    #[test]
    fn no_range_of_several_comparisons_looks_like_an_interval() {
        let said = |comparisons: &[Comparison]| {
            let all: Vec<&Comparison> = comparisons.iter().collect();
            known_sentence(&facts(&all, VerdictKind::is_decision), 3, &AllComparisons::of(&all), 0.02)
        };
        let measured = |variant: &str, scenario: &str, percent: f64| {
            let mut one = Comparison { variant: variant.to_owned(), ..comparison(scenario, "worse") };
            for currency in &mut one.currencies {
                let ratio = 1.0 + percent / 100.0;
                currency.verdict = VerdictKind::Worse;
                (currency.ratio, currency.lo, currency.hi) = (ratio, Some(ratio - 0.02), Some(ratio + 0.02));
            }
            one
        };
        let get = measured("layer", "Get", 14.0);
        let alone = said(std::slice::from_ref(&get));
        assert!(alone.contains("on Get [12.0, 16.0]; p99 at half load is 14.0 % higher [12.0, 16.0]."), "{alone}");
        let two = said(&[get.clone(), measured("layer", "Post", 9.5)]);
        assert!(two.contains("14.0 % [12.0, 16.0] and 9.5 % [7.5, 11.5] "), "{two}");
        assert!(two.ends_with("p99 at half load is 14 and 9.5 % higher."), "{two}");
        let post = measured("layer", "Post", 9.5);
        let three = said(&[get.clone(), post.clone(), measured("layers", "Get", 20.0)]);
        assert!(
            three.contains(", and layers 20.0 % on Get [18.0, 22.0]; p99 at half load is 9.5 to 20 % higher."),
            "{three}"
        );
        let one_layer = said(&[get, post, measured("layer", "Put", 20.0)]);
        assert!(one_layer.contains("layer answers 9.5 to 20 % ") && !one_layer.contains('['), "{one_layer}");
        for several in [two, three, one_layer] {
            assert!(!several.contains('–'), "{several}");
        }
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
        let currency = |(name, value): (&str, f64)| {
            let mut json = ratio(name, name, "worse");
            (json["ratio"], json["lo"], json["hi"]) = (value.into(), value.into(), value.into());
            serde_json::from_value(json).expect("a ratio")
        };
        let one = Comparison { currencies: measured.map(currency).into(), ..comparison("Get", "worse") };
        let order: Vec<&str> =
            facts(&[&one], VerdictKind::is_decision).iter().map(|fact| fact.currency.facts().name).collect();
        assert_eq!(order, ["cpu_per_request", "throughput", "allocated_per_request", "latency_p99", "latency_p50"]);
    }

    #[test]
    fn what_is_open_names_the_comparisons_where_measures_differ() {
        let both = [comparison("Get", "inconclusive"), comparison("Post", "inconclusive")];
        assert_eq!(open_sentence_of(&both).as_deref(), Some("Throughput and p99 at half load are not decided yet."));
        let one = [comparison("Get", "inconclusive"), comparison("Post", "worse")];
        assert_eq!(
            open_sentence_of(&one).as_deref(),
            Some("Not decided yet: throughput for layer on Get; p99 at half load.")
        );
    }
}
