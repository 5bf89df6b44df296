//! The progress of a run: a line for each comparison, and one for the current step. Lines of decided comparisons stay.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState};
use tare_record::checkpoint::{ComparisonState, ReasonToStop};
use tare_record::{EventLevel, EventRecord};
use tare_report::clean::sanitize_line;
use tare_run::progress::{Progress, RunPosition};
use tare_sys::clock::{self, Nanos};
use tare_units::clock_text;

use super::{PLAIN_EVERY, cut, redrawn_lines};
use crate::console::{Color, check_mark, event_mark, print_marked, print_note, stderr_colored, stderr_width};

/// More open comparisons than this are not shown live: the report shows them all.
const MOST_LINES: usize = 12;

const LEFT_WIDTH: usize = 20;

const LOG_WIDTH: usize = 200;

/// Group, scenario and variant.
type Key = (String, String, String);

/// Shows the progress of a run on standard error, until it is dropped.
#[derive(Debug)]
pub struct RunView {
    screen: ProgressBar,
    colored: bool,
    /// The current step, without the connections that it may wait for.
    current_step: String,
    countdown: Countdown,
    last_plain: Option<Nanos>,
    /// How each open comparison stands, as it was shown last.
    open: BTreeMap<Key, String>,
    decided: BTreeSet<Key>,
}

/// The longest time that the run may still take, counted down from the value at the beginning of a fork.
#[derive(Debug, Clone, Default)]
struct Countdown(Arc<Mutex<Option<(Duration, Nanos)>>>);

impl Countdown {
    /// Sets the time left. Steps within a fork repeat the same time, which does not restart the countdown.
    fn set(&self, left: Duration, at: Nanos) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_none_or(|(before, _)| before != left) {
            *state = Some((left, at));
        }
    }

    /// `≤ 3:20 left`, once it is known.
    fn text(&self, at: Nanos) -> String {
        let state = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.map_or(String::new(), |(left, since)| {
            format!("≤ {} left", clock_text(left.saturating_sub(Duration::from_nanos(at.since(since)))))
        })
    }
}

impl RunView {
    /// Live lines on a terminal, plain ones elsewhere.
    pub fn new(color: Color) -> Self {
        let countdown = Countdown::default();
        let left = {
            let countdown = countdown.clone();
            move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
                // The time left is not shown if it cannot be written.
                let _ = out.write_str(&countdown.text(clock::now()));
            }
        };
        let screen = redrawn_lines("{prefix}  {spinner} {msg}  {left}", |style| {
            style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ").with_key("left", left)
        });
        if !screen.is_hidden() {
            screen.enable_steady_tick(Duration::from_millis(125));
        }
        Self {
            screen,
            colored: stderr_colored(color),
            current_step: String::new(),
            countdown,
            last_plain: None,
            open: BTreeMap::new(),
            decided: BTreeSet::new(),
        }
    }

    pub fn show(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Event(event) => self.event(event),
            Progress::Standing { place, standings } => self.standings(place, standings),
            Progress::At(place, text) => self.current_step = self.show_at(place, text),
            Progress::Opening(place, text) => drop(self.show_at(place, text)),
            Progress::Preflight { what } => self.show_step(&format!("preflight: {what}")),
            Progress::Begun => self.show_step(&self.current_step.clone()),
        }
    }

    /// Shows what is done at a place of the run; returns the text with the place.
    fn show_at(&mut self, place: &RunPosition<'_>, text: &str) -> String {
        self.countdown.set(place.left, clock::now());
        let text = step_text(place, text);
        self.show_step(&text);
        text
    }

    pub fn show_step(&mut self, text: &str) {
        if !self.screen.is_hidden() {
            self.screen.set_message(cut(&sanitize_line(text), stderr_width().saturating_sub(LEFT_WIDTH)));
        } else if self.last_plain.is_none_or(|last| clock::now() >= last + PLAIN_EVERY) {
            let left = self.countdown.text(clock::now());
            print_note(format!("  {text}  {left}").trim_end());
            self.last_plain = Some(clock::now());
        }
    }

    pub fn line(&mut self, text: &str) {
        self.marked_line("", text);
    }

    /// A line that stays, behind a mark that may have a colour.
    fn marked_line(&mut self, mark: &str, text: &str) {
        self.screen.suspend(|| print_marked(mark, text));
        self.last_plain = Some(clock::now());
    }

    fn event(&mut self, event: &EventRecord) {
        if event.level == EventLevel::Info {
            return;
        }
        let whose = event.variant.as_deref().map_or(String::new(), |variant| format!("{variant}: "));
        let mark = format!("  {} ", event_mark(event.level, self.colored));
        self.marked_line(&mark, &format!("{whose}{}: {}", event.title, event.text));
        for line in event.log.iter().flat_map(|log| log.lines()) {
            self.line(&format!("      │ {}", cut(line, LOG_WIDTH)));
        }
        if let Some(remedy) = &event.remedy {
            self.line(&format!("      {remedy}"));
        }
    }

    /// What is newly decided gets a line that stays; without a terminal every standing does that has changed.
    fn standings(&mut self, place: &RunPosition<'_>, standings: &[ComparisonState]) {
        // No wider than the names of this group: 80 columns must show the interval, too.
        let width_of = |name: fn(&ComparisonState) -> &String| {
            standings.iter().map(|standing| name(standing).chars().count()).max().unwrap_or_default()
        };
        let (scenario_width, variant_width) = (width_of(|of| &of.scenario), width_of(|of| &of.variant));
        for standing in standings {
            let key = (standing.group.clone(), standing.scenario.clone(), standing.variant.clone());
            let is_decided = standing.reason_to_stop.is_some();
            let mark = standing_mark(standing.reason_to_stop, self.colored);
            let needed = standing.needed.filter(|_| !is_decided);
            let needed = needed.map_or(String::new(), |more| format!("  (about {} more)", clock_text(more)));
            let ComparisonState { scenario, variant, text, .. } = standing;
            let text = format!(
                "{scenario:<scenario_width$}  {variant:<variant_width$}  start {:<2} {text}{needed}",
                place.fork
            );
            let is_new = if is_decided {
                self.open.remove(&key);
                // A verdict is printed once, and not again after every fork.
                self.decided.insert(key)
            } else {
                let line = format!("  {mark} {text}");
                self.open.insert(key, line.clone()) != Some(line) && self.screen.is_hidden()
            };
            if is_new {
                self.marked_line(&format!("  {mark} "), &text);
            }
        }
        let lines: String = self.open.values().take(MOST_LINES).map(|line| cut(line, stderr_width()) + "\n").collect();
        self.screen.set_prefix(lines);
    }
}

