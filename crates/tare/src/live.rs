//! A run as it goes on: one live line on a terminal, plain lines elsewhere, and what is decided stays.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tare_plan::plan::SliceKind;
use tare_record::sample::{EventLevel, EventRecord};
use tare_run::progress::{Place, Progress, Standing};

use crate::console::{clock, note, paint};

/// Without a terminal, a line at most this often, unless something has been decided.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// Shows the progress of a run on standard error.
#[derive(Debug)]
pub struct Live {
    bar: Option<ProgressBar>,
    colored: bool,
    last_plain: Option<Instant>,
    told: std::collections::BTreeMap<(String, String, String), String>,
}

impl Live {
    /// `terminal` decides between one live line and plain ones.
    pub fn new(terminal: bool, colored: bool) -> Self {
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            let style = ProgressStyle::with_template("  {spinner} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            bar.set_style(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
            bar.enable_steady_tick(Duration::from_millis(125));
            bar
        });
        Self { bar, colored, last_plain: None, told: std::collections::BTreeMap::new() }
    }

    /// Shows one thing.
    pub fn show(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Event(event) => self.event(event),
            Progress::Standing { place, standings } => self.standings(place, standings),
            other => self.going_on(&sentence(other)),
        }
    }

    /// Shows what a build or another long step is doing.
    pub fn going_on(&mut self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        } else if self.last_plain.is_none_or(|last| last.elapsed() >= PLAIN_EVERY) {
            note(&format!("  {text}"));
            self.last_plain = Some(now());
        }
    }

    /// A line that stays.
    pub fn line(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(text)),
            None => note(text),
        }
        self.last_plain = Some(now());
    }

    /// Takes the live line away.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn event(&mut self, event: &EventRecord) {
        let (mark, color) = match event.level {
            EventLevel::Info => return,
            EventLevel::Warning => ("!", "33"),
            EventLevel::Error => ("✗", "31"),
        };
        let whose = event.variant.as_deref().map_or(String::new(), |variant| format!("{variant}: "));
        self.line(&format!("  {} {whose}{}: {}", paint(self.colored, color, mark), event.title, event.text));
        for line in event.log.iter().flat_map(|log| log.lines()) {
            self.line(&format!("      │ {}", printable(line)));
        }
        if let Some(remedy) = &event.remedy {
            self.line(&format!("      {remedy}"));
        }
    }

    /// What is newly decided gets a line that stays; without a terminal every standing does.
    fn standings(&mut self, place: &Place<'_>, standings: &[Standing]) {
        for standing in standings {
            let key = (standing.group.clone(), standing.scenario.clone(), standing.variant.clone());
            let decided = if standing.decided { "decided" } else { "open" };
            let text = format!(
                "{} {:<20} {:<28} fork {:<3} {}",
                if standing.decided { paint(self.colored, "32", "✓") } else { "·".to_owned() },
                standing.scenario,
                standing.variant,
                place.fork,
                standing.text
            );
            let was_decided = self.told.insert(key, decided.to_owned()).as_deref() == Some("decided");
            if !was_decided && (standing.decided || self.bar.is_none()) {
                self.line(&format!("  {text}"));
            } else if self.bar.is_some() && !standing.decided {
                self.going_on(&text[text.find(' ').map_or(0, |at| at + 1)..]);
            }
        }
    }
}

/// The one live line.
fn sentence(progress: &Progress<'_>) -> String {
    match progress {
        Progress::Preflight { what } => format!("preflight: {what}"),
        Progress::Starting { place, servers: 1 } => {
            format!("{}  starting {}  {}", fork(place), place.group, left(place))
        }
        Progress::Starting { place, servers } => {
            format!("{}  starting {servers} servers  {}", fork(place), left(place))
        }
        Progress::Verifying { place } => format!("{}  verifying the answers  {}", fork(place), left(place)),
        Progress::WarmingUp { place, scenario, elapsed, cap, steady: (steady, of), jit_share } => {
            let jit = jit_share.map_or(String::new(), |share| format!("  JIT {:.0} % of CPU", share * 100.0));
            let warm = if *of > 1 { format!("  {steady} of {of} steady") } else { String::new() };
            format!(
                "{}  {scenario}  warming up {} of ≤ {}{jit}{warm}  {}",
                fork(place),
                clock(*elapsed),
                clock(*cap),
                left(place)
            )
        }
        Progress::Measuring { place, scenario, variant, kind, slice, slices, last_per_s } => {
            let load = match kind {
                SliceKind::Saturating => "all users",
                SliceKind::Fixed => "fixed rate",
                SliceKind::Poisson => "Poisson",
            };
            let rate = last_per_s.map_or(String::new(), |rate| format!("  {}", rate_text(rate)));
            format!("{}  {scenario}  {variant}  {load}  slice {slice}/{slices}{rate}  {}", fork(place), left(place))
        }
        _ => String::new(),
    }
}

fn fork(place: &Place<'_>) -> String {
    match place.of {
        Some(of) => format!("{} of {of}", place.step),
        None => format!("fork {}", place.step),
    }
}

fn left(place: &Place<'_>) -> String {
    format!("≤ {} left", clock(place.left))
}

fn rate_text(per_s: f64) -> String {
    if per_s >= 10_000.0 { format!("{:.1} k/s", per_s / 1000.0) } else { format!("{per_s:.0}/s") }
}

/// What a server wrote, without anything that a terminal would act on.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).take(200).collect()
}

#[allow(clippy::disallowed_methods, reason = "paces the terminal; nothing that is recorded")]
fn now() -> Instant {
    Instant::now()
}
