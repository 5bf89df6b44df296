//! May the numbers of a cell be used? VALID, SUSPECT or VOID, with every reason.

use tare_plan::plan::SliceKind;
use tare_record::{ErrorClass, ErrorTallies, ErrorTally, RESTLESS_SHARE, StoredSlice};
use tare_stats::histogram::LatencyHistogram;
use tare_units::distinct;

use crate::cell::level::{cpu_count, loaded_ns, quotient};
use crate::cell::{messages, network};
use crate::evidence::{Evidence, disturbance};
use crate::format::{self, grouped, share};
use crate::summary::{Bottleneck, Concern, Latency, Reason, Validity, ValidityState};

/// Above this send lag at the 99th percentile an open load was not what it claims.
const SEND_LAG_NS: u64 = 1_000_000;
/// Percentiles of the stamp lag and what each may be in nanoseconds, or, if that is more, as a share of the same
/// percentile of the latency. Both servers have the same generator, and the p99 of starts differs by far more than a
/// twentieth.
const STAMP_LAG: [(f64, u64, f64); 2] = [(50.0, 3_000, 0.02), (99.0, 15_000, 0.05)];
/// Above this share of its cores the generator distorts an open load.
const GENERATOR_OPEN: f64 = 0.6;
/// At this share of its cores a side is busy.
const BUSY: f64 = 0.9;

/// Why a cell is void of which nothing else is known.
pub(crate) const NOTHING_MEASURED: &str = "nothing was measured";

pub(crate) fn judge(cell: &Evidence<'_>, loads: &[Latency]) -> Validity {
    let void = void_reasons(cell);
    if !void.is_empty() {
        let remedy = worst(&errors(cell)).map_or("", |(class, _)| remedy(class));
        let reasons = void.into_iter().map(|text| Reason::new(text, remedy)).collect();
        return Validity { state: ValidityState::Void, reasons };
    }
    Validity::of_cell(doubts(cell, loads))
}

fn void_reasons(cell: &Evidence<'_>) -> Vec<String> {
    let mut reasons = distinct(cell.voiding().map(|event| format!("{}: {}", event.title, event.text)));
    let (ok, failed) = requests(cell);
    let failed = failed.saturating_sub(cell.overload().map_or(0, |(too_late, _)| too_late));
    let searched = cell.of_kind(SliceKind::Capacity).next().is_some();
    // The tries of a search are judged by the search.
    if !cell.driven_slices().any(|slice| slice.load.ok + slice.load.failed > 0) && !searched && reasons.is_empty() {
        let too_short = ": the load ended before the server had sent the first event or message; load for longer (-d)";
        reasons.push(format!("{NOTHING_MEASURED}{}", if ok > 0 { too_short } else { "" }));
    } else if failed as f64 > cell.most_failed * (ok + failed) as f64 {
        let part = share(failed as f64 / (ok + failed) as f64);
        let (failed, all) = (grouped(failed), grouped(ok + failed));
        let classes = errors(cell);
        let most = worst(&classes)
            .map_or("of no known class".to_owned(), |(class, e)| format!("most often by {class}: {}", e.example));
        reasons.push(format!("{part} of the requests failed ({failed} of {all}), {most}"));
    }
    reasons
}

