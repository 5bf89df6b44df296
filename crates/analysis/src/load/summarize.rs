//! From the record of a load to its summary: pure, and possible at any time again.

use tare_plan::load_plan::{LoadModel, ServerProcess};
use tare_record::{
    AgentRecord, EndStatus, EventName, EventRecord, LoadRecord, RequestTally, SliceSample, StatusTallies, StatusTally,
    StoredSlice,
};
use tare_stats::histogram::LatencyHistogram;

use super::summary::*;
use super::{bars, describe, merged, response_times, threshold};
use crate::cell::{cell_of_load, distribution, generator_share, level, of_cut_off, room_ns};
use crate::format::{Unit, count, rfc3339, sentence, single};
use crate::run_info::{environment_sections, run_status, setting_sections, shell};
use crate::summary::{Cell, Distribution, ErrorCount, Estimate, MessageSummary, RunStatus, StatusCount, UrlSummary};
use crate::words::findings::of_machine;
use crate::words::tail::tails;

pub fn summarize(record: &LoadRecord) -> LoadSummary {
    let header = &record.header;
    let plan = &header.plan;
    let cell = cell_of_load(record);
    let sum = |of: fn(&StoredSlice) -> u64| record.intervals.iter().map(of).sum::<u64>();
    let window_ns = sum(|s| s.load.window_ns);
    let (ok, failed) = (sum(|s| s.load.answered()), sum(|s| s.load.failed));
    let offered = ok + failed;
    let requests_apart = tallies(record);
    let throughput_per_s = level::throughput(record.intervals.iter()).unwrap_or(0.0);
    let server = plan.server.as_ref().map(|process| use_of_server(record, process, &cell));
    let mut summary = LoadSummary {
        schema: SCHEMA.to_owned(),
        url: plan.url.clone(),
        started_at: rfc3339(header.started_unix_ns),
        command: shell(&header.command),
        tare_version: header.tare_version.clone(),
        seed: plan.seed,
        status: run_status(record.end),
        interrupted: matches!(record.end, Some((EndStatus::Interrupted, _))),
        model: model(record),
        window_s: window_ns as f64 / 1e9,
        verdict: cell.validity,
        throughput_per_s,
        requests: Requests { offered, ok, failed, failed_share: failed as f64 / offered.max(1) as f64 },
        response: latency(&response_times(record)),
        service: latency(&merged(record, |load| &load.service)),
        messages: message_summary(record),
        server,
        errors: most_frequent_first(cell.errors),
        statuses: status_counts(record),
        urls: url_summaries(requests_apart.as_deref().unwrap_or_default(), throughput_per_s),
        connection_events: most_frequent_first(cell.connection_events),
        bytes: Bytes { in_bytes: sum(|s| s.load.bytes_in), out_bytes: sum(|s| s.load.bytes_out) },
        connections: Connections {
            opened: sum(|s| s.load.connections_opened),
            lost: sum(|s| s.load.connections_lost),
            tls_handshakes: sum(|s| s.load.tls_handshakes),
            tls_resumed: sum(|s| s.load.tls_resumed),
        },
        generator: generator(record),
        agents: record.agents.iter().map(agent).collect(),
        thresholds: Vec::new(),
        intervals: record.intervals.iter().map(interval).collect(),
        notes: notes(record),
        settings: setting_sections(&plan.settings, false),
        environment: environment_sections(&header.environment),
    };
    summary.thresholds =
        plan.conditions.iter().map(|one| threshold::hold(one, &summary, record, requests_apart.as_deref())).collect();
    summary
}

/// What was cut off, and what about the machine disturbs.
fn notes(record: &LoadRecord) -> Vec<String> {
    let is_in_verdict = |event: &EventRecord| match event.kind.name() {
        EventName::AgentLost => true,
        EventName::RequestsCutOff => of_cut_off(record).is_some(),
        _ => false,
    };
    let told = record.events.iter().filter(|event| !is_in_verdict(event));
    let events = told.map(|event| format!("{}: {}", event.title, event.text));
    let machine = of_machine(&record.header.environment, &record.events).into_iter().map(|finding| {
        let remedy = finding.remedy.unwrap_or_default();
        format!("{}: {} {remedy}", finding.title, sentence(&finding.text)).trim_end().to_owned()
    });
    silence(record).into_iter().chain(events).chain(machine).collect()
}