/// ✓ where a comparison is settled, ✗ where it is void, a dot while it is open.
fn standing_mark(reason_to_stop: Option<ReasonToStop>, colored: bool) -> String {
    reason_to_stop.map_or_else(|| "·".to_owned(), |reason| check_mark(reason != ReasonToStop::Void, colored))
}

fn step_text(place: &RunPosition<'_>, text: &str) -> String {
    match place {
        RunPosition { step, of: Some(of), .. } => format!("{step} of {of}  {text}"),
        RunPosition { step, .. } => format!("start {step}  {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: RunPosition<'_> =
        RunPosition { group: "g", fork: 1, step: 1, of: Some(4), left: Duration::from_secs(200) };

    #[test]
    fn the_time_left_is_counted_down_until_it_is_said_anew() {
        let (countdown, begun) = (Countdown::default(), clock::now());
        let after = |seconds| countdown.text(begun + Duration::from_secs(seconds));
        assert_eq!(after(0), "", "nothing is known before the first fork");
        let mut live = RunView { countdown: countdown.clone(), ..RunView::new(Color::Never) };
        live.show(&Progress::At(PLACE, "verifying the answers"));
        let set = |left, seconds| countdown.set(Duration::from_secs(left), begun + Duration::from_secs(seconds));
        set(200, 50);
        assert_eq!((after(0).as_str(), after(999).as_str()), ("≤ 3:20 left", "≤ 0:00 left"));
        assert!(["≤ 2:20 left", "≤ 2:21 left"].contains(&after(60).as_str()), "the same again changes nothing");
        set(90, 60);
        assert_eq!(after(65), "≤ 1:25 left");
    }

    #[test]
    fn how_comparisons_stand_fits_80_columns_with_their_intervals() {
        let standing = |variant: &str, text: &str| ComparisonState {
            group: "g".to_owned(),
            scenario: "SimpleGet".to_owned(),
            variant: variant.to_owned(),
            text: text.to_owned(),
            forks: 3,
            has_verdict: false,
            reason_to_stop: None,
            needed: None,
        };
        let mut live = RunView::new(Color::Never);
        let (tapir, interceptor) = ("inconclusive +22 % [−9, +65]", "+15.0 %");
        let standings = [standing("http4s.Tapir", tapir), standing("http4s.TapirInterceptor", interceptor)];
        live.show(&Progress::Standing { place: PLACE, standings: &standings });
        let lines: Vec<&str> = live.open.values().map(String::as_str).collect();
        let expected = [
            "  · SimpleGet  http4s.Tapir             start 1  inconclusive +22 % [−9, +65]",
            "  · SimpleGet  http4s.TapirInterceptor  start 1  +15.0 %",
        ];
        assert_eq!(lines, expected);
        assert!(lines.iter().all(|line| cut(line, 80) == **line), "{lines:?}");
    }

    #[test]
    fn what_is_void_has_no_tick() {
        let marks = [None, Some(ReasonToStop::Void), Some(ReasonToStop::BeyondSearch)];
        assert_eq!(marks.map(|reason| standing_mark(reason, false)), ["·", "✗", "✓"]);
    }

    #[test]
    fn a_slice_that_waits_for_its_connections_says_so_until_it_begins() {
        let announced = "WebSocketPush  http4s.Tapir  pushed to all users  slice 1/2";
        let opening = "WebSocketPush  http4s.Tapir  opening connections  812 of 2,500";
        assert_eq!(step_text(&PLACE, opening), format!("1 of 4  {opening}"));
        let mut live = RunView::new(Color::Never);
        for progress in [Progress::At(PLACE, announced), Progress::Opening(PLACE, opening), Progress::Begun] {
            live.show(&progress);
            let step = format!("1 of 4  {announced}");
            assert_eq!(live.current_step, step, "which stands there again once the slice has begun");
        }
    }
}
