//! The progress of a load: on a terminal a picture, redrawn with each part; elsewhere a plain line every few seconds.

use std::collections::VecDeque;
use std::time::Duration;

use indicatif::ProgressBar;
use tare_analysis::load::describe;
use tare_load::{Opening, Protocol, SliceSample, StopRule};
use tare_record::AgentRecord;
use tare_report::clean::sanitize_line;
use tare_run::load::LoadJob;
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::printable;

use super::picture::{LoadPhase, POINTS, Point, Seen};
use super::{PLAIN_EVERY, redrawn_lines};
use crate::console::{Color, print_note, stderr_colored, stderr_width};

/// Percentiles are those of the latest second, or of the longer time that a p99 needs, in at most so many parts.
const LATEST_NS: u64 = 1_000_000_000;
const MOST_PARTS: usize = 20;

/// Shows a load on standard error until it is dropped.
#[derive(Debug, Default)]
pub struct LoadView {
    seen: Seen,
    stop: Option<StopRule>,
    /// How many results count as one request of the stop rule: the messages that are pushed to a user.
    results_per_request: u64,
    /// Requests, streams and subscriptions that have ended.
    ended: u64,
    head: Duration,
    begin_ns: Option<u64>,
    window_ns: u64,
    completed: u64,
    /// The begin and the answers of the part before.
    before: (u64, u64),
    latest: VecDeque<(u64, LatencyHistogram)>,
    /// What each agent had answered before, and the length of its window then.
    agents_before: Vec<(u64, u64)>,
    last_plain: Duration,
    /// None if nothing is to be shown.
    screen: Option<ProgressBar>,
    colored: bool,
}

impl LoadView {
    /// The picture on a terminal, and plain lines elsewhere; nothing if it is `quiet`.
    pub fn new(job: &LoadJob, quiet: bool, color: Color) -> Self {
        let results_per_request = match job.session.protocol {
            Protocol::Push { messages, .. } | Protocol::Events { messages, .. } => messages.unwrap_or(u64::MAX),
            _ => 1,
        };
        let seen = Seen { title: job.plan.url.clone(), model: describe(&job.plan), ..Seen::default() };
        // The message is the whole picture.
        let screen = (!quiet).then(|| redrawn_lines("{msg}", |style| style));
        let (stop, head) = (Some(job.slice.stop), job.slice.discard_head);
        Self { seen, stop, head, results_per_request, screen, colored: stderr_colored(color), ..Self::default() }
    }

    pub fn wait(&mut self, opening: &Opening) {
        self.seen.phase = LoadPhase::Opening(*opening);
        self.present(opening.elapsed);
    }

    pub fn show(&mut self, part: &SliceSample) {
        if matches!(self.seen.phase, LoadPhase::Opening(_)) {
            // The load's own time begins anew.
            self.last_plain = Duration::ZERO;
        }
        self.note(part);
        self.present(self.seen.elapsed);
    }

    /// Takes in how the agents are; the next part shows it.
    pub fn note_agents(&mut self, agents: &[AgentRecord]) {
        let now = agents.iter().map(|agent| (agent.completed, agent.window_ns)).collect();
        let before: Vec<_> = std::mem::replace(&mut self.agents_before, now);
        let with_rate = |(at, agent): (usize, &AgentRecord)| {
            let (completed, window_ns) = before.get(at).copied().unwrap_or_default();
            (agent.clone(), per_s(agent.completed - completed, agent.window_ns - window_ns))
        };
        self.seen.agents = agents.iter().enumerate().map(with_rate).collect();
    }

    fn present(&mut self, elapsed: Duration) {
        if let Some(screen) = self.screen.as_ref().filter(|screen| !screen.is_hidden()) {
            screen.set_message(self.seen.frame(stderr_width(), self.colored).join("\n"));
        } else if elapsed >= self.last_plain + PLAIN_EVERY {
            self.last_plain = elapsed;
            self.screen.iter().for_each(|_| print_note(&self.seen.line()));
        }
    }

    fn note(&mut self, part: &SliceSample) {
        let begin_ns = *self.begin_ns.get_or_insert(part.start_ns);
        self.window_ns += part.window_ns;
        self.completed += part.completed;
        self.ended += part.answered() + part.failed;
        let (before_ns, answered) = std::mem::replace(&mut self.before, (part.start_ns, part.completed_in_slice));
        let seen = &mut self.seen;
        seen.ok += part.ok;
        seen.failed += part.failed;
        seen.elapsed =
            self.head.min(Duration::from_nanos(part.start_ns - begin_ns)) + Duration::from_nanos(self.window_ns);
        // A part of the head has no window. It lasts until the next part begins.
        let answered_per_s = answered as f64 * 1e9 / part.start_ns.saturating_sub(before_ns).max(1) as f64;
        seen.phase = if self.window_ns == 0 && !self.head.is_zero() {
            LoadPhase::WarmingUp { per_s: answered_per_s }
        } else {
            LoadPhase::Measuring
        };
        seen.mean_per_s = per_s(self.completed, self.window_ns);
        (seen.done_share, seen.left) = match self.stop {
            Some(StopRule::Duration(span)) => {
                let share = seen.elapsed.as_secs_f64() / span.as_secs_f64();
                (share, Some(span.saturating_sub(seen.elapsed)))
            }
            Some(StopRule::Count { requests, .. }) => {
                let begun = (seen.ok + seen.failed) as f64 / self.results_per_request as f64;
                (begun.max(self.ended as f64) / requests as f64, None)
            }
            None => (0.0, None),
        };
        let worst = part.errors.iter().chain(part.connection_events.iter()).max_by_key(|(_, tally)| tally.count);
        let worst = worst.map(|(class, tally)| sanitize_line(&format!("{class}: {}", tally.example)));
        seen.worst_error = worst.or(seen.worst_error.take());
        // The drain has no rate.
        if part.window_ns > 0 {
            let response = latest(&mut self.latest, part);
            seen.points.push_back(point(part, &response));
            if seen.points.len() > POINTS {
                seen.points.pop_front();
            }
        }
    }
}

