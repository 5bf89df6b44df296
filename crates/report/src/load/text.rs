//! What a terminal shows of a load once it is over: the verdict, the figures, both latencies, errors, the generator.

use super::agents::{agent_line, fleet_line};
use super::answers;
use crate::clean;
use crate::palette::Tone;
use crate::text::{Style, ended_early, messages};
use tare_analysis::format::{Scale, Unit, clocks, count, duration, grouped, rate, sentence, share, single};
use tare_analysis::load::{Connections, Generator, LoadServer, LoadSummary, ThresholdResult};
use tare_analysis::summary::{Distribution, HistogramBin, Row, Validity, ValidityState};
use tare_record::MessageTally;

/// Columns of the longest bar, where the terminal has room for it.
const BAR: usize = 30;
/// Columns of the latencies, to the left of the histogram.
const LATENCIES: usize = 40;
/// Columns of the upper bound of a bar.
const BOUND: usize = 9;
/// What became of a condition of `--fail-if`.
const FAILED: &str = "failed";
const PASSED: &str = "passed";
const LABEL: usize = 13;

pub fn render(summary: &LoadSummary, style: &Style) -> String {
    let mut out = style.heading(&format!("tare load · {}", summary.url)) + "\n";
    let model = format!("  {}{}", summary.model.text, ended_early(summary.status));
    out += &(style.paragraph(Tone::Plain, &model, 2) + "\n");
    out += &verdict(&summary.verdict, summary.notes.is_empty(), style);
    out.extend(figure_rows(summary).iter().map(|row| painted_row(style, row)));
    out += "\n";
    out += &latencies(summary, style);
    out += &answers::urls(&summary.urls, style);
    out += &errors(summary, style);
    out.extend(closing_rows(summary).iter().map(|row| painted_row(style, row)));
    out
}

fn labelled(label: &str, text: String) -> Row {
    Row { key: label.to_owned(), value: text, source: None }
}

/// The generator, the conditions, the notes, and what the latencies include.
pub(super) fn closing_rows(summary: &LoadSummary) -> Vec<Row> {
    let condition = |one: &ThresholdResult| {
        let outcome = if one.failed { FAILED } else { PASSED };
        let text = format!("--fail-if {} · {}{}", clean::sanitize_line(&one.condition), one.verb(), one.measured);
        labelled(outcome, text)
    };
    let mut rows = vec![labelled("generator", generator(summary))];
    rows.extend(fleet_line(&summary.agents).map(|line| labelled("agents", line)));
    rows.extend(summary.agents.iter().map(|agent| labelled("agent", agent_line(agent))));
    rows.extend(summary.thresholds.iter().map(condition));
    rows.extend(summary.notes.iter().map(|note| labelled("note", clean::sanitize_line(note))));
    rows.push(labelled(&model(summary), summary.model.meaning.clone()));
    rows
}

/// A labelled line, the outcome of a condition in colour.
fn painted_row(style: &Style, Row { key: label, value: text, .. }: &Row) -> String {
    let tone = match label.as_str() {
        FAILED => Tone::Void,
        PASSED => Tone::Better,
        _ => Tone::Plain,
    };
    labelled_line(style, label, text).replacen(label, &tone.paint(style.colored, label), 1)
}

fn labelled_line(style: &Style, label: &str, text: &str) -> String {
    style.paragraph(Tone::Plain, &format!("  {label:LABEL$}{text}"), 2 + LABEL)
}

fn model(summary: &LoadSummary) -> String {
    let kind = &summary.model.loop_kind;
    if summary.messages.is_some() { kind.clone() } else { format!("{kind} loop") }
}

fn verdict(verdict: &Validity, is_alone: bool, style: &Style) -> String {
    let tone = match verdict.state {
        ValidityState::Valid => Tone::Better,
        ValidityState::Suspect => Tone::Worse,
        ValidityState::Void => Tone::Void,
    };
    let word = verdict.state.name().to_uppercase();
    let mut lines = verdict.reasons.iter().map(|reason| {
        let remedy = reason.remedy.as_ref().map(|remedy| format!(" {remedy}")).unwrap_or_default();
        format!("{}{remedy}", sentence(&reason.text))
    });
    let without = if is_alone { "nothing speaks against these numbers" } else { "see the notes below" };
    let first = lines.next().unwrap_or_else(|| without.to_owned());
    let mut out = labelled_line(style, &word, &first);
    out.extend(lines.map(|line| labelled_line(style, "", &line)));
    out.replacen(&word, &tone.paint(style.colored, &word), 1) + "\n"
}

/// The lowest share of a constant rate, answered, at which the load counts as made.
const KEPT_UP: f64 = 0.95;

/// The constant rate that was offered, where the server answered less.
pub(super) fn missed_rate(summary: &LoadSummary) -> Option<f64> {
    summary.model.offered_per_s.filter(|offered| summary.throughput_per_s < KEPT_UP * offered)
}

