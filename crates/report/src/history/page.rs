//! The history as one self-contained page without scripts: a chart for each line, and its changes of level.

use std::fmt::Write as _;

use super::text::{change_words, headline, number, short_revision, state};
use crate::html::escape_line as html;
use tare_analysis::format::cut;
use tare_analysis::history::{History, HistoryLine, HistoryPoint};
use tare_analysis::summary::{Estimate, VerdictKind};

const HEIGHT: f64 = 240.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 26.0;
/// Lines across a chart, at most one more or less.
const GRID_LINES: f64 = 4.0;
/// The plots for which names of versions are set: of a phone, and of the widest page. A style hides what a phone has no room for.
const PLOTS: [f64; 2] = [280.0, 880.0];
/// What a letter of a label takes at most, and what stays free beside it.
const LETTER: f64 = 7.0;
const BESIDE: f64 = 8.0;
/// Letters of a version; longer ones are cut.
const VERSION: usize = 12;
/// Names of versions behind this part of a chart, in percent, stand to the left of their lines.
const RIGHTMOST: f64 = 75.0;

const STYLE: &str = "\
:root{color-scheme:light dark;--fg:#1c1c1c;--bg:#fff;--quiet:#6b6b6b;--line:#d8d8d8;--point:#1f5fa8;--worse:#a85a00;--better:#1f5fa8}\
@media(prefers-color-scheme:dark){:root{--fg:#eaeaea;--bg:#161616;--quiet:#a0a0a0;--line:#3a3a3a;--point:#7db4f0;--worse:#f0b050;--better:#7db4f0}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);max-width:1000px;margin:2rem auto;padding:0 1rem}\
h2{font-size:1.1rem;margin:2rem 0 0}p{margin:.2rem 0}.answer{font-size:1.25rem;font-weight:600;margin-bottom:.6rem}\
.quiet{color:var(--quiet)}.chart{padding:0 12px 0 52px}svg{display:block;width:100%;height:240px;overflow:visible}\
@media(max-width:720px){.wide{display:none}.point{r:2px}}\
svg text{font:12px system-ui,sans-serif;fill:var(--quiet)}.grid{stroke:var(--line)}.interval{stroke:var(--point);opacity:.35}\
.point{fill:var(--point)}.level{stroke:var(--fg);stroke-width:2}.version{stroke:var(--quiet);stroke-dasharray:2 4}\
.change{stroke-width:2}.worse{stroke:var(--worse);color:var(--worse)}.better{stroke:var(--better);color:var(--better)}";

pub fn render_page(history: &History) -> String {
    let is_empty = history.lines.is_empty();
    let answer =
        if is_empty { String::new() } else { format!("<p class=\"answer\">{}</p>\n", html(&headline(history))) };
    // What another tool measured has no baseline.
    let has_ratios = history.lines.iter().any(|line| !line.scenario.is_empty());
    let ratios = if has_ratios { " A figure × a server is a ratio to that server: 1.08 is 8 % more." } else { "" };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>tare history</title>\n<style>{STYLE}</style>\n\
         <main>\n<h1>History</h1>\n{answer}<p>Each point is a run, with its interval. Horizontal lines are levels, thick \
         vertical lines changes of level, dotted lines new versions.{ratios}</p>\n"
    );
    out.extend(history.lines.iter().map(section));
    if is_empty {
        out.push_str("<p>There are no figures yet.</p>\n");
    }
    out + "</main>\n</html>\n"
}

fn section(line: &HistoryLine) -> String {
    let title = html(&format!("{}: {}", line.subject(), line.figure));
    let changes: String = line
        .changes
        .iter()
        .map(|change| format!("<li class=\"{}\">{}</li>\n", class(change.verdict), html(&change_words(change))))
        .collect();
    let changes = if changes.is_empty() {
        "<p class=\"quiet\">No change of level.</p>\n".to_owned()
    } else {
        format!("<ul>\n{changes}</ul>\n")
    };
    let (state, chart) = (html(&state(line)), Chart::of(line).draw(&title));
    format!(
        "<section>\n<h2>{title}</h2>\n<p class=\"quiet\">{state}</p>\n\
         <div class=\"chart\">\n{chart}</div>\n{changes}</section>\n"
    )
}