/// What speaks against its numbers: all of them first, then those of one measure.
fn doubts(cell: &Evidence<'_>, loads: &[Latency]) -> Vec<Reason> {
    let bottleneck = bottleneck(cell);
    let generator_bound = (bottleneck == Bottleneck::Generator)
        .then(|| "the generator was the bottleneck: the throughput is a lower bound".to_owned());
    let network_bound = (bottleneck == Bottleneck::Network).then(|| network::full(saturating(cell), cell.network));
    let network_bound = network_bound.flatten().map(|full| format!("{full}: the throughput is a lower bound"));
    let slow_network = network::full(open(cell), cell.network).map(|full| format!("{full}: they waited for it"));
    let blocked = blocked(cell);
    // Requests that waited for the server to free a connection left late through no fault of the generator.
    let lagging = lagging(loads, bottleneck).filter(|_| blocked.is_none());
    // Late requests of a closed loop are missing in its throughput too.
    let (lagging, lagging_open) = match lagging {
        Some((SliceKind::Saturating, text)) => (Some(text), None),
        open => (None, open.map(|(_, text)| text)),
    };
    const FREE_GENERATOR: &str = "Give the generator its own cores (--load-cpus), or lower the rate.";
    let general = [
        (unsteady(cell), "Allow a longer warm-up (--warmup-cap, --budget), use more cores or lower the load."),
        (few_failures(cell), ""),
        connection_trouble(cell),
        (disturbance::reason(cell), "Stop other programs, or measure on another machine."),
        (lagging, FREE_GENERATOR),
    ];
    let latency = [
        (overloaded(cell), "Lower the rate (--rate)."),
        (lagging_open, FREE_GENERATOR),
        (stamped_late(cell, loads), "Give the generator its own cores (--load-cpus): there it waits without sleeping."),
        (busy_generator(cell), "Give the generator more cores (--load-cpus), or lower the rate."),
        (slow_network, "Lower the rate, or put the generator nearer to the servers."),
        (blocked, "Use more connections, or lower the rate."),
    ];
    let throughput = [
        (generator_bound, "Give the generator more cores (--load-cpus), or use a fixed rate (-r)."),
        (network_bound, "Compare CPU per request, put the generator nearer to the servers, or use a faster network."),
    ];
    let more_cores = "Lower the rate (--rate), or give the server more cores (--server-cpus).";
    let cpu = [(full_server(cell), more_cores), (restless(cell), "")];
    let mut found: Vec<Reason> = about(Concern::Everything, general)
        .chain(about(Concern::Throughput, throughput))
        .chain(about(Concern::CpuPerRequest, cpu))
        .chain(about(Concern::Latency, latency))
        .chain(messages::doubts(cell, loads))
        .collect();
    found.sort_by_key(|reason| reason.concerns);
    found
}