/// Streams of events that had stalled when the load ended. None had reached its timeout, and so none has failed.
fn silence(record: &LoadRecord) -> Option<String> {
    let tallies = record.intervals.iter().map(|slice| &slice.load.messages);
    let (silent, longest_ns) =
        tallies.fold((0, 0), |(sum, longest), one| (sum + one.silent, longest.max(one.silent_ns)));
    let (streams, time) = (count(silent, "stream"), single(Unit::Nanos, longest_ns as f64));
    let than = "much longer than their events had been apart";
    (silent > 0).then(|| format!("{streams} had sent no event for up to {time} when the load ended, {than}"))
}

fn most_frequent_first(mut errors: Vec<ErrorCount>) -> Vec<ErrorCount> {
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    errors
}

fn model(record: &LoadRecord) -> Model {
    let plan = &record.header.plan;
    let slice = record.intervals.first();
    let closed = !matches!(plan.model, LoadModel::Open { .. });
    let pushes = record.intervals.iter().any(|slice| slice.load.pushed_messages().is_some());
    let meaning = if plan.sends_events() {
        "Each user requests a stream and reads its events. Response time counts until the first event. Gap is the time between \
         two events of a stream."
    } else if pushes {
        "The server sends on its own clock. Response time counts from the stamp in a message to its arrival. Jitter is by \
         how much the time between two messages of a user differs from the period; it needs no stamps."
    } else if closed {
        "Each user waits for a response before it sends again, so a slow server is asked less often. Users who do not \
         wait for one another would see longer latencies; -r RATE measures them."
    } else {
        "Requests leave on a schedule, whether or not earlier ones were answered. Response time counts from when a \
         request should have left, so it contains the wait behind a stalled server."
    };
    Model {
        loop_kind: match (pushes, closed) {
            (true, _) if plan.sends_events() => "stream",
            (true, _) => "push",
            (false, true) => "closed",
            (false, false) => "open",
        }
        .to_owned(),
        text: describe(plan),
        meaning: meaning.to_owned(),
        connections: plan.connections,
        offered_per_s: slice.and_then(|s| s.key.offered_per_s),
    }
}

/// The figures of a histogram, with a short one for a terminal.
fn latency(histogram: &LatencyHistogram) -> Distribution {
    Distribution { histogram: bars::bins(histogram), ..distribution(histogram) }
}

fn message_summary(record: &LoadRecord) -> Option<MessageSummary> {
    let (tally, jitter) = SliceSample::sum_pushed_messages(record.intervals.iter().map(|slice| &slice.load))?;
    Some(MessageSummary::new(tally, record.header.plan.sends_events(), latency(&jitter)))
}

/// Every status that came, in order.
fn status_counts(record: &LoadRecord) -> Vec<StatusCount> {
    let mut sum = StatusTallies::default();
    record.intervals.iter().for_each(|interval| sum.merge(&interval.load.statuses));
    let count = |(status, tally): (u16, StatusTally)| StatusCount {
        status,
        count: tally.count,
        failed: tally.failed,
        example: Some(tally.example).filter(|example| !example.is_empty()),
    };
    sum.0.into_iter().map(count).collect()
}

/// What each of several requests showed. The last part of a load has it: `None` if the record was cut short before.
fn tallies(record: &LoadRecord) -> Option<Vec<RequestTally>> {
    let mut sum = Vec::new();
    record.intervals.iter().for_each(|interval| RequestTally::merge_all(&mut sum, &interval.load.by_request));
    let is_cut_short = run_status(record.end) == RunStatus::Partial && record.header.plan.requests > 1;
    (!sum.is_empty() || !is_cut_short).then_some(sum)
}

