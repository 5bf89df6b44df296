//! The picture of a running load, as lines of text: a pure function of what has been seen.

use std::collections::VecDeque;
use std::time::Duration;

use tare_analysis::format::{Unit, grouped, rate, share, single};
use tare_load::Opening;
use tare_record::AgentRecord;
use tare_report::clean::sanitize_line;
use tare_report::palette::Tone;
use tare_units::clock_text;

use super::cut;

pub const POINTS: usize = 40;
/// The most agents that have a line, and the columns of a name.
const MOST_AGENTS: usize = 12;
const AGENT_NAME: usize = 24;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

#[derive(Debug, Default)]
pub struct Seen {
    pub title: String,
    pub model: String,
    pub phase: LoadPhase,
    /// Since the start, and how far it has come, from 0 to 1.
    pub elapsed: Duration,
    pub done_share: f64,
    pub left: Option<Duration>,
    /// The latest points, the oldest first.
    pub points: VecDeque<Point>,
    pub ok: u64,
    pub failed: u64,
    /// Right answers per second of the window so far.
    pub mean_per_s: f64,
    pub worst_error: Option<String>,
    /// The agents that make the load, with their latest rate; empty where this process makes it.
    pub agents: Vec<(AgentRecord, f64)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum LoadPhase {
    /// It waits for its connections.
    Opening(Opening),
    /// It runs, and nothing is scored yet.
    WarmingUp { per_s: f64 },
    /// It is scored.
    #[default]
    Measuring,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Point {
    pub per_s: f64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub cpu_share: f64,
}

impl Seen {
    /// The lines, none wider than `width` but for colours.
    pub fn frame(&self, width: usize, colored: bool) -> Vec<String> {
        let mut lines = self.heading(width);
        match self.phase {
            LoadPhase::Opening(_) => lines.push(self.line()),
            LoadPhase::WarmingUp { per_s } => {
                lines.extend([self.progress(width, colored), format!("  {}", warming_up(per_s))]);
            }
            LoadPhase::Measuring => lines.extend(self.figures(width, colored)),
        }
        lines
    }

    fn heading(&self, width: usize) -> Vec<String> {
        let whole = format!("  {} · {}", self.title, self.model);
        if console::measure_text_width(&whole) <= width {
            return vec![whole];
        }
        [&self.title, &self.model].map(|text| cut(&format!("  {text}"), width)).into()
    }

    fn figures(&self, width: usize, colored: bool) -> Vec<String> {
        let last = self.points.back().copied().unwrap_or_default();
        let room = width.saturating_sub(46).min(POINTS);
        let of =
            |value: fn(&Point) -> Option<f64>| Tone::Chart.paint(colored, &spark(self.points.iter().map(value), room));
        let row = |name: &str, now: String, beside: String, line: String| {
            format!("  {name:<9}{now:>12}  {beside:<20} {line}")
        };
        let mean = format!("mean {}", rate(self.mean_per_s));
        let (tone, errors) =
            if self.failed == 0 { (Tone::Plain, "none".to_owned()) } else { (Tone::Failed, grouped(self.failed)) };
        // Padded before it is painted: the codes of a colour take no column.
        let errors = tone.paint(colored, &format!("{errors:>12}"));
        let worst = self.worst_error.as_deref().unwrap_or_default();
        let mut lines = vec![
            self.progress(width, colored),
            row("rate", rate(last.per_s), mean, of(|p| Some(p.per_s))),
            row("p50", time(last.p50_ns), String::new(), of(|p| p.p50_ns.map(|ns| ns as f64))),
            row("p99", time(last.p99_ns), "of the last seconds".to_owned(), of(|p| p.p99_ns.map(|ns| ns as f64))),
            format!("  {:<9}{errors}  {}", "errors", cut(worst, width.saturating_sub(26))),
            format!("  {:<9}{:>12}  busy", "generator", share(last.cpu_share.min(1.0))),
        ];
        lines.extend(
            self.agents.iter().take(MOST_AGENTS).map(|(agent, per_s)| agent_line(agent, *per_s, width, colored)),
        );
        if self.agents.len() > MOST_AGENTS {
            lines.push(format!("  and {} more agents", self.agents.len() - MOST_AGENTS));
        }
        lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
        lines
    }

    fn progress(&self, width: usize, colored: bool) -> String {
        let room = width.saturating_sub(34).min(60);
        let full = (self.done_share.clamp(0.0, 1.0) * room as f64).round() as usize;
        let (full, rest) = ("━".repeat(full), "─".repeat(room - full));
        // Rounded up, so that both times add up to the whole.
        let left = self.left.map(|left| Duration::from_secs(left.as_secs_f64().ceil() as u64));
        let left = left.map_or(String::new(), |left| format!(" · {} left", clock_text(left)));
        let bar = Tone::Chart.paint(colored, &full) + &Tone::Quiet.paint(colored, &rest);
        format!("  {bar}  {}{left}", clock_text(self.elapsed))
    }

    /// One plain line, for where there is no terminal.
    pub fn line(&self) -> String {
        match self.phase {
            LoadPhase::Opening(opening) => return format!("  {opening}"),
            LoadPhase::WarmingUp { per_s } => return format!("  {}  {}", clock_text(self.elapsed), warming_up(per_s)),
            LoadPhase::Measuring => {}
        }
        let last = self.points.back().copied().unwrap_or_default();
        let [now, mean] = [last.per_s, self.mean_per_s].map(rate);
        let [p50, p99] = [last.p50_ns, last.p99_ns].map(time);
        let (elapsed, failed, busy) = (clock_text(self.elapsed), grouped(self.failed), share(last.cpu_share.min(1.0)));
        format!("  {elapsed}  {now} (mean {mean})  p50 {p50}  p99 {p99}  {failed} failed  generator {busy} busy")
    }
}

fn agent_line(agent: &AgentRecord, per_s: f64, width: usize, colored: bool) -> String {
    let name = cut(&agent.name, AGENT_NAME);
    if let Some(reason) = &agent.lost {
        let text = cut(&format!("lost: {}", sanitize_line(reason)), width.saturating_sub(AGENT_NAME + 4));
        return format!("  {name:<AGENT_NAME$}  {}", Tone::Failed.paint(colored, &text));
    }
    let busy = share(agent.cpu_share().unwrap_or(0.0).min(1.0));
    let (rate, failed) = (rate(per_s), grouped(agent.failed));
    cut(&format!("  {name:<AGENT_NAME$}  {rate:>12}  {failed} failed  {busy} busy"), width)
}

fn time(ns: Option<u64>) -> String {
    ns.map_or("–".to_owned(), |ns| single(Unit::Nanos, ns as f64))
}

fn warming_up(per_s: f64) -> String {
    format!("warming up, not scored  {}", rate(per_s))
}

/// The latest values as bars from the lowest to the highest of them; a blank where there is none.
fn spark(values: impl Iterator<Item = Option<f64>>, room: usize) -> String {
    let values: Vec<Option<f64>> = values.collect();
    let values = &values[values.len().saturating_sub(room)..];
    let known = || values.iter().flatten().copied();
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    // Bars stand on zero unless that hides all there is to see: noise of 1 % must not look like a mountain.
    let floor = if low > high * 0.5 { high * 0.5 } else { 0.0 };
    let level = |value: f64| if high > floor { ((value - floor) / (high - floor) * 7.0).round() as usize } else { 0 };
    values.iter().map(|value| value.map_or(' ', |value| LEVELS[level(value.max(floor)).min(7)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Seen {
        let point = |per_s: f64, p99_ms: u64| Point {
            per_s,
            p50_ns: Some(2_000_000),
            p99_ns: Some(p99_ms * 1_000_000),
            cpu_share: 0.42,
        };
        Seen {
            title: "http://127.0.0.1:8080/".to_owned(),
            model: "closed loop, 64 users for 10 s".to_owned(),
            phase: LoadPhase::Measuring,
            elapsed: Duration::from_secs(5),
            done_share: 0.5,
            left: Some(Duration::from_secs(5)),
            points: [point(1_000.0, 4), point(9_000.0, 8), point(18_812.0, 5)].into(),
            ok: 94_000,
            failed: 3,
            mean_per_s: 18_790.0,
            worst_error: Some("3 timeout".to_owned()),
            agents: Vec::new(),
        }
    }

    #[test]
    fn each_agent_has_a_line_and_a_lost_one_says_why() {
        let agent = |name: &str, lost: Option<&str>| {
            let (name, lost) = (name.to_owned(), lost.map(str::to_owned));
            let busy = AgentRecord { workers: 1, window_ns: 100, generator_cpu_ns: 37, ..AgentRecord::default() };
            (AgentRecord { name, lost, ..busy }, 9_400.0)
        };
        let agents = vec![agent("local 1", None), agent("ssh://bench2", Some("it sent nothing for 10 s"))];
        let frame = Seen { agents, ..seen() }.frame(80, false);
        assert_eq!(
            frame[frame.len() - 2..],
            [
                "  local 1                        9,400/s  0 failed  37 % busy",
                "  ssh://bench2              lost: it sent nothing for 10 s",
            ]
        );
        let many = Seen { agents: vec![agent("local", None); 40], ..seen() }.frame(80, false);
        assert_eq!(many.last().unwrap(), "  and 28 more agents");
    }

    #[test]
    fn the_picture_of_a_load() {
        let expected = [
            "  http://127.0.0.1:8080/ · closed loop, 64 users for 10 s",
            "  ━━━━━━━━━━━━━━━━━━━━━━━───────────────────────  0:05 · 0:05 left",
            "  rate         18,812/s  mean 18,790/s        ▁▄█",
            "  p50           2.00 ms                       ███",
            "  p99           5.00 ms  of the last seconds  ▅█▅",
            "  errors              3  3 timeout",
            "  generator        42 %  busy",
        ];
        assert_eq!(seen().frame(80, false), expected);
        assert_eq!(
            seen().line(),
            "  0:05  18,812/s (mean 18,790/s)  p50 2.00 ms  p99 5.00 ms  3 failed  generator 42 % busy"
        );
    }

    #[test]
    fn a_narrow_terminal_has_the_load_on_a_line_of_its_own_and_times_add_up() {
        let seen = Seen { elapsed: Duration::from_millis(2_900), left: Some(Duration::from_millis(7_100)), ..seen() };
        let frame = seen.frame(50, false);
        assert_eq!(frame[..2], ["  http://127.0.0.1:8080/", "  closed loop, 64 users for 10 s"]);
        assert!(frame[2].ends_with("  0:02 · 0:08 left"), "{}", frame[2]);
    }

    #[test]
    fn colours_move_no_column() {
        let colored = seen().frame(80, true);
        let plain: Vec<_> = colored.iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect();
        assert_eq!(plain, seen().frame(80, false));
        assert_ne!(colored, plain);
    }

    #[test]
    fn a_load_that_waits_for_its_connections_says_how_many_are_open() {
        let opening = Opening { open: 812, of: 2500, elapsed: Duration::ZERO };
        let waiting = Seen { phase: LoadPhase::Opening(opening), ..seen() };
        let line = "  opening connections  812 of 2,500";
        let title = "  http://127.0.0.1:8080/ · closed loop, 64 users for 10 s";
        assert_eq!((waiting.frame(80, false), &*waiting.line()), (vec![title.to_owned(), line.to_owned()], line));
    }

    #[test]
    fn a_load_that_warms_up_says_that_nothing_is_scored_yet() {
        let warming = Seen { phase: LoadPhase::WarmingUp { per_s: 18_790.0 }, ..seen() };
        let picture = warming.frame(80, false);
        assert_eq!(
            picture[1..],
            [
                "  ━━━━━━━━━━━━━━━━━━━━━━━───────────────────────  0:05 · 0:05 left",
                "  warming up, not scored  18,790/s"
            ]
        );
        assert_eq!(warming.line(), "  0:05  warming up, not scored  18,790/s");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [20, 40, 60, 80, 200] {
            for line in seen().frame(width, false) {
                assert!(console::measure_text_width(&line) <= width.max(46), "{width}: {line}");
            }
        }
    }

    #[test]
    fn sparklines_stand_on_zero_and_leave_gaps() {
        assert_eq!(spark([Some(0.0), None, Some(7.0)].into_iter(), 9), "▁ █");
        assert_eq!(spark([Some(99.0), Some(100.0)].into_iter(), 9), "██");
        assert_eq!(spark([None, None].into_iter(), 9), "  ");
        assert_eq!(spark([Some(1.0), Some(2.0), Some(4.0)].into_iter(), 2), "▅█");
    }
}