/// Those that were seen, as reasons to doubt these figures; each comes with its remedy.
fn about<const N: usize>(
    concerns: Concern,
    checks: [(Option<String>, &'static str); N],
) -> impl Iterator<Item = Reason> {
    checks.into_iter().filter_map(move |(text, remedy)| Some(Reason::about(concerns, text?, remedy)))
}

fn overloaded(cell: &Evidence<'_>) -> Option<String> {
    let (too_late, all) = cell.overload()?;
    let (part, too_late) = (share(too_late as f64 / all as f64), grouped(too_late));
    Some(format!(
        "overloaded at the rate of the latency, which is not stated: {part} of the requests ({too_late}) got no answer in time"
    ))
}

fn unsteady(cell: &Evidence<'_>) -> Option<String> {
    let forks = cell.fork_numbers();
    let not: Vec<&u32> = forks.iter().filter(|fork| !cell.was_steady(**fork)).collect();
    let why =
        not.iter().find_map(|fork| cell.warmup(**fork).map(|warmup| &warmup.reason).filter(|why| !why.is_empty()));
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    (!not.is_empty())
        .then(|| format!("not steady in {} of {}{why}", not.len(), format::count(forks.len() as u64, "start")))
}

fn few_failures(cell: &Evidence<'_>) -> Option<String> {
    let (ok, failed) = requests(cell);
    let classes = || {
        let list: Vec<String> = errors(cell).iter().map(|(class, e)| format!("{class}: {}", e.count)).collect();
        list.join(", ")
    };
    let is_overload = cell.overload().is_some_and(|(too_late, _)| too_late == failed);
    (failed > 0 && !is_overload)
        .then(|| format!("{} of {} requests failed ({})", grouped(failed), grouped(ok + failed), classes()))
}

/// What failed on connections and belongs to no request, such as unrequested answers; and the remedy.
fn connection_trouble(cell: &Evidence<'_>) -> (Option<String>, &'static str) {
    let events = connection_events(cell);
    let Some((class, tally)) = worst(&events) else { return (None, "") };
    let all = format::count(events.total(), "connection event");
    (Some(format!("{all} outside of requests, most often by {class}: {}", tally.example)), remedy(class))
}

fn lagging(loads: &[Latency], bottleneck: Bottleneck) -> Option<(SliceKind, String)> {
    // A server that is busy all the time has requests waiting, and misses none that comes late.
    let server_is_busy = matches!(bottleneck, Bottleneck::Server | Bottleneck::Both);
    let judged = loads.iter().filter(|load| load.slice_kind != SliceKind::Saturating || !server_is_busy);
    let lag = |load: &Latency| {
        let percentiles = &load.send_lag.as_ref()?.percentiles;
        // Few requests state no p99, and may be late all the same.
        let upper = percentiles.iter().rfind(|p| (90.0..=99.0).contains(&p.percentile))?;
        (upper.value_ns > SEND_LAG_NS).then_some((load.slice_kind, upper.percentile, upper.value_ns))
    };
    let (kind, percentile, value_ns) = judged.filter_map(lag).max_by_key(|(_, _, value_ns)| *value_ns)?;
    let lag = format::single(format::Unit::Nanos, value_ns as f64);
    let load = kind.load_name();
    Some((kind, format!("the generator sent requests late: by {lag} at p{percentile} under {load}, above 1 ms")))
}

/// Were answers stamped when they arrived? The generator knows how late it woke up, and how long it did other work.
fn stamped_late(cell: &Evidence<'_>, loads: &[Latency]) -> Option<String> {
    loads.iter().filter(|load| load.slice_kind != SliceKind::Saturating).find_map(|load| {
        let mut lag = LatencyHistogram::new();
        cell.of_kind(load.slice_kind).for_each(|slice| slice.load.stamp_lag.merge_into(&mut lag));
        STAMP_LAG.into_iter().find_map(|(percentile, limit_ns, limit_share)| {
            let lag_ns = lag.value_at_quantile_ns(percentile / 100.0)?;
            let latency_ns = load.response.percentile_ns(percentile)? as f64;
            let is_late = lag_ns > limit_ns.max((latency_ns * limit_share) as u64);
            let (lag, load) = (format::single(format::Unit::Nanos, lag_ns as f64), load.slice_kind.load_name());
            let part = share((lag_ns as f64 / latency_ns).min(1.0));
            let late =
                format!("the generator may have read answers late: by up to {lag} at p{percentile} under {load}");
            is_late.then(|| format!("{late}, {part} of the response time"))
        })
    })
}

fn busy_generator(cell: &Evidence<'_>) -> Option<String> {
    let busy = generator_share(open(cell))?;
    (busy > GENERATOR_OPEN)
        .then(|| format!("the generator used {} of its cores under open load, above 60 %", share(busy)))
}

/// A server whose threads spin uses all of its cores, and its CPU per request can grow no more.
fn full_server(cell: &Evidence<'_>) -> Option<String> {
    let busy = |kind: SliceKind| Some((kind, server_share(cell.of_kind(kind), cell.server_cpus)?));
    let (kind, most) =
        [SliceKind::Fixed, SliceKind::Poisson].into_iter().filter_map(busy).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (most >= BUSY).then(|| {
        let load = kind.load_name();
        format!("the server used {} of its cores under {load}: its CPU per request is a lower bound", share(most))
    })
}

fn restless(cell: &Evidence<'_>) -> Option<String> {
    let rest: Vec<f64> = cell.forks.iter().filter_map(|f| f.rest_cpu_share).collect();
    let over = rest.iter().filter(|r| **r > RESTLESS_SHARE).count();
    let most = rest.iter().copied().fold(0.0, f64::max);
    (over > 0).then(|| {
        let forks = format::count(rest.len() as u64, "start");
        format!("the server used up to {} of a core without load in {over} of {forks}", share(most))
    })
}

fn blocked(cell: &Evidence<'_>) -> Option<String> {
    let part = disturbance::blocked_share(open(cell));
    (part > disturbance::MOST_BLOCKED_SHARE)
        .then(|| format!("{} of the requests sent at a rate waited for a free connection", share(part)))
}

pub(crate) fn requests(cell: &Evidence<'_>) -> (u64, u64) {
    cell.driven_slices().fold((0, 0), |(ok, failed), s| (ok + s.load.answered(), failed + s.load.failed))
}

pub(crate) fn errors(cell: &Evidence<'_>) -> ErrorTallies {
    sum_of(cell.driven_slices().map(|slice| &slice.load.errors))
}

pub(crate) fn connection_events(cell: &Evidence<'_>) -> ErrorTallies {
    sum_of(cell.driven_slices().map(|slice| &slice.load.connection_events))
}

fn sum_of<'a>(all: impl Iterator<Item = &'a ErrorTallies>) -> ErrorTallies {
    let mut sum = ErrorTallies::default();
    all.for_each(|tallies| sum.merge(tallies));
    sum
}

fn worst(errors: &ErrorTallies) -> Option<(ErrorClass, &ErrorTally)> {
    errors.iter().max_by_key(|(_, tally)| tally.count)
}

fn remedy(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Connect => "Check that the server is running and accepts this number of connections.",
        // The reason has the remedy of its kind.
        ErrorClass::Tls => {
            "Correct the address, the server's certificate, or the flags of TLS (--cacert, --cert, --insecure)."
        }
        ErrorClass::Timeout => "Lower the load, or raise --timeout.",
        ErrorClass::Read | ErrorClass::Write => "Look in the server's log for why it closes connections.",
        ErrorClass::Upgrade | ErrorClass::Status | ErrorClass::Protocol | ErrorClass::Validation => {
            "Correct the server's answers, or the checks that reject them."
        }
    }
}

