//! A run that was interrupted, opened again: first read, then gone back to its last whole step.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};

use super::texts::copy_record;
use super::writer::RunWriter;
use super::{reader, schema};
use crate::checkpoint::Checkpoint;
use crate::error::RecordError;
use crate::{EndStatus, Record, RunRecord};

/// An interrupted run. No other process writes to its record while this value exists.
#[derive(Debug)]
pub struct InterruptedRun {
    /// All that was recorded, the step that was cut short included.
    pub record: RunRecord,
    /// The step after which it continues.
    pub checkpoint: Checkpoint,
    file: PathBuf,
    lock: FolderLock,
}

/// A run that is ready to go on: its record, as of its last whole step.
#[derive(Debug)]
pub struct ReopenedRun {
    /// The kept part of the record.
    pub record: RunRecord,
    pub writer: RunWriter,
    /// A copy of the record with the step that was cut short, where there was one.
    pub copy: Option<PathBuf>,
}

impl InterruptedRun {
    /// Reads the record in `file`, and changes nothing. Errors: [`RecordError::NotResumable`] for a run that has ended
    /// or still runs; otherwise as for [`open_run_record`](super::open_run_record).
    pub fn open(file: &Path) -> Result<Self, RecordError> {
        let refuse = |why: &str| Err(RecordError::NotResumable { file: file.to_owned(), why: why.to_owned() });
        let Some(lock) = lock(file)? else { return refuse("it is still being measured, in another process") };
        let record = reader::open_run_record(file)?;
        if let Some((EndStatus::Complete | EndStatus::BudgetSpent, _)) = record.end {
            return refuse("it has ended, and nothing is left to measure; tare report shows it");
        }
        match record.checkpoint.clone() {
            Some(checkpoint) => Ok(Self { record, checkpoint, file: file.to_owned(), lock }),
            None => refuse("it stopped before its first start; measure again"),
        }
    }

    /// Takes the step that was cut short out of the record, after copying the record, and opens it for more.
    pub fn reopen(self) -> Result<ReopenedRun, RecordError> {
        let is_cut = self.record.entry_counts() != self.checkpoint.entries;
        let copy = is_cut.then(|| unused_copy_name(&self.file));
        if let Some(copy) = &copy {
            copy_record(&self.file, copy)?;
        }
        let wrap = |e: rusqlite::Error| RecordError::sqlite(&self.file, &e);
        let connection = Connection::open(&self.file).map_err(wrap)?;
        schema::set_write_mode(&connection)
            .and_then(|()| delete_after_checkpoint(&connection, &self.checkpoint))
            .map_err(wrap)?;
        let Record::Run(record) = reader::read_all(&connection).map_err(wrap)? else {
            return Err(RecordError::OtherKind(self.file));
        };
        let writer = RunWriter::resume(connection, self.file, self.lock, &record.header);
        Ok(ReopenedRun { record: *record, writer, copy })
    }
}

fn delete_after_checkpoint(connection: &Connection, checkpoint: &Checkpoint) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    for (table, count) in checkpoint.entries.counts_by_table() {
        transaction.execute(&format!("DELETE FROM {table} WHERE seq > ?1"), [count])?;
    }
    transaction.execute("DELETE FROM run WHERE key = 'end'", [])?;
    transaction.commit()
}

/// `record-cut-1.sqlite`, or the next number that is free.
fn unused_copy_name(file: &Path) -> PathBuf {
    let name = |number: u32| file.with_file_name(format!("record-cut-{number}.sqlite"));
    (1..).map(name).find(|copy| !copy.exists()).unwrap_or_else(|| name(1))
}

#[derive(Debug)]
pub(super) struct FolderLock(File);

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A child that has not executed its program yet has the folder open, too. Without the lock, nobody waits for it.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Locks the folder of a record for as long as the result lives; `None` where another process holds it. The file itself
/// has SQLite's locks, which closing it here would release.
pub(super) fn lock(file: &Path) -> Result<Option<FolderLock>, RecordError> {
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let handle = File::open(folder).map_err(|e| RecordError::io(folder, &e))?;
    match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(FolderLock(handle))),
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Ok(None),
        Err(error) => Err(RecordError::io(folder, &error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_free_as_soon_as_nobody_writes_to_it_whatever_a_child_has_open() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record.sqlite");
        let held = lock(&file).unwrap().unwrap();
        let of_child = held.0.try_clone().unwrap();
        assert!(lock(&file).unwrap().is_none());
        drop(held);
        assert!(lock(&file).unwrap().is_some());
        drop(of_child);
    }
}
