//! Drives a load to its end and records what each interval brings.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_load::{Cancel, Watched};
use tare_record::store::RunWriter;
use tare_record::{
    AgentRecord, EndStatus, EventKind, EventRecord, LoadHeader, LoadRecord, Phase, RecordError, SliceKey, StoredSlice,
};

use super::intervals::IntervalCollector;
use super::job::LoadJob;
use super::outlook::Outlook;
use super::server::WatchedServer;
use super::source::{LoadSource, MadeLoad, Observed, OnObserved};
use crate::error::RunError;

#[derive(Debug)]
pub struct DrivenLoad {
    pub record: LoadRecord,
    /// Why the file of the record holds less than that; `None` if it holds all, or if no file was asked for.
    pub unwritten: Option<RecordError>,
}

/// Drives the load to its end, until `cancelled` is raised, or until it can only fail. Writes the record to `file`
/// meanwhile; a failure of the file does not end the load. `server` is watched, and left as it was.
pub fn drive_load(
    source: &mut dyn LoadSource,
    job: &LoadJob,
    header: LoadHeader,
    server: Option<WatchedServer>,
    file: Option<&Path>,
    cancelled: &Arc<AtomicBool>,
    observer: OnObserved<'_>,
) -> Result<DrivenLoad, RunError> {
    let writer = file.map(|file| RunWriter::create_load_file(file, &header)).transpose()?;
    let mut intervals = KeptIntervals { file: writer.map(Ok), kept: Vec::new() };
    let mut collector = IntervalCollector::new(first_key(job), job.plan.interval.0, server);
    let mut outlook = Outlook::of(&job.plan);
    let mut given_up = None;
    let cancel = Cancel::from(Arc::clone(cancelled));
    let made = source.make_load(job, &cancel, &mut |observed| {
        observer(observed);
        match observed {
            Observed::Load(Watched::Interval(part)) => {
                collector.add_part(part).into_iter().for_each(|interval| intervals.keep(interval));
                outlook.note_part(part);
                if given_up.is_none() && !cancel.is_cancelled() {
                    given_up = outlook.given_up();
                    given_up.iter().for_each(|_| cancel.cancel());
                }
            }
            Observed::Load(Watched::Begun) => collector.begin(),
            _ => {}
        }
    })?;
    let MadeLoad { is_cut_short, messages, agents, mut events } = made;
    let (last, of_server) = collector.finish(&messages);
    last.into_iter().for_each(|interval| intervals.keep(interval));
    let is_interrupted = is_cut_short && given_up.is_none();
    events.extend(of_server.into_iter().chain(given_up).chain(cut_off(&intervals.kept)));
    let status = if is_interrupted { EndStatus::Interrupted } else { EndStatus::Complete };
    let end_ns = intervals.kept.iter().map(|slice| slice.load.window_end_ns()).max().unwrap_or(0);
    let (intervals, unwritten) = intervals.finish(&agents, &events, status, end_ns);
    let end = Some((status, end_ns));
    Ok(DrivenLoad { record: LoadRecord { header, intervals, agents, events, end }, unwritten })
}

/// The key of the first interval. A load has one start of one server, its URL.
fn first_key(job: &LoadJob) -> SliceKey {
    SliceKey {
        fork: 1,
        group: job.plan.url.clone(),
        scenario: job.plan.request.clone(),
        variant: job.plan.url.clone(),
        phase: Phase::Measure,
        kind: job.slice_kind(),
        round: 0,
        users: job.plan.connections,
        offered_per_s: job.slice.schedule.rate_per_s(),
    }
}

/// Requests that were still under way when the load was stopped.
fn cut_off(intervals: &[StoredSlice]) -> Option<EventRecord> {
    let sum = |of: fn(&StoredSlice) -> u64| intervals.iter().map(of).sum::<u64>();
    let (requests, at_ns) = (sum(|slice| slice.load.cut_off), sum(|slice| slice.load.window_ns));
    (requests > 0).then(|| EventRecord { at_ns, ..EventRecord::new(EventKind::RequestsCutOff { requests }) })
}

/// Keeps intervals, and writes them to a file if requested. The load continues if that file fails.
struct KeptIntervals {
    file: Option<Result<RunWriter, RecordError>>,
    kept: Vec<StoredSlice>,
}

impl KeptIntervals {
    fn keep(&mut self, interval: StoredSlice) {
        if let Some(Ok(writer)) = &mut self.file
            && let Err(error) = writer.append_slice(&interval)
        {
            self.file = Some(Err(error));
        }
        self.kept.push(interval);
    }

    /// The intervals, and why the file holds less than all of them. A file that failed gets no end.
    fn finish(
        self,
        agents: &[AgentRecord],
        events: &[EventRecord],
        status: EndStatus,
        end_ns: u64,
    ) -> (Vec<StoredSlice>, Option<RecordError>) {
        let finish_file = |mut writer: RunWriter| {
            agents.iter().try_for_each(|agent| writer.append_agent(agent))?;
            events.iter().try_for_each(|event| writer.append_event(event))?;
            writer.finish(status, end_ns)
        };
        (self.kept, self.file.and_then(|file| file.and_then(finish_file).err()))
    }
}

#[cfg(test)]
mod tests {
    use tare_load::SliceSample;
    use tare_plan::load_plan::{LoadModel, LoadStop};
    use tare_units::Span;

    use super::super::header::load_header;
    use super::super::job::tests::{HTTP, job};
    use super::super::source::Equipment;
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// A generator whose every request fails, ten in a second.
    struct Failing {
        seconds: u64,
    }

    impl LoadSource for Failing {
        fn equipment(&self, _: &LoadJob) -> Equipment {
            Equipment::default()
        }

        fn make_load(&mut self, _: &LoadJob, cancel: &Cancel, observer: OnObserved<'_>) -> Result<MadeLoad, RunError> {
            observer(Observed::Load(Watched::Begun));
            while self.seconds < 600 && !cancel.is_cancelled() {
                let start_ns = self.seconds * SECOND_NS;
                let part =
                    SliceSample { start_ns, window_ns: SECOND_NS, offered: 10, failed: 10, ..SliceSample::default() };
                observer(Observed::Load(Watched::Interval(&part)));
                self.seconds += 1;
            }
            Ok(MadeLoad { is_cut_short: cancel.is_cancelled(), ..MadeLoad::default() })
        }
    }

    #[test]
    fn a_load_that_can_only_fail_ends_early_and_says_why_and_is_not_interrupted() {
        let ten_minutes = LoadStop::Duration { span: Span::from_secs(600) };
        let job = job(LoadModel::Closed, ten_minutes, HTTP);
        let mut source = Failing { seconds: 0 };
        let header = load_header(&job, &source, Vec::new());
        let driven = drive_load(&mut source, &job, header, None, None, &Arc::default(), &mut |_| {}).unwrap();
        assert_eq!(source.seconds, 10, "the timeout of the plan");
        assert_eq!(driven.record.end, Some((EndStatus::Complete, 10 * SECOND_NS)));
        let told: Vec<String> =
            driven.record.events.iter().map(|event| format!("{}: {}", event.title, event.text)).collect();
        let says = "Ended early: nothing succeeded in 10.0 s, and 100 failed, so the rest of the load was left out. If it \
                    shall go on all the same, give --fail-if 'errors>100%'";
        assert_eq!(told, [says]);
    }
}