pub(crate) fn generator_share<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> Option<f64> {
    quotient(slices.map(|s| (s.load.generator_cpu_ns, room_ns(s))))
}

/// The time that the generator's cores had in a slice.
pub(crate) fn room_ns(slice: &StoredSlice) -> u64 {
    slice.load.window_ns * u64::from(slice.load.workers)
}

/// Share of the server's cores that was busy; `None` where they are not known, as those of a load on a URL.
fn server_share<'a>(slices: impl Iterator<Item = &'a StoredSlice>, server_cpus: &str) -> Option<f64> {
    let cores = u64::from(cpu_count(server_cpus));
    let known = slices.filter_map(|slice| Some((slice.server.cpu.as_ref()?.total_ns, loaded_ns(slice)? * cores)));
    quotient(known).filter(|_| !server_cpus.is_empty())
}

pub(crate) fn bottleneck(cell: &Evidence<'_>) -> Bottleneck {
    let server = server_share(saturating(cell), cell.server_cpus).map(|s| s >= BUSY);
    let generator = generator_share(saturating(cell)).map(|s| s >= BUSY);
    match (server, generator) {
        (Some(true), Some(true)) => Bottleneck::Both,
        (Some(true), _) => Bottleneck::Server,
        _ if network::full(saturating(cell), cell.network).is_some() => Bottleneck::Network,
        (_, Some(true)) => Bottleneck::Generator,
        (Some(false), Some(false)) => Bottleneck::Neither,
        _ => Bottleneck::Unknown,
    }
}

fn saturating<'a>(cell: &'a Evidence<'_>) -> impl Iterator<Item = &'a StoredSlice> {
    cell.of_kind(SliceKind::Saturating)
}

fn open<'a>(cell: &'a Evidence<'_>) -> impl Iterator<Item = &'a StoredSlice> {
    cell.measured().filter(|slice| slice.key.kind != SliceKind::Saturating)
}
