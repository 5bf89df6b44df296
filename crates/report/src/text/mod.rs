//! The terminal report: the headline, one table, and what a reader must know before using the figures. `tare report --findings` and
//! the page have the rest; the command line prints where they are.

pub(crate) mod cross_check;
mod findings;
mod grid;
mod ladder;
pub(crate) mod limits;
pub(crate) mod messages;
mod notes;
mod profile;
mod sheet;
mod table;

use crate::clean::sanitize_line;
use crate::palette::Tone;
pub(crate) use findings::severity_word;
pub use findings::{render_findings, unshown_findings};
pub(crate) use grid::cut_middle;
pub use grid::{Grid, wrap};
pub(crate) use sheet::Sheet;
pub(crate) use table::{OPEN, is_open};
use tare_analysis::format::{duration, share};
use tare_analysis::summary::{CheckResult, Mode, RunStatus, Summary, VerdictKind};
use tare_analysis::words::count_verdicts;

#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Colours, or none for files, pipes and `NO_COLOR`.
    pub colored: bool,
    pub width: usize,
}

impl Style {
    /// Wraps and paints one paragraph; `indent` is that of its later lines. What others wrote is made harmless here.
    pub(crate) fn paragraph(&self, tone: Tone, text: &str, indent: usize) -> String {
        tone.paint(self.colored, &wrap(&sanitize_line(text), self.width, indent)) + "\n"
    }

    /// A heading, harmless too, without the end of its line.
    pub(crate) fn heading(&self, text: &str) -> String {
        Tone::Head.paint(self.colored, &sanitize_line(text))
    }
}

pub fn render(summary: &Summary, style: &Style) -> String {
    let (profiles, mode) = (summary.profiles.iter(), summary.run.mode);
    // The sentences of a profiled run follow. They begin with its headline, which every other run shows as on the page.
    let is_explained = mode == Mode::Profiled && profiles.clone().any(|profiles| !profiles.whys.is_empty());
    let headline = &summary.headline;
    let answer = style.paragraph(headline.verdict.into(), &format!("  {}", headline.text), 4) + "\n";
    let head = head(summary, style) + "\n" + if is_explained { "" } else { &answer };
    let end = noise(summary) + &findings::main_findings(summary, style);
    if let Some(check) = &summary.check {
        let whys: String = profiles.map(|profiles| profile::whys(profiles, style) + "\n").collect();
        let next: String = summary.next.iter().map(|next| limits::next_step(next, style)).collect();
        return head + &limits::limits(check, style) + &whys + &end + &next;
    }
    let ladders = summary.ladders.iter().map(|one| ladder::ladder(one, style));
    let figures = table::table(summary, style) + &notes::notes(summary, style);
    let rest: String = ladders.chain(profiles.map(|profiles| profile::profiles(profiles, style))).collect();
    head + &figures + &cross_check::cross_checks(summary, style) + &rest + "\n" + &end
}

/// `tare · 2026-11-20-1 · suite quick · 4 min · interrupted`, and the question: it says how the servers differ.
fn head(summary: &Summary, style: &Style) -> String {
    let run = &summary.run;
    let status = ended_early(run.status);
    let word = if run.suite == "command line" { "" } else { "suite " };
    let named = format!("tare · {} · {word}{} · {}{status}", run.id, run.suite, duration(run.duration_s));
    let question = Some(&run.question).filter(|question| !question.is_empty());
    let question = question.map(|text| style.paragraph(Tone::Quiet, &format!("  {text}"), 4));
    style.paragraph(Tone::Head, &named, 2) + &question.unwrap_or_default()
}

/// ` · interrupted`; nothing where it is complete.
pub(crate) const fn ended_early(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Complete => "",
        RunStatus::BudgetSpent => " · budget spent",
        RunStatus::Interrupted => " · interrupted",
        RunStatus::Partial => " · cut short",
    }
}

/// `2 worse, 1 not decided`, or what a check came to; `None` where nothing was compared.
pub fn verdicts_in_words(summary: &Summary) -> Option<String> {
    let verdicts: Vec<VerdictKind> = summary.sentences.iter().map(|sentence| sentence.verdict).collect();
    match summary.check.as_ref().map(|check| check.outcome) {
        Some(CheckResult::Holds) => Some("check passed".to_owned()),
        Some(CheckResult::Regressed) => Some("check: regressed".to_owned()),
        Some(CheckResult::Undecided) => Some("check: undecided".to_owned()),
        Some(CheckResult::Void) => Some("check: void".to_owned()),
        None => Some(count_verdicts(&verdicts)).filter(|words| !words.is_empty()),
    }
}

/// What brackets mean, where any comparison has an interval, and by which interval there is no difference.
pub(crate) fn interval_legend(summary: &Summary) -> Option<String> {
    let run = &summary.run;
    let mut deciding = summary.comparisons.iter().filter_map(|comparison| comparison.currencies.first());
    deciding.any(|first| first.lo.is_some()).then(|| {
        let sure = share(1.0 - run.alpha);
        let mut currencies = summary.comparisons.iter().flat_map(|comparison| &comparison.currencies);
        let equivalence = if currencies.any(|one| one.verdict == VerdictKind::NoMaterialDifference) {
            let (surely, region) = (share(1.0 - 2.0 * run.alpha), share(run.region));
            format!(" · no difference: the {surely} interval lies within ±{region}")
        } else {
            String::new()
        };
        let kind = if run.repeats_one_start {
            "interval of repeated measurements of the same start"
        } else {
            "confidence interval"
        };
        format!("[from, to]: the {sure} {kind}{equivalence}")
    })
}

/// The widest noise floor of the controls; nothing without a control.
fn noise(summary: &Summary) -> String {
    let is_compared = !matches!(summary.run.mode, Mode::Sequential | Mode::Profiled);
    if summary.noise.is_empty() || !is_compared {
        return String::new();
    }
    let floor = summary.noise.iter().filter_map(|noise| noise.floor).reduce(f64::max);
    let floor = floor.map_or("no interval yet".to_owned(), |floor| format!("±{}", share(floor)));
    format!("  noise floor (A/A, same server twice): {floor}\n")
}