pub(super) fn figure_rows(summary: &LoadSummary) -> Vec<Row> {
    let offered = missed_rate(summary).map_or_else(String::new, |offered| format!(" of {} offered", rate(offered)));
    let throughput = format!("{}{offered} over {}", rate(summary.throughput_per_s), window(summary.window_s));
    let mut rows = vec![labelled("throughput", throughput), outcome(summary)];
    rows.extend(answers::statuses(&summary.statuses).map(|text| labelled("statuses", text)));
    rows.extend([labelled("bytes", bytes(summary)), labelled("connections", connections(summary))]);
    if let Some(server) = &summary.server {
        rows.push(labelled("server", use_of_server(server)));
        rows.extend(server.tail.iter().map(|line| labelled("tail", line.clone())));
    }
    rows
}

fn bytes(summary: &LoadSummary) -> String {
    let of = |sum: u64| single(Unit::Bytes, sum as f64);
    let per_s =
        |sum: u64| single(Unit::Bytes, if summary.window_s > 0.0 { sum as f64 / summary.window_s } else { 0.0 });
    let (received, sent) = (summary.bytes.in_bytes, summary.bytes.out_bytes);
    format!("in {} ({}/s), out {} ({}/s)", of(received), per_s(received), of(sent), per_s(sent))
}

fn connections(summary: &LoadSummary) -> String {
    let connections = summary.connections;
    let (opened, lost) = (grouped(connections.opened), grouped(connections.lost));
    let in_use = grouped(summary.model.connections.into());
    format!("{in_use} in use, {opened} opened, {lost} lost{}", handshakes(connections))
}

