//! Slices that one recorder records one after another.

use super::*;
use crate::cancel::Cancel;
use crate::input::request::RequestSpec;
use crate::recorder::server_clock::ClockModel;
use crate::recorder::slice::SliceSpec;
use crate::schedule::Schedule;
use crate::schedule::stop_rule::StopRule;

const MS: u64 = 1_000_000;

fn requests() -> RequestSet {
    RequestSet::encode("localhost", &RequestSpec::get("/").into()).unwrap()
}

/// A slice of one second that starts at one millisecond and may drain for another second.
fn slice(every: Option<Duration>) -> WorkerSlice {
    let spec = SliceSpec::new(Schedule::Closed, 1, StopRule::Duration(Duration::from_secs(1)));
    WorkerSlice { spec, start: Nanos(MS), server_clock: Some(ClockModel::default()), every, cancel: Cancel::new() }
}

/// Records a slice with requests of these durations.
fn record(recorder: &mut Recorder, latencies_ns: &[u64]) -> SliceSample {
    recorder.begin_slice(&slice(None));
    for latency_ns in latencies_ns {
        let times = Times { intended: Nanos(2 * MS), sent: Some(Nanos(2 * MS + 7)), ..Times::default() };
        recorder.record_answer(&times, Nanos(2 * MS + latency_ns), 3);
    }
    recorder.end_slice(CpuTimes::default)
}

#[test]
fn a_slice_shows_nothing_of_the_slices_before() {
    let slices = [&[50, 900 * MS, 3 * MS][..], &[60 * MS; 5], &[], &[1_000, 2_000_000 * MS]];
    let mut recorder = Recorder::idle(&requests(), &ErrorTallies::default());
    for latencies_ns in slices {
        let sample = record(&mut recorder, latencies_ns);
        let fresh = record(&mut Recorder::idle(&requests(), &ErrorTallies::default()), latencies_ns);
        assert_eq!((sample.offered, sample.ok, sample.completed), (fresh.offered, fresh.ok, fresh.completed));
        assert_eq!(sample.ok, latencies_ns.len() as u64);
        for (found, expected) in [
            (&sample.response, &fresh.response),
            (&sample.service, &fresh.service),
            (&sample.send_lag, &fresh.send_lag),
            (&sample.stamp_lag, &fresh.stamp_lag),
        ] {
            assert_eq!(found, expected);
            assert_eq!((found.min_ns(), found.max_ns()), (expected.min_ns(), expected.max_ns()));
        }
    }
}

#[test]
fn a_worker_that_was_stopped_has_a_part_for_each_period() {
    let mut recorder = Recorder::idle(&requests(), &ErrorTallies::default());
    recorder.begin_slice(&slice(Some(Duration::from_millis(300))));
    let end_periods = |recorder: &mut Recorder, now_ms| {
        let mut parts = Vec::new();
        recorder.end_periods(Nanos(now_ms * MS), CpuTimes::default, &mut |part| parts.push(part));
        parts.iter().map(|part| (part.start_ns / MS, part.window_ns / MS, part.ok)).collect::<Vec<_>>()
    };
    let times = Times { intended: Nanos(2 * MS), sent: Some(Nanos(2 * MS)), ..Times::default() };
    recorder.record_answer(&times, Nanos(4 * MS), 0);
    assert_eq!(end_periods(&mut recorder, 300), []);
    // Stopped from here on.
    assert_eq!(end_periods(&mut recorder, 750), [(1, 300, 1), (301, 300, 0)]);
    assert_eq!(end_periods(&mut recorder, 800), []);
    // Stopped again, until long after the drain.
    let late = [(601, 300, 0), (901, 100, 0), (1201, 0, 0), (1501, 0, 0)];
    assert_eq!(end_periods(&mut recorder, 9_000), late, "no period begins after the drain");
    assert_eq!(recorder.end_slice(CpuTimes::default).window_ns, 0);
}
