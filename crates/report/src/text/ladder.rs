//! A ladder in the terminal: a waterfall of bars, each beginning where the one below it ends.

use super::Style;
use super::grid::Grid;
use crate::palette::Tone;
use tare_analysis::format::{Scale, Unit, count, signed};
use tare_analysis::summary::{Estimate, Ladder, LadderStep};

const BAR: usize = 30;

pub(super) fn ladder(ladder: &Ladder, style: &Style) -> String {
    let head = format!("ladder of {} on {}, {}", ladder.group, ladder.scenario, count(ladder.forks.into(), "start"));
    let mut grid = Grid::default();
    grid.push_in(Tone::Quiet, ["", "step", "CPU/request", "added", "", "allocated", "added"]);
    let cpu = scale(Unit::Nanos, ladder, |step| step.cpu_ns);
    let bytes = scale(Unit::Bytes, ladder, |step| step.allocated_bytes);
    let most = ladder.steps.iter().filter_map(|step| step.cpu_ns).map(|cpu| cpu.value).fold(0.0, f64::max);
    let mut below = 0.0;
    for step in &ladder.steps {
        let top = step.cpu_ns.map_or(below, |cpu| cpu.value);
        grid.push(vec![
            (Tone::Plain, String::new()),
            (Tone::Plain, step.variant.clone()),
            (Tone::Plain, level(step.cpu_ns, cpu)),
            (tone(step.cpu_ns_added), added(step.cpu_ns_added, cpu)),
            (Tone::Quiet, bar(below, top, most)),
            (Tone::Plain, level(step.allocated_bytes, bytes)),
            (tone(step.allocated_bytes_added), added(step.allocated_bytes_added, bytes)),
        ]);
        below = top;
    }
    format!("\n{}\n{}", style.heading(&head), grid.render(style.colored))
}

fn scale(unit: Unit, ladder: &Ladder, of: fn(&LadderStep) -> Option<Estimate>) -> Scale {
    Scale::for_values(unit, ladder.steps.iter().filter_map(of).map(|estimate| estimate.value))
}

fn level(estimate: Option<Estimate>, scale: Scale) -> String {
    estimate.map_or_else(|| "–".to_owned(), |estimate| scale.show(estimate.value))
}

fn added(estimate: Option<Estimate>, scale: Scale) -> String {
    estimate.map_or_else(String::new, |estimate| signed(estimate, scale))
}

fn tone(added: Option<Estimate>) -> Tone {
    match added.and_then(|added| added.lo.zip(added.hi)) {
        Some((lo, _)) if lo > 0.0 => Tone::Worse,
        Some((_, hi)) if hi < 0.0 => Tone::Better,
        _ => Tone::Undecided,
    }
}

/// From one level to the next, on a scale whose end is `most`.
fn bar(below: f64, top: f64, most: f64) -> String {
    let place = |value: f64| if most > 0.0 { (value / most * BAR as f64).round() as usize } else { 0 };
    let (from, to) = (place(below.min(top)), place(below.max(top)));
    let mark = if top < below { "░" } else { "█" };
    " ".repeat(from) + &mark.repeat((to - from).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bar_begins_where_the_one_below_it_ends() {
        assert_eq!(bar(0.0, 20.0, 30.0), "█".repeat(20));
        assert_eq!(bar(20.0, 30.0, 30.0), " ".repeat(20) + &"█".repeat(10));
        assert_eq!(bar(30.0, 24.0, 30.0), " ".repeat(24) + &"░".repeat(6));
        assert_eq!(bar(5.0, 5.0, 0.0), "█", "a step of nothing is seen as a mark");
    }

    #[test]
    fn what_is_added_has_a_sign_and_its_interval() {
        let scale = Scale::for_values(Unit::Nanos, [50_000.0]);
        let estimate = Estimate { value: 1_200.0, lo: Some(-100.0), hi: Some(2_500.0) };
        assert_eq!(added(Some(estimate), scale), "+1.20 µs [−0.100, +2.50]");
        assert_eq!(tone(Some(estimate)), Tone::Undecided);
    }
}
