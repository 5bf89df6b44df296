//! Runs the one slice of a load, shows what each interval brings and keeps it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, SliceSample, StopRule, Watched};
use tare_record::error::RecordError;
use tare_record::sample::{EndStatus, EventLevel, EventRecord, RunRecord, SliceRecord, StoredSlice};
use tare_record::store::RunWriter;

use super::job::Job;
use super::live::Live;
use super::plan::header;
use super::recording::{Recording, Slot};

/// How often the workers hand over what they have seen: a part of the load between these.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_millis(500);
const PARTS: u32 = 40;

/// Drives the load to its end, or until it is cancelled.
///
/// # Errors
/// When a worker failed or the record cannot be written.
pub fn drive(
    session: &mut LoadSession,
    job: &Job,
    db: Option<&Path>,
    cancelled: &Arc<AtomicBool>,
    live: &mut Live,
) -> anyhow::Result<RunRecord> {
    let header = header(job, session);
    let writer = db.map(|file| RunWriter::create_file(file, &header)).transpose()?;
    let mut keeper = Keeper { writer, kept: Vec::new(), failure: None };
    let mut recording = Recording::new(slot(job), job.interval);
    let cancel = Cancel::from(Arc::clone(cancelled));
    let whole = session.run_watched(&job.slice, Some(every(job)), &cancel, &mut |watched| match watched {
        Watched::Opening(opening) => live.wait(&opening),
        Watched::Interval(part) => {
            live.show(part);
            recording.take(part).into_iter().for_each(|interval| keeper.keep(interval));
        }
        // The first interval says so.
        _ => {}
    })?;
    recording.finish(&whole).into_iter().for_each(|interval| keeper.keep(interval));
    let events = events(&whole);
    let status = if whole.cancelled { EndStatus::Interrupted } else { EndStatus::Complete };
    let end_ns = keeper.kept.iter().map(|slice| slice.start_ns + slice.window_ns).max().unwrap_or(0);
    let slices = keeper.finish(&events, status, end_ns)?;
    Ok(RunRecord { slices, events, end: Some((status, end_ns)), ..RunRecord::begin(header) })
}

fn slot(job: &Job) -> Slot {
    Slot {
        group: job.url.clone(),
        scenario: job.request.clone(),
        kind: job.kind,
        connections: job.slice.connections as u32,
        offered_per_s: job.slice.schedule.rate_per_s(),
    }
}

fn every(job: &Job) -> Duration {
    let part = match job.slice.stop {
        StopRule::Duration(span) => span / PARTS,
        StopRule::Count { .. } => LONGEST / 2,
    };
    part.clamp(SHORTEST, LONGEST).min(job.interval)
}

/// What the figures do not say.
fn events(whole: &SliceSample) -> Vec<EventRecord> {
    let mut events = Vec::new();
    if whole.cut_off > 0 {
        let text = format!(
            "{} requests had no answer yet when it was stopped; they are in no figure, and may have been the slowest",
            whole.cut_off
        );
        events.push(event(whole, "cut off", text));
    }
    events
}

fn event(whole: &SliceSample, title: &str, text: String) -> EventRecord {
    EventRecord { at_ns: whole.window_ns, ..EventRecord::new(EventLevel::Info, title, text) }
}

/// Keeps intervals, in a file too where one was asked for. The load goes on when that file fails.
struct Keeper {
    writer: Option<RunWriter>,
    kept: Vec<StoredSlice>,
    failure: Option<RecordError>,
}

impl Keeper {
    fn keep(&mut self, interval: SliceRecord) {
        if let (Some(writer), None) = (&mut self.writer, &self.failure) {
            self.failure = writer.append_slice(&interval).err();
        }
        self.kept.push(interval.pack());
    }

    fn finish(self, events: &[EventRecord], status: EndStatus, end_ns: u64) -> Result<Vec<StoredSlice>, RecordError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Some(mut writer) = self.writer {
            events.iter().try_for_each(|event| writer.append_event(event))?;
            writer.finish(status, end_ns)?;
        }
        Ok(self.kept)
    }
}
