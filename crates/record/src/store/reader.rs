//! Reads a record, including one that is still being written, was cut short or is damaged.
//!
//! Readable parts are read. Unreadable ones are counted in an event of the returned record.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde::de::DeserializeOwned;

use super::checksum::check_row;
use super::tables::Tables;
use super::{events_before_kinds, rows, rows_before_6, schema};
use crate::checkpoint::Checkpoint;
use crate::error::RecordError;
use crate::header::RecordHeader;
use crate::load::{LoadRecord, Record};
use crate::profile::{PackedText, ProfileRecord};
use crate::{EndStatus, EventKind, EventRecord, RunRecord, RuntimeUse, StoredSlice};

const BUSY: Duration = Duration::from_secs(2);

/// Reads all readable parts of the record in `file`, of either kind.
///
/// # Errors
/// When the file is not a record, has a newer schema, is locked, or its header is damaged.
pub fn open_record(file: &Path) -> Result<Record, RecordError> {
    let wrap = |e: rusqlite::Error| RecordError::sqlite(file, &e);
    let connection = connect(file)?;
    // All tables are read as they were at one moment, also while the record is still being written.
    let connection = connection.unchecked_transaction().map_err(wrap)?;
    let header = header(&connection).map_err(wrap)?;
    let version = schema::pragma(&connection, "user_version").map_err(wrap)?;
    let read_slice = if version < schema::FIRST_WITH_JSON { rows_before_6::slice } else { rows::slice };
    let mut tables = Tables::new(&connection, most_rows(file));
    let mut slices = tables.rows("slice", read_slice);
    if version < schema::FIRST_WITH_UNKNOWN_COUNTERS {
        let runtimes = slices.iter_mut().filter_map(|slice| slice.server.runtime.as_mut());
        runtimes.for_each(RuntimeUse::drop_unknown_zeros);
    }
    let mut events: Vec<EventRecord> = tables.rows("event", event);
    let end = tables.end_status();
    Ok(match header {
        RecordHeader::Load(header) => {
            let agents = tables.rows_if_present("agent", json);
            events.extend(damage_event(&slices, tables.lost));
            Record::Load(Box::new(LoadRecord { header: *header, intervals: slices, agents, events, end }))
        }
        RecordHeader::Run(header) => {
            let forks = tables.rows("fork", json);
            let warmups = tables.rows("warmup", json);
            // Records before version 3 do not have these tables.
            let cross_checks = tables.rows_if_present("cross_check", json);
            let profiles = tables.rows_if_present("profile", profile);
            let checkpoint = tables.checkpoint();
            events.extend(damage_event(&slices, tables.lost));
            Record::Run(Box::new(RunRecord {
                header: *header,
                slices,
                forks,
                warmups,
                cross_checks,
                events,
                profiles,
                checkpoint,
                end,
            }))
        }
    })
}

/// Reads the record of a run in `file`.
///
/// # Errors
/// [`RecordError::OtherKind`] for the record of a load; otherwise as for [`open_record`].
pub fn open_run_record(file: &Path) -> Result<RunRecord, RecordError> {
    match open_record(file)? {
        Record::Run(record) => Ok(*record),
        Record::Load(_) => Err(RecordError::OtherKind { file: file.to_path_buf() }),
    }
}

/// Opens a record for reading and checks its format.
pub(super) fn connect(file: &Path) -> Result<Connection, RecordError> {
    // SQLite reports every file that it cannot open in the same way. The file system's error is more precise.
    std::fs::File::open(file).map_err(|e| RecordError::io(file, &e))?;
    let wrap = |e: rusqlite::Error| RecordError::sqlite(file, &e);
    let connection = open_read_only(file).map_err(wrap)?;
    // SQLite rejects a file that is shorter than its header says, unless the schema is writable. The connection is
    // read-only, so nothing is written.
    connection.pragma_update(None, "writable_schema", "on").map_err(wrap)?;
    if schema::pragma(&connection, "application_id").map_err(wrap)? != schema::APPLICATION_ID {
        return Err(RecordError::NotARecord { file: file.to_path_buf() });
    }
    let found = schema::pragma(&connection, "user_version").map_err(wrap)?;
    if found > schema::VERSION {
        return Err(RecordError::NewerSchema { file: file.to_path_buf(), found, known: schema::VERSION });
    }
    Ok(connection)
}

fn open_read_only(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// The header.
pub(super) fn header(connection: &Connection) -> rusqlite::Result<RecordHeader> {
    connection.query_row("SELECT * FROM run WHERE key = 'header'", [], with_checksum(json))
}

/// How it ended; `None` if it did not.
pub(super) fn end(connection: &Connection) -> rusqlite::Result<Option<(EndStatus, u64)>> {
    connection.query_row("SELECT * FROM run WHERE key = 'end'", [], with_checksum(json)).optional()
}

/// How far it was at the end of its last whole step; `None` if there was none.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<Option<Checkpoint>> {
    connection.query_row("SELECT * FROM run WHERE key = 'checkpoint'", [], with_checksum(json)).optional()
}

/// Reads a row whose checksum is right.
fn with_checksum<T>(read: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> impl Fn(&Row<'_>) -> rusqlite::Result<T> {
    move |row| {
        check_row(row)?;
        read(row)
    }
}

fn json<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    rows::from_json(&row.get::<_, String>("json")?)
}

fn event(row: &Row<'_>) -> rusqlite::Result<EventRecord> {
    Ok(events_before_kinds::with_kind(json(row)?))
}

fn profile(row: &Row<'_>) -> rusqlite::Result<ProfileRecord> {
    Ok(ProfileRecord { stacks: PackedText::from_bytes(row.get("stacks")?), ..json(row)? })
}

/// The most rows that a file of this size can hold: each takes at least this many bytes.
fn most_rows(file: &Path) -> i64 {
    const LEAST_BYTES: u64 = 32;
    let size = |file: &Path| std::fs::metadata(file).map_or(0, |found| found.len());
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    i64::try_from((size(file) + size(Path::new(&log))) / LEAST_BYTES).unwrap_or(i64::MAX)
}

/// What could not be read; `None` if everything could.
fn damage_event(slices: &[StoredSlice], lost: Vec<String>) -> Option<EventRecord> {
    (!lost.is_empty()).then(|| EventRecord {
        at_ns: slices.last().map_or(0, |s| s.load.window_end_ns()),
        ..EventRecord::new(EventKind::RecordDamaged { lost })
    })
}
