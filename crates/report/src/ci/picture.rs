//! The picture of a comment: every change with its interval, as SVG without scripts, styles or links.

use std::fmt::Write as _;

use super::usable_ratios;
use crate::html::escape_line as safe;
use tare_analysis::format::cut;
use tare_analysis::summary::{Comparison, CurrencyRatio, LimitResult, Summary, VerdictKind};

/// More rows are not drawn: a comment is no report.
const MOST_ROWS: usize = 40;
const ROW: f64 = 24.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 16.0;
/// Left edges of the columns.
const PLACE_X: f64 = 14.0;
const LABEL_X: f64 = 258.0;
const CHART_X: f64 = 390.0;
const ANSWER_X: f64 = 664.0;
const CHART_WIDTH: f64 = 256.0;
const WIDTH: f64 = 900.0;
/// Letters that fit into the columns.
const PLACE_LETTERS: usize = 36;
const LABEL_LETTERS: usize = 19;
const ANSWER_LETTERS: usize = 35;
/// Changes beyond these (in percent) end at the edge of the chart.
const FARTHEST: (f64, f64) = (-90.0, 300.0);
const MARKS: f64 = 4.0;

const INK: &str = "#1c1c1c";
const QUIET: &str = "#6b6b6b";
const WORSE: &str = "#a85a00";
const BETTER: &str = "#1f5fa8";

struct ChangeRow {
    place: String,
    label: String,
    answer: String,
    colour: &'static str,
    /// The change in percent with its bounds.
    change: Option<(f64, Option<(f64, f64)>)>,
    limit: Option<f64>,
}

/// A round range of changes in percent.
struct Axis {
    lowest: f64,
    highest: f64,
    step: f64,
}

/// The picture. A run with limits shows these, another run its comparisons.
pub fn render(summary: &Summary) -> String {
    let rows: Vec<ChangeRow> = match &summary.check {
        Some(check) => check.limits.iter().map(limit_row).collect(),
        None => usable_ratios(summary).map(|(comparison, ratio)| ratio_row(summary, comparison, ratio)).collect(),
    };
    let region = (summary.check.is_none() && !rows.is_empty()).then_some(summary.run.region * 100.0);
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let axis = Axis::of(shown, region);
    let bottom = TOP + ROW * shown.len().max(1) as f64;
    let height = bottom + BOTTOM + if shown.len() < rows.len() { ROW } else { 0.0 };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" font-family=\"system-ui,sans-serif\" font-size=\"13\">\n<title>{}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"6\" fill=\"#ffffff\"/>\n",
        safe(&summary.headline.text)
    );
    out.push_str(&axis.draw(bottom, region));
    let mut place = "";
    for (index, row) in shown.iter().enumerate() {
        let top = TOP + ROW * index as f64;
        // The measures of one comparison are together: its place stands at the first of them.
        if row.place != place {
            place = &row.place;
            out.push_str(&row.draw_place(top, index == 0));
        }
        out.push_str(&row.draw(top + ROW / 2.0, &axis));
    }
    if shown.is_empty() {
        out.push_str(&text(PLACE_X, TOP + ROW / 2.0, QUIET, "start", "Nothing could be compared."));
    } else if shown.len() < rows.len() {
        let more = format!("{} more changes are in the report.", rows.len() - shown.len());
        out.push_str(&text(PLACE_X, bottom + ROW / 2.0, QUIET, "start", &more));
    }
    out + "</svg>\n"
}

fn limit_row(limit: &LimitResult) -> ChangeRow {
    ChangeRow {
        place: format!("{} · {}", limit.scenario, limit.variant),
        label: limit.limit.clone(),
        answer: format!("{} {}", limit.short, limit.verdict.name()),
        colour: colour(limit.verdict.of_comparison()),
        change: limit.ratio.map(|ratio| change(ratio, limit.lo, limit.hi)),
        limit: Some(percent(limit.limit_ratio)),
    }
}

fn ratio_row(summary: &Summary, comparison: &Comparison, ratio: &CurrencyRatio) -> ChangeRow {
    ChangeRow {
        place: format!("{} · {}", comparison.scenario_among(&summary.comparisons), comparison.variant),
        label: ratio.label.clone(),
        answer: ratio.short.clone(),
        colour: colour(ratio.verdict),
        change: Some(change(ratio.ratio, ratio.lo, ratio.hi)),
        limit: None,
    }
}

const fn colour(verdict: VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Worse => WORSE,
        VerdictKind::Better => BETTER,
        VerdictKind::NoMaterialDifference => INK,
        VerdictKind::Inconclusive | VerdictKind::NoInterval | VerdictKind::Void => QUIET,
    }
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn change(ratio: f64, lo: Option<f64>, hi: Option<f64>) -> (f64, Option<(f64, f64)>) {
    (percent(ratio), lo.zip(hi).map(|(lo, hi)| (percent(lo), percent(hi))))
}

