//! Allocation, heap and garbage collection as the server itself reports them: each of its processes answers connections
//! to an abstract Unix socket, named by [`VARIABLE`], a dash and its number, with its totals as one JSON object. For
//! Node, [`NODE_SCRIPT`] listens; docs/site/src/counters.md has the form for other programs.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::Deserialize;
use tare_record::{CollectorUse, IdleSpan, RuntimeUse};
use tare_sys::clock;
use tare_sys::procfs::process;
use tare_sys::socket::connect_abstract;

use super::runtime::RuntimeSample;

/// The environment variable with the beginning of the socket's name.
pub const VARIABLE: &str = "TARE_COUNTERS";

/// What Node loads before the application (`--require`).
pub const NODE_SCRIPT: &str = include_str!("node_counters.cjs");

/// A runtime that does not answer for so long has no counters at that moment.
const TIMEOUT: Duration = Duration::from_millis(500);
const MOST_BYTES: u64 = 1024 * 1024;
/// Room for an abstract name on Linux: `sun_path` without its first byte.
const NAME_BYTES: usize = 107;

/// The totals of one process since it began to count. What is absent is not counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ProcessCounters {
    pub(super) allocated_bytes: Option<u64>,
    pub(super) heap_used_bytes: Option<u64>,
    pub(super) heap_committed_bytes: Option<u64>,
    pub(super) collectors: Option<BTreeMap<String, CollectorUse>>,
    /// Begin and end of each stop of all its threads since the answer before, in nanoseconds of `CLOCK_MONOTONIC`.
    pub(super) stops: Option<Vec<(u64, u64)>>,
}

/// The beginning of the names of the sockets of all servers that this process starts.
pub fn socket_prefix() -> String {
    format!("tare-counters-{}", std::process::id())
}

/// The sum of the counters that processes report; `None` if none does, or one does not answer. The first answer begins.
pub fn take_sample(processes: impl IntoIterator<Item = u32>) -> Option<RuntimeSample> {
    sample_of(processes.into_iter().map(|pid| (pid, format!("{}-{pid}", socket_prefix()))))
}

/// The same of processes whose sockets have these names.
fn sample_of(named: impl Iterator<Item = (u32, String)>) -> Option<RuntimeSample> {
    let listening = named.filter_map(|(pid, name)| Some((pid, connect(&name)?)));
    let counters: BTreeMap<_, _> =
        listening.map(|(pid, stream)| Some((pid, read_counters(stream.ok()?)?))).collect::<Option<_>>()?;
    (!counters.is_empty()).then(|| sum_counters(&counters))
}

/// This name, and how Node 20 has it: it fills the name up with zeros, which makes it another one.
fn socket_names(name: &str) -> [Vec<u8>; 2] {
    let mut padded = name.as_bytes().to_vec();
    padded.resize(NAME_BYTES, 0);
    [name.into(), padded]
}

/// A connection to the process that listens on this name, or why there is none; `None` if no process listens.
fn connect(name: &str) -> Option<io::Result<UnixStream>> {
    let mut connections = socket_names(name).into_iter().map(|name| connect_abstract(&name));
    connections.find(|one| !matches!(one, Err(error) if error.kind() == ErrorKind::ConnectionRefused))
}