fn class(verdict: VerdictKind) -> &'static str {
    if verdict == VerdictKind::Worse { "worse" } else { "better" }
}

/// A line with the range of values that its chart shows. Places from left to right are in percent and those from top to bottom
/// in pixels, so that letters keep their size on every screen.
struct Chart<'a> {
    line: &'a HistoryLine,
    lowest: f64,
    highest: f64,
}

impl<'a> Chart<'a> {
    fn of(line: &'a HistoryLine) -> Self {
        let values: Vec<f64> = line.points.iter().map(|point| point.estimate.value).collect();
        let (least, most) = range(&values);
        let range_at_least = if most == 0.0 { 1.0 } else { most.abs() * 0.01 };
        let room = (most - least).max(range_at_least);
        // Intervals that are far wider than what the line does are cut off.
        let ends = |of: fn(&HistoryPoint) -> Option<f64>| line.points.iter().filter_map(of).collect::<Vec<f64>>();
        let lowest = range(&ends(|point| point.estimate.lo)).0.clamp(least - room, least);
        let highest = range(&ends(|point| point.estimate.hi)).1.clamp(most, most + room);
        Self { line, lowest: lowest.min(least - room * 0.05), highest: highest.max(most + room * 0.05) }
    }

    fn x(&self, at: f64) -> f64 {
        (at + 0.5) * 100.0 / self.line.points.len() as f64
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value - self.lowest) / (self.highest - self.lowest);
        TOP + (1.0 - share.clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM)
    }

    fn draw(&self, title: &str) -> String {
        let mut out = format!("<svg role=\"img\" aria-label=\"{title}\">\n");
        for (value, text) in round_ticks(self.lowest, self.highest) {
            let y = self.y(value);
            let _ = write!(out, "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
            let _ = writeln!(out, "<text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>", y + 4.0);
        }
        self.draw_versions(&mut out);
        self.draw_levels(&mut out);
        for (at, point) in self.line.points.iter().enumerate() {
            self.draw_point(&mut out, at, point);
        }
        self.draw_dates(&mut out);
        out + "</svg>\n"
    }

    /// A dotted line where the version is another than before, with its name where there is room.
    fn draw_versions(&self, out: &mut String) {
        let versions = self.line.points.iter().enumerate();
        let versions = versions.filter_map(|(at, point)| Some((self.x(at as f64 - 0.5), point.version.as_deref()?)));
        let mut new: Vec<(f64, &str)> = versions.collect();
        new.dedup_by_key(|(_, version)| *version);
        let [narrow, wide] = PLOTS.map(|plot| named(&new, plot));
        for (index, (x, version)) in new.iter().enumerate() {
            out.push_str(&vertical("version", *x, version));
            if wide.contains(&index) {
                let class = if narrow.contains(&index) { "" } else { " class=\"wide\"" };
                let name = html(&cut(version, VERSION));
                let _ = if *x > RIGHTMOST {
                    write!(out, "<text{class} x=\"{x:.2}%\" dx=\"-3\" y=\"14\" text-anchor=\"end\">{name} ▸</text>")
                } else {
                    write!(out, "<text{class} x=\"{x:.2}%\" dx=\"3\" y=\"14\">{name}</text>")
                };
            }
            out.push('\n');
        }
    }

    fn draw_levels(&self, out: &mut String) {
        let starts: Vec<usize> = self.line.changes.iter().map(|change| change.at).collect();
        let bounds: Vec<usize> = [0].into_iter().chain(starts).chain([self.line.points.len()]).collect();
        for level in bounds.windows(2) {
            let Some(value) = self.line.level_of(level[0]..level[1]) else { continue };
            let y = self.y(value);
            let (from, to) = (self.x(level[0] as f64 - 0.5), self.x(level[1] as f64 - 0.5));
            let _ =
                writeln!(out, "<line class=\"level\" x1=\"{from:.2}%\" x2=\"{to:.2}%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        }
        for change in &self.line.changes {
            let x = self.x(change.at as f64 - 0.5);
            out.push_str(&vertical(&format!("change {}", class(change.verdict)), x, &change_words(change)));
            out.push('\n');
        }
    }

    fn draw_point(&self, out: &mut String, at: usize, point: &HistoryPoint) {
        let Estimate { value, lo, hi } = point.estimate;
        let (x, y) = (self.x(at as f64), self.y(value));
        if let Some((lo, hi)) = lo.zip(hi) {
            let (lo, hi) = (self.y(lo), self.y(hi));
            let _ =
                write!(out, "<line class=\"interval\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"{hi:.1}\" y2=\"{lo:.1}\"/>");
        }
        let facts =
            [point.run.clone(), short_revision(point.revision.as_deref()), point.version.clone().unwrap_or_default()];
        let told: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).chain([number(value)]).collect();
        let _ = write!(out, "<circle class=\"point\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"3\">");
        let _ = writeln!(out, "<title>{}</title></circle>", html(&told.join(" · ")));
    }

    fn draw_dates(&self, out: &mut String) {
        let day = |point: Option<&HistoryPoint>| {
            html(&point.map_or("", |point| point.at.as_str()).chars().take(10).collect::<String>())
        };
        let (first, last) = (day(self.line.points.first()), day(self.line.points.last()));
        let y = HEIGHT - 8.0;
        let _ = write!(out, "<text x=\"0\" y=\"{y}\">{first}</text>");
        let _ = writeln!(out, "<text x=\"100%\" y=\"{y}\" text-anchor=\"end\">{last}</text>");
    }
}

fn vertical(class: &str, x: f64, title: &str) -> String {
    let (ends, title) = (format!("y1=\"{TOP}\" y2=\"{}\"", HEIGHT - BOTTOM), html(title));
    format!("<line class=\"{class}\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" {ends}><title>{title}</title></line>")
}

/// The indices of the versions that a plot of some width has room to name. The newest is always named: of two names that would
/// cover each other, the older is left out.
fn named(versions: &[(f64, &str)], plot: f64) -> Vec<usize> {
    let mut free_to = f64::INFINITY;
    let mut fits = |(x, version): (f64, &str)| {
        let (line, length) = (x / 100.0 * plot, cut(version, VERSION).chars().count() as f64 * LETTER);
        let (from, to) = if x > RIGHTMOST { (line - length - 2.0 * LETTER, line) } else { (line, line + length) };
        let fits = to + BESIDE <= free_to;
        if fits {
            free_to = from;
        }
        fits
    };
    (0..versions.len()).rev().filter(|index| fits(versions[*index])).collect()
}

/// Round values from `lowest` to `highest`, each with its text.
fn round_ticks(lowest: f64, highest: f64) -> Vec<(f64, String)> {
    let rough = (highest - lowest) / GRID_LINES;
    if !rough.is_normal() {
        return vec![(lowest, number(lowest))];
    }
    let magnitude = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * magnitude >= rough);
    let step = factor.unwrap_or(10.0) * magnitude;
    let decimals = (0..9).find(|decimals| is_whole(step * 10_f64.powi(*decimals))).unwrap_or(9) as usize;
    let (first, last) = ((lowest / step).ceil() as i64, (highest / step).floor() as i64);
    (first..=last).map(|n| n as f64 * step).map(|value| (value, format!("{value:.decimals$}"))).collect()
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

fn range(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::{named, round_ticks};

    #[test]
    fn names_of_versions_never_cover_each_other_and_the_newest_is_named() {
        let versions = [(0.0, "1.0"), (1.0, "1.1"), (50.0, "1.2"), (70.0, "1.3-a-long-name"), (99.0, "1.4")];
        assert_eq!(named(&versions, 880.0), [4, 3, 2, 1]);
        assert_eq!(named(&versions, 280.0), [4, 2, 1]);
        assert_eq!(named(&[(100.0, "1.0")], 280.0), [0]);
    }

    #[test]
    fn ticks_are_round() {
        let texts =
            |lowest, highest| round_ticks(lowest, highest).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(1.083, 1.277), ["1.10", "1.15", "1.20", "1.25"]);
        assert_eq!(texts(0.97, 1.06), ["0.975", "1.000", "1.025", "1.050"]);
        assert_eq!(texts(9_000.0, 31_000.0), ["10000", "20000", "30000"]);
        assert_eq!(texts(2.0, 2.0), ["2.000"], "a range of nothing");
    }
}
