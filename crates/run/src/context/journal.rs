//! The record of a run while it is made: written to disk at once, so that nothing is lost, and kept in memory for the verdicts.

use tare_record::checkpoint::Checkpoint;
use tare_record::cross_check::CrossCheckRecord;
use tare_record::profile::ProfileRecord;
use tare_record::store::RunWriter;
use tare_record::{EndStatus, EventRecord, ForkRecord, RecordError, RunRecord, StoredSlice, WarmupRecord};

use crate::error::RunError;
use crate::progress::Progress;

pub type Observer<'a> = dyn FnMut(&Progress<'_>) + 'a;

pub struct Journal<'a> {
    record: RunRecord,
    writer: Option<RunWriter>,
    observer: &'a mut Observer<'a>,
}

impl<'a> Journal<'a> {
    /// Adds to a record: an empty one, or that of an interrupted run. Without a writer it is kept in memory only.
    pub fn begin(record: RunRecord, writer: Option<RunWriter>, observer: &'a mut Observer<'a>) -> Self {
        Self { record, writer, observer }
    }

    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    pub fn show(&mut self, progress: &Progress<'_>) {
        (self.observer)(progress);
    }

    /// Keeps a slice. What cannot be written is not in memory either.
    pub fn append_slice(&mut self, slice: StoredSlice) -> Result<(), RunError> {
        self.append(RunWriter::append_slice, |record| &mut record.slices, slice)
    }

    pub fn append_fork(&mut self, fork: ForkRecord) -> Result<(), RunError> {
        self.append(RunWriter::append_fork, |record| &mut record.forks, fork)
    }

    pub fn append_warmup(&mut self, warmup: WarmupRecord) -> Result<(), RunError> {
        self.append(RunWriter::append_warmup, |record| &mut record.warmups, warmup)
    }

    pub fn append_cross_check(&mut self, check: CrossCheckRecord) -> Result<(), RunError> {
        self.append(RunWriter::append_cross_check, |record| &mut record.cross_checks, check)
    }

    /// Writes an entry, and then keeps it in memory: what is not on disk is in neither.
    fn append<T>(
        &mut self,
        write: impl Fn(&mut RunWriter, &T) -> Result<(), RecordError>,
        list: impl Fn(&mut RunRecord) -> &mut Vec<T>,
        entry: T,
    ) -> Result<(), RunError> {
        if let Some(writer) = &mut self.writer {
            write(writer, &entry)?;
        }
        list(&mut self.record).push(entry);
        Ok(())
    }

    /// Keeps and shows an event that happened `at_ns` after the run began.
    pub fn append_event(&mut self, at_ns: u64, event: EventRecord) -> Result<(), RunError> {
        let event = EventRecord { at_ns, ..event };
        (self.observer)(&Progress::Event(&event));
        self.append(RunWriter::append_event, |record| &mut record.events, event)
    }

    pub fn append_profile(&mut self, profile: ProfileRecord) -> Result<(), RunError> {
        self.append(RunWriter::append_profile, |record| &mut record.profiles, profile)
    }

    pub fn save_checkpoint(&mut self, checkpoint: Checkpoint) -> Result<(), RunError> {
        if let Some(writer) = &mut self.writer {
            writer.save_checkpoint(&checkpoint)?;
        }
        self.record.checkpoint = Some(checkpoint);
        Ok(())
    }

    /// Closes the record `at_ns` after the run began.
    pub fn finish(mut self, status: EndStatus, at_ns: u64) -> Result<RunRecord, RunError> {
        if let Some(writer) = self.writer.take() {
            writer.finish(status, at_ns)?;
        }
        self.record.end = Some((status, at_ns));
        Ok(self.record)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tare_record::EventKind;
    use tare_record::Record;

    use super::*;
    use crate::tests::{header, plan};

    #[test]
    fn what_is_in_memory_is_on_disk_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record.db");
        let header = header(&plan(&["a", "b"], &["Get"]));
        let writer = RunWriter::create_file(&file, &header).unwrap();
        let shown = Cell::new(0);
        let mut observer = |_: &Progress<'_>| shown.set(shown.get() + 1);
        let mut journal = Journal::begin(RunRecord::begin(header), Some(writer), &mut observer);
        journal.append_event(5, EventRecord::new(EventKind::ServerRestarted)).unwrap();
        journal.append_event(9, EventRecord::new(EventKind::NoAnswers { failure: String::new() })).unwrap();
        let memory = journal.finish(EndStatus::Complete, 12).unwrap();
        let Record::Run(disk) = tare_record::store::open_record(&file).unwrap() else { panic!("it is a run") };
        assert_eq!(shown.get(), 2, "each event is shown");
        assert_eq!(memory.events.iter().map(|event| event.at_ns).collect::<Vec<_>>(), [5, 9]);
        assert_eq!((disk.events, disk.end), (memory.events, memory.end));
        assert_eq!(memory.end, Some((EndStatus::Complete, 12)));
    }
}