/// The response times of the latest parts, after taking in one more and letting go of those that are not needed.
fn latest(parts: &mut VecDeque<(u64, LatencyHistogram)>, part: &SliceSample) -> LatencyHistogram {
    parts.push_back((part.window_ns, part.response.clone()));
    let rest = |parts: &VecDeque<(u64, LatencyHistogram)>| {
        let rest = parts.iter().skip(1);
        rest.fold((0, 0), |(ns, count), (window_ns, response)| (ns + window_ns, count + response.len()))
    };
    while parts.len() > MOST_PARTS || matches!(rest(parts), (ns, count) if ns >= LATEST_NS && printable(count, 99.0)) {
        parts.pop_front();
    }
    let mut sum = LatencyHistogram::new();
    parts.iter().for_each(|(_, response)| sum.merge(response));
    sum
}

fn per_s(completed: u64, window_ns: u64) -> f64 {
    if window_ns > 0 { completed as f64 * 1e9 / window_ns as f64 } else { 0.0 }
}

fn point(part: &SliceSample, response: &LatencyHistogram) -> Point {
    Point {
        per_s: part.throughput_per_s(),
        p50_ns: response.percentile_ns(50.0),
        p99_ns: response.percentile_ns(99.0),
        cpu_share: part.generator_cpu_share(),
    }
}

#[cfg(test)]
mod tests {
    use tare_load::ErrorClass;

    use super::*;

    fn part(window_ms: u64, answers: u64, ns: u64) -> SliceSample {
        let mut part = SliceSample { window_ns: window_ms * 1_000_000, ..SliceSample::default() };
        (0..answers).for_each(|_| part.response.record_ns(ns));
        part
    }

    fn live(head: Duration) -> LoadView {
        LoadView { stop: Some(StopRule::Duration(Duration::from_secs(60))), head, ..LoadView::default() }
    }

    #[test]
    fn plain_lines_come_every_five_seconds_of_waiting_for_connections_and_of_the_load() {
        let mut live = live(Duration::ZERO);
        let opening = |secs| Opening { open: 812, of: 2500, elapsed: Duration::from_secs(secs) };
        for (secs, last) in [(4, 0), (5, 5), (8, 5), (11, 11)] {
            live.wait(&opening(secs));
            assert_eq!(live.last_plain, Duration::from_secs(last), "{secs} s");
        }
        for (part_ms, last) in [(4_000, 0), (1_500, 5)] {
            live.show(&part(part_ms, 1, 1_000));
            assert!(live.last_plain.as_secs() == last && live.seen.phase == LoadPhase::Measuring, "{last} s");
        }
    }

    #[test]
    fn as_long_as_a_load_warms_up_it_tells_its_pace_and_no_figure() {
        let mut live = live(Duration::from_secs(1));
        for (start_ms, window_ms, answered, warming) in
            [(0, 0, 300, Some(0.0)), (500, 0, 400, Some(600.0)), (1_000, 500, 450, None), (1_500, 500, 450, None)]
        {
            let begun = SliceSample {
                start_ns: start_ms * 1_000_000,
                completed_in_slice: answered,
                ..part(window_ms, 1, 1_000)
            };
            live.show(&begun);
            let phase = warming.map_or(LoadPhase::Measuring, |per_s| LoadPhase::WarmingUp { per_s });
            assert_eq!(live.seen.phase, phase, "{start_ms} ms");
        }
    }

    #[test]
    fn of_streams_without_a_number_of_events_those_that_have_ended_are_the_progress() {
        let stop = Some(StopRule::Count { requests: 8, at_most: Duration::MAX });
        let mut live = LoadView { stop, results_per_request: u64::MAX, ..LoadView::default() };
        let mut read = SliceSample { ok: 700, failed: 1, ..part(500, 1, 1_000) };
        (read.messages.received, read.messages.subscriptions) = (700, 3);
        live.show(&read);
        assert_eq!(live.seen.done_share, 0.5);
    }

    #[test]
    fn what_others_say_moves_no_cursor() {
        let mut live = live(Duration::ZERO);
        let mut failed = part(1_000, 1, 1_000);
        failed.errors.add_failure(ErrorClass::Read, "closed with \u{1b}[2J");
        live.show(&failed);
        assert_eq!(live.seen.worst_error.as_deref(), Some("read: closed with \u{FFFD}[2J"));
    }

    #[test]
    fn percentiles_are_of_the_latest_second_or_of_enough_answers() {
        for (parts, answers, held) in [(30, 500, 10), (30, 60, 17), (30, 1, 20), (3, 500, 3)] {
            let mut parts_held = VecDeque::new();
            let lens = (0..parts).map(|_| latest(&mut parts_held, &part(100, answers, 1_000)).len()).last();
            assert_eq!((parts_held.len(), lens), (held, Some(held as u64 * answers)), "{answers} answers a part");
        }
    }
}