impl Axis {
    /// The range of what is decided: an interval that is still wide would squeeze all others, so it ends at the edge.
    fn of(rows: &[ChangeRow], region: Option<f64>) -> Self {
        let is_any_decided = rows.iter().any(ChangeRow::is_decided);
        let telling = rows.iter().filter(|row| row.is_decided() || !is_any_decided);
        let region = region.into_iter().flat_map(|region| [-region, region]);
        let values = telling.flat_map(ChangeRow::values).chain(rows.iter().filter_map(|row| row.limit)).chain(region);
        let (least, most) =
            values.filter(|value| value.is_finite()).fold((-1.0_f64, 1.0_f64), |(least, most), value| {
                let value = value.clamp(FARTHEST.0, FARTHEST.1);
                (least.min(value), most.max(value))
            });
        let step = round_step((most - least) / MARKS);
        Self { lowest: (least / step).floor() * step, highest: (most / step).ceil() * step, step }
    }

    fn x(&self, percent: f64) -> f64 {
        let share = (percent.clamp(self.lowest, self.highest) - self.lowest) / (self.highest - self.lowest);
        CHART_X + share * CHART_WIDTH
    }

    fn draw(&self, bottom: f64, region: Option<f64>) -> String {
        let mut out = String::new();
        let top = TOP - 4.0;
        if let Some(region) = region {
            let (left, height) = (self.x(-region), bottom - top);
            let size = format!("width=\"{:.1}\" height=\"{height:.1}\"", self.x(region) - left);
            let _ = writeln!(out, "<rect x=\"{left:.1}\" y=\"{top}\" {size} fill=\"#eef1f4\"/>");
        }
        let marks = ((self.highest - self.lowest) / self.step).round() as usize;
        for mark in 0..=marks {
            let value = self.lowest + mark as f64 * self.step;
            let (x, is_zero) = (self.x(value), value.abs() < self.step / 2.0);
            let colour = if is_zero { QUIET } else { "#d8d8d8" };
            let _ = writeln!(out, "<path d=\"M{x:.1} {top}V{bottom:.1}\" stroke=\"{colour}\"/>");
            let label = match value {
                _ if is_zero => "0 %".to_owned(),
                value if value < 0.0 => format!("−{:.0} %", -value),
                value => format!("+{value:.0} %"),
            };
            out.push_str(&text(x, TOP - 14.0, QUIET, "middle", &label));
        }
        out
    }
}

impl ChangeRow {
    fn is_decided(&self) -> bool {
        self.colour != QUIET
    }

    /// The change and the ends of its interval, in percent.
    fn values(&self) -> Vec<f64> {
        let of = |(value, bounds): (f64, Option<(f64, f64)>)| {
            let (lo, hi) = bounds.unwrap_or((value, value));
            [lo, value, hi]
        };
        self.change.map(of).into_iter().flatten().collect()
    }

    fn draw_place(&self, top: f64, is_first: bool) -> String {
        let end = WIDTH - PLACE_X;
        let line = format!("<path d=\"M{PLACE_X} {top}H{end}\" stroke=\"#eeeeee\"/>\n");
        let place = text(PLACE_X, top + ROW / 2.0, INK, "start", &cut(&self.place, PLACE_LETTERS));
        if is_first { place } else { line + &place }
    }

    fn draw(&self, y: f64, axis: &Axis) -> String {
        let mut out = text(LABEL_X, y, QUIET, "start", &cut(&self.label, LABEL_LETTERS));
        out.push_str(&text(ANSWER_X, y, self.colour, "start", &cut(&self.answer, ANSWER_LETTERS)));
        if let Some(limit) = self.limit {
            let (x, top, end) = (axis.x(limit), y - 9.0, y + 9.0);
            let dashes = "stroke-width=\"2\" stroke-dasharray=\"3 2\"";
            let _ = writeln!(out, "<path d=\"M{x:.1} {top}V{end}\" stroke=\"{INK}\" {dashes}/>");
        }
        let Some((value, bounds)) = self.change else { return out };
        let colour = self.colour;
        if let Some((lo, hi)) = bounds {
            let (left, right) = (axis.x(lo), axis.x(hi));
            let _ = writeln!(out, "<path d=\"M{left:.1} {y}H{right:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>");
            // An arrow where it goes on beyond the edge.
            for (x, direction, is_beyond) in [(left, -1.0, lo < axis.lowest), (right, 1.0, hi > axis.highest)] {
                if is_beyond {
                    let (base, top, end) = (x + direction * 9.0, y - 5.0, y + 5.0);
                    let _ = writeln!(out, "<path d=\"M{base:.1} {y}L{x:.1} {top}V{end}Z\" fill=\"{colour}\"/>");
                }
            }
        }
        if (axis.lowest..=axis.highest).contains(&value) {
            let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{y}\" r=\"4.5\" fill=\"{colour}\"/>", axis.x(value));
        }
        out
    }
}

/// 1, 2 or 5 times a power of ten that is at least `step`, and at least 1.
fn round_step(step: f64) -> f64 {
    let decade = 10_f64.powf(step.max(1.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade).into_iter().find(|round| *round >= step).unwrap_or(decade)
}

fn text(x: f64, y: f64, colour: &str, anchor: &str, words: &str) -> String {
    let baseline = y + 4.5;
    format!("<text x=\"{x:.1}\" y=\"{baseline}\" fill=\"{colour}\" text-anchor=\"{anchor}\">{}</text>\n", safe(words))
}