fn read_counters(mut stream: UnixStream) -> Option<ProcessCounters> {
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    let mut text = String::new();
    stream.by_ref().take(MOST_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// The sum over these processes. A counter that one of them does not report is unknown.
pub(super) fn sum_counters(counters: &BTreeMap<u32, ProcessCounters>) -> RuntimeSample {
    let all = || counters.values();
    let collectors =
        all().map(|counters| counters.collectors.as_ref()).collect::<Option<Vec<_>>>().map(sum_of_collectors);
    let total = |of: fn(&CollectorUse) -> u64| collectors.as_ref().map(|all| all.values().map(of).sum());
    let so_far = RuntimeUse {
        collections: total(|of| of.pauses),
        collecting_ns: total(|of| of.pause_ns),
        collectors: collectors.unwrap_or_default(),
        heap_used_bytes: all().map(|counters| counters.heap_used_bytes).sum(),
        heap_committed_bytes: all().map(|counters| counters.heap_committed_bytes).sum(),
        allocated_bytes: all().map(|counters| counters.allocated_bytes).sum(),
        ..RuntimeUse::default()
    };
    // A stop of one process of several is none of the others, and which of them has a request is not known.
    let the_only = counters.iter().next().filter(|(pid, _)| counters.len() == 1 && process::has_our_clock(**pid));
    let stops = the_only.and_then(|(_, counters)| stops_of(counters));
    RuntimeSample { processes: counters.keys().copied().collect(), so_far, eden: None, stops }
}

/// The stops that a process told, in order; `None` where they cannot be: one ends before it begins, or in the future.
fn stops_of(counters: &ProcessCounters) -> Option<Vec<IdleSpan>> {
    let now_ns = clock::now().0;
    let span = |(begin_ns, end_ns): &(u64, u64)| {
        (begin_ns <= end_ns && *end_ns <= now_ns).then_some(IdleSpan { begin_ns: *begin_ns, end_ns: *end_ns })
    };
    let mut spans = counters.stops.as_ref()?.iter().map(span).collect::<Option<Vec<IdleSpan>>>()?;
    spans.sort_unstable();
    Some(spans)
}

fn sum_of_collectors(all: Vec<&BTreeMap<String, CollectorUse>>) -> BTreeMap<String, CollectorUse> {
    let mut collectors: BTreeMap<String, CollectorUse> = BTreeMap::new();
    for (name, of) in all.into_iter().flatten() {
        let sum = collectors.entry(name.clone()).or_default();
        sum.pauses += of.pauses;
        sum.pause_ns += of.pause_ns;
    }
    collectors
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};

    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

    use super::*;

    /// A process that gives these answers, one to each connection.
    fn process(name: &str, answers: &'static [&'static str]) -> std::thread::JoinHandle<()> {
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
        std::thread::spawn(move || {
            for answer in answers {
                listener.accept().unwrap().0.write_all(answer.as_bytes()).unwrap();
            }
            // A child that another test has just started may have it open, too, and would keep the name alive.
            rustix::net::shutdown(&listener, rustix::net::Shutdown::Both).unwrap();
        })
    }

    #[test]
    fn totals_of_all_processes_are_summed_and_differences_are_the_use() {
        let named = |number: u32| (number, format!("tare-test-{}-{number}", std::process::id()));
        let first = process(
            &named(1).1,
            &[
                r#"{"allocated_bytes": 100, "collectors": {"Scavenge": {"pauses": 1, "pause_ns": 5}}}"#,
                r#"{"allocated_bytes": 400, "heap_used_bytes": 7, "collectors": {"Scavenge": {"pauses": 3, "pause_ns": 25}}}"#,
            ],
        );
        let second = process(
            &named(2).1,
            &[
                r#"{"allocated_bytes": 1, "collectors": {}}"#,
                r#"{"allocated_bytes": 31, "heap_used_bytes": 0, "collectors": {}}"#,
            ],
        );
        let sample = || sample_of([1, 2, 3].map(named).into_iter());
        let before = sample().unwrap();
        let used = sample().unwrap().since(&before).unwrap();
        assert_eq!((used.allocated_bytes, used.collections, used.collecting_ns), (Some(330), Some(2), Some(20)));
        assert_eq!((used.safepoint_ns, used.heap_used_bytes, used.collectors["Scavenge"].pauses), (None, Some(7), 2));
        first.join().unwrap();
        second.join().unwrap();
        assert!(sample().is_none(), "both have ended");
    }

    #[test]
    fn a_process_that_comes_or_ends_leaves_no_figure_of_that_span() {
        let named = |number: u32| (number, format!("tare-test-{}-of-a-cluster-{number}", std::process::id()));
        let sample = || sample_of([1, 2].map(named).into_iter()).unwrap();
        let first = process(&named(1).1, &["{\"allocated_bytes\": 1}"; 4]);
        let alone = sample();
        let second = process(&named(2).1, &["{\"allocated_bytes\": 90}"; 2]);
        let (both, still_both) = (sample(), sample());
        second.join().unwrap();
        let alone_again = sample();
        assert_eq!((both.since(&alone), alone_again.since(&both)), (None, None));
        assert_eq!(still_both.since(&both).unwrap().allocated_bytes, Some(0));
        first.join().unwrap();
    }

    #[test]
    fn stops_are_told_by_one_process_in_times_that_have_passed() {
        let told = |stops: &[(u64, u64)]| ProcessCounters { stops: Some(stops.to_vec()), ..ProcessCounters::default() };
        let of = |all: &[ProcessCounters]| {
            let numbered = all.iter().enumerate().map(|(at, one)| (at as u32, one.clone()));
            sum_counters(&numbered.collect()).stops
        };
        let spans = [IdleSpan { begin_ns: 5, end_ns: 9 }, IdleSpan { begin_ns: 20, end_ns: 30 }];
        assert_eq!(of(&[told(&[(20, 30), (5, 9)])]), Some(spans.to_vec()));
        assert_eq!(of(&[told(&[])]), Some(Vec::new()), "it did not stop");
        let future = clock::now().0 + 1_000_000_000_000;
        for wrong in [(9, 5), (5, future)] {
            assert_eq!(of(&[told(&[wrong])]), None, "another clock: {wrong:?}");
        }
        assert_eq!(of(&[told(&[(5, 9)]), told(&[])]), None, "which of two processes has a request is not known");
        assert_eq!(of(&[ProcessCounters::default()]), None);
    }

    #[test]
    fn a_process_that_accepts_nobody_is_not_waited_for_and_leaves_no_figures() {
        let named = |number: u32| (number, format!("tare-test-{}-stuck-{number}", std::process::id()));
        let stuck = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        let address = SocketAddrUnix::new_abstract_name(named(2).1.as_bytes()).unwrap();
        rustix::net::bind(&stuck, &address).unwrap();
        // Room for one connection.
        rustix::net::listen(&stuck, 0).unwrap();
        let other = process(&named(1).1, &["{\"allocated_bytes\": 1}"; 3]);
        let all = [1, 2].map(named);
        assert!((0..3).all(|_| sample_of(all.clone().into_iter()).is_none()), "those of one are not those of all");
        other.join().unwrap();
    }

    #[test]
    fn what_is_no_counter_leaves_no_figures() {
        let name = format!("tare-test-{}-other", std::process::id());
        let other = process(&name, &["hello"]);
        assert!(sample_of(std::iter::once((1, name))).is_none());
        other.join().unwrap();
    }

    #[test]
    fn what_one_process_does_not_tell_is_unknown_and_no_zero() {
        let all = ProcessCounters {
            allocated_bytes: Some(5),
            heap_used_bytes: Some(6),
            heap_committed_bytes: Some(7),
            collectors: Some(BTreeMap::new()),
            stops: None,
        };
        let known = sum_counters(&BTreeMap::from([(1, all.clone())]));
        let of_one = RuntimeUse {
            collections: Some(0),
            collecting_ns: Some(0),
            allocated_bytes: Some(0),
            heap_used_bytes: Some(6),
            heap_committed_bytes: Some(7),
            ..RuntimeUse::default()
        };
        assert_eq!(known.since(&known), Some(of_one), "safepoints and compilations are not counted");
        let sample = sum_counters(&BTreeMap::from([(1, all), (2, ProcessCounters::default())]));
        assert_eq!(sample.since(&sample), Some(RuntimeUse::default()));
    }
}