/// `java (process 4711): 41 µs of CPU a request, 0.82 cores busy, 9.6 KiB allocated a request, 512 MiB resident (600 MiB at most)`.
fn use_of_server(server: &LoadServer) -> String {
    let bytes = |bytes: u64| single(Unit::Bytes, bytes as f64);
    let peak = server.rss_peak_bytes.map_or(String::new(), |peak| format!(" ({} at most)", bytes(peak)));
    let known = [
        server.cpu_ns_per_request.map(|ns| format!("{} of CPU a request", single(Unit::Nanos, ns))),
        server.cores.map(|cores| format!("{cores:.2} cores busy")),
        server.allocated_bytes_per_request.map(|of| format!("{} allocated a request", single(Unit::Bytes, of))),
        server.rss_bytes.map(|rss| format!("{} resident{peak}", bytes(rss))),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let known = if known.is_empty() { "its use is not known".to_owned() } else { known.join(", ") };
    clean::sanitize_line(&format!("{}: {known}", server.process)).to_string()
}

fn outcome(summary: &LoadSummary) -> Row {
    let requests = summary.requests;
    match &summary.messages {
        Some(pushed) => {
            let are_events = pushed.gap.is_some();
            let (label, ended) = if are_events { ("events", "failed") } else { ("messages", "disconnected early") };
            let counts = messages::counts(&pushed.tally, requests.failed, are_events);
            labelled(label, format!("{counts}; {} {ended}", grouped(requests.failed)))
        }
        None => {
            let (ok, failed) = (grouped(requests.ok), grouped(requests.failed));
            let part = share(requests.failed_share);
            labelled("requests", format!("{ok} answered as expected, {failed} failed ({part})"))
        }
    }
}

/// How far the stamps in messages may be trusted; `None` where no message has a stamp.
fn stamps(tally: &MessageTally) -> Option<String> {
    let (unit_ns, clocks) = (tally.stamp_unit_ns, clocks::in_words(tally));
    match (unit_ns, tally.clock) {
        (0, None) => None,
        (0, Some(_)) => Some(format!("give no latency: the {clocks}")),
        _ => Some(format!("to {}; the {clocks}", single(Unit::Nanos, unit_ns as f64))),
    }
}

fn handshakes(connections: Connections) -> String {
    if connections.tls_handshakes == 0 {
        return String::new();
    }
    let (all, resumed) = (count(connections.tls_handshakes, "TLS handshake"), grouped(connections.tls_resumed));
    format!("; {all}, {resumed} resumed a session")
}

fn window(seconds: f64) -> String {
    if seconds < 1.0 { duration(seconds) } else { format!("{seconds:.1} s") }
}

/// Both clocks, or of pushes latency and jitter, or of events the time to the first one and the gaps, side by side, the histogram of the first to their right.
fn latencies(summary: &LoadSummary, style: &Style) -> String {
    let response = &summary.response;
    let (second, heads) = match &summary.messages {
        Some(messages) => {
            let (name, between) = messages.between();
            (between, [if messages.gap.is_some() { "first event" } else { "push" }, name])
        }
        None => (&summary.service, ["response", "service"]),
    };
    let rows_of = if response.count > 0 { response } else { second };
    if rows_of.count == 0 {
        return String::new();
    }
    let mut left = vec![format!("{:LABEL$}{:>11}  {:>11}", "latency", heads[0], heads[1])];
    for (name, _) in rows(rows_of) {
        let of = |latency: &Distribution| rows(latency).into_iter().find(|(other, _)| *other == name);
        let value = |latency: &Distribution| of(latency).map(|(_, value)| value).unwrap_or_default();
        left.push(format!("{name:>10}   {:>11}  {:>11}", value(response), value(second)));
    }
    let right = bars(&response.histogram, style.width.saturating_sub(2 + LATENCIES));
    let mut out = String::new();
    for line in 0..left.len().max(right.len()) {
        let (left, right) = (left.get(line).map_or("", String::as_str), right.get(line).map_or("", String::as_str));
        let pad = LATENCIES.saturating_sub(left.chars().count());
        let line = format!("  {left}{}{}", " ".repeat(pad), Tone::Quiet.paint(style.colored, right));
        out += line.trim_end();
        out += "\n";
    }
    out + "\n"
}

fn rows(latency: &Distribution) -> Vec<(String, String)> {
    let time = |ns: f64| single(Unit::Nanos, ns);
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut push = |name: &str, ns: Option<f64>| rows.extend(ns.map(|ns| (name.to_owned(), time(ns))));
    push("min", latency.min_ns.map(|ns| ns as f64));
    push("mean", latency.mean_ns);
    for stated in &latency.percentiles {
        push(&format!("p{}", stated.percentile), Some(stated.value_ns as f64));
    }
    push("max", latency.max_ns.map(|ns| ns as f64));
    rows
}

/// One line per bar, in at most `room` columns: its upper bound, its length, its count.
fn bars(bins: &[HistogramBin], room: usize) -> Vec<String> {
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let longest = room.saturating_sub(BOUND + 3 + grouped(most).len()).clamp(4, BAR) as u64;
    let bar = |bin: &HistogramBin| {
        // Even a single sample among millions gets a visible bar.
        let length = (bin.count * longest).div_ceil(most) as usize;
        // Bounds span decades: in the unit of the last, the first would be nothing.
        let upto = bin.upto_ns as f64;
        let scale = Scale::for_values(Unit::Nanos, [upto]);
        let bound = format!("≤ {} {}", scale.without_unit(upto), scale.unit());
        let number = if bin.count > 0 { grouped(bin.count) } else { String::new() };
        format!("{bound:>BOUND$}  {} {number}", "▇".repeat(length))
    };
    let head = (!bins.is_empty()).then(|| format!("{:>BOUND$}  response times", ""));
    head.into_iter().chain(bins.iter().map(bar)).collect()
}

/// Failed requests, then connection events: a line per class.
fn errors(summary: &LoadSummary, style: &Style) -> String {
    let mut out = String::new();
    let failed = summary.errors.iter().map(|error| ("errors", error));
    let events = summary.connection_events.iter().map(|event| ("connection", event));
    for (label, error) in failed.chain(events) {
        let text = format!("{} {}: {}", grouped(error.count), error.class, error.example);
        out += &labelled_line(style, label, &text);
    }
    if out.is_empty() { out } else { out + "\n" }
}

fn generator(summary: &LoadSummary) -> String {
    let generator = &summary.generator;
    let (one, lags) = match &summary.messages {
        Some(pushed) => {
            let stamps = stamps(&pushed.tally).map_or(String::new(), |stamps| format!(" · stamps {stamps}"));
            (if pushed.gap.is_some() { "an event" } else { "a message" }, stamps)
        }
        None => ("a request", lags(generator)),
    };
    let cores = if generator.cpus.contains([',', '-']) { "cores" } else { "core" };
    let busy = generator.cpu_share.map_or(String::new(), |part| format!(", {} busy", share(part)));
    let awake = generator.spin_share.filter(|part| *part > 0.0);
    let awake = awake.map_or(String::new(), |part| format!(", {} awake in wait", share(part)));
    let cost = generator.cpu_ns_per_request.map_or(String::new(), |ns| format!(", {} {one}", single(Unit::Nanos, ns)));
    let blocked = generator.blocked_mean_ns.map_or(String::new(), |mean| {
        let waited = single(Unit::Nanos, mean);
        format!(" · {} waited for a free connection, {waited} on average", count(generator.blocked, "request"))
    });
    format!("{cores} {}{busy}{cost}{awake}{lags}{blocked}", generator.cpus)
}

/// How late requests left, and answers may have been stamped. Users that wait for an answer send when it is there: they have no
/// send lag.
fn lags(generator: &Generator) -> String {
    let lag = |name: &str, p50: Option<u64>, p99: Option<u64>| {
        let time = |ns: u64| single(Unit::Nanos, ns as f64);
        let (p50, p99) = p50.zip(p99)?;
        Some(format!("{name} p50 {}, p99 {}", time(p50), time(p99)))
    };
    let send = lag("send lag", generator.send_lag_p50_ns, generator.send_lag_p99_ns);
    let stamp = lag("stamp lag at most", generator.stamp_lag_p50_ns, generator.stamp_lag_p99_ns);
    let lags: Vec<String> = send.into_iter().chain(stamp).collect();
    if lags.is_empty() { String::new() } else { format!(" · {}", lags.join(", ")) }
}