/// `throughput_per_s` is that of all together; each has its share of the right answers, or of the messages.
fn url_summaries(tallies: &[RequestTally], throughput_per_s: f64) -> Vec<UrlSummary> {
    let results = |tally: &RequestTally| tally.ok.max(tally.messages);
    let all: u64 = tallies.iter().map(results).sum();
    let summary = |tally: &RequestTally| {
        let times = tally.response.unpack();
        let offered = tally.ok + tally.failed;
        UrlSummary {
            url: tally.name.clone(),
            offered,
            ok: tally.ok,
            failed: tally.failed,
            failed_share: tally.failed as f64 / offered.max(1) as f64,
            throughput_per_s: throughput_per_s * results(tally) as f64 / all.max(1) as f64,
            mean_ns: times.mean_ns(),
            p50_ns: times.percentile_ns(50.0),
            p90_ns: times.percentile_ns(90.0),
            p99_ns: times.percentile_ns(99.0),
            max_ns: times.max_ns(),
            example: Some(tally.example.clone()).filter(|example| !example.is_empty()),
        }
    };
    tallies.iter().map(summary).collect()
}

fn use_of_server(record: &LoadRecord, process: &ServerProcess, cell: &Cell) -> LoadServer {
    let cpu = record.intervals.iter().filter_map(|interval| interval.server.cpu.as_ref());
    let value = |estimate: &Option<Estimate>| estimate.map(|estimate| estimate.value);
    LoadServer {
        process: process.to_string(),
        cpu_ns_per_request: value(&cell.cpu_ns_per_request),
        cores: level::quotient(cpu.map(|cpu| (cpu.total_ns, cpu.wall_ns))),
        rss_bytes: value(&cell.rss_bytes).map(|bytes| bytes as u64),
        rss_peak_bytes: cell.rss_peak_bytes,
        allocated_bytes_per_request: value(&cell.allocated_bytes_per_request),
        stopped_ns_per_request: value(&cell.stopped_ns_per_request),
        stopped_time_share: cell.stopped_time_share,
        division: cell.shown_latency().and_then(|latency| latency.division.clone()),
        tail: tails(std::slice::from_ref(cell), &[]).concat(),
    }
}

fn generator(record: &LoadRecord) -> Generator {
    let all = || record.intervals.iter();
    let (send_lag, stamp_lag) = (merged(record, |load| &load.send_lag), merged(record, |load| &load.stamp_lag));
    Generator {
        cpus: record.header.plan.load_cpus.clone(),
        cpu_share: generator_share(all()),
        spin_share: level::quotient(all().map(|s| (s.load.generator_spin_ns, room_ns(s)))),
        cpu_ns_per_request: level::quotient(all().map(|s| (s.load.generator_cpu_ns, s.load.completed))),
        send_lag_p50_ns: send_lag.value_at_quantile_ns(0.5),
        send_lag_p99_ns: send_lag.value_at_quantile_ns(0.99),
        send_lag_max_ns: send_lag.max_ns(),
        stamp_lag_p50_ns: stamp_lag.value_at_quantile_ns(0.5),
        stamp_lag_p99_ns: stamp_lag.value_at_quantile_ns(0.99),
        blocked: all().map(|s| s.load.blocked).sum(),
        blocked_mean_ns: level::quotient(all().map(|s| (s.load.blocked_ns, s.load.blocked))),
    }
}

fn agent(agent: &AgentRecord) -> AgentSummary {
    AgentSummary {
        name: agent.name.clone(),
        host: agent.host.clone(),
        load_cpus: agent.load_cpus.clone(),
        lost: agent.lost.clone(),
        lost_at_s: agent.lost_at_ns.map(|ns| ns as f64 / 1e9),
        offered: agent.offered,
        ok: agent.ok,
        failed: agent.failed,
        completed: agent.completed,
        throughput_per_s: (agent.window_ns > 0).then(|| agent.completed as f64 * 1e9 / agent.window_ns as f64),
        cpu_share: agent.cpu_share(),
        late: agent.late,
        clock_offset_ns: agent.clock_offset_ns,
        round_trip_ns: agent.round_trip_ns,
    }
}

fn interval(slice: &StoredSlice) -> Interval {
    let response = slice.load.response.unpack();
    Interval {
        from_s: slice.load.window_start_ns() as f64 / 1e9,
        window_s: slice.load.window_ns as f64 / 1e9,
        ok: slice.load.answered(),
        failed: slice.load.failed,
        throughput_per_s: level::throughput(std::iter::once(slice)),
        p50_ns: response.percentile_ns(50.0),
        p99_ns: response.percentile_ns(99.0),
        max_ns: response.max_ns(),
        in_bytes: slice.load.bytes_in,
        out_bytes: slice.load.bytes_out,
        generator_cpu_share: generator_share(std::iter::once(slice)),
    }
}
