//! Reads a record, including one that is still being written, was cut short or is damaged.
//!
//! Readable parts are read. Unreadable ones are counted in an event of the returned record.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde::de::DeserializeOwned;

use super::{events_before_kinds, rows, rows_before_6, schema};
use crate::error::RecordError;
use crate::header::RecordHeader;
use crate::load::{LoadRecord, Record};
use crate::profile::{PackedText, ProfileRecord};
use crate::{EndStatus, EventKind, EventRecord, RunRecord, StoredSlice};

const BUSY: Duration = Duration::from_secs(2);

/// Reads all readable parts of the record in `file`, of either kind.
///
/// # Errors
/// When the file is not a record, has a newer schema, is locked, or its header is damaged.
pub fn open_record(file: &Path) -> Result<Record, RecordError> {
    let connection = connect(file)?;
    let header = header(&connection).map_err(|e| RecordError::sqlite(file, &e))?;
    let mut lost = Vec::new();
    let version = schema::pragma(&connection, "user_version").map_err(|e| RecordError::sqlite(file, &e))?;
    let read_slice = if version < schema::FIRST_WITH_JSON { rows_before_6::slice } else { rows::slice };
    let slices = rescue(&connection, "slice", read_slice, &mut lost);
    let mut events: Vec<EventRecord> = rescue(&connection, "event", event, &mut lost);
    let end = end(&connection).unwrap_or(None);
    Ok(match header {
        RecordHeader::Load(header) => {
            events.extend(damage(&slices, &lost));
            Record::Load(Box::new(LoadRecord { header: *header, intervals: slices, events, end }))
        }
        RecordHeader::Weighed(header) => {
            let forks = rescue(&connection, "fork", json, &mut lost);
            let warmups = rescue(&connection, "warmup", json, &mut lost);
            // Records before version 3 do not have these tables.
            let cross_checks = rescue_if_there(&connection, "cross_check", json, &mut lost);
            let profiles = rescue_if_there(&connection, "profile", profile, &mut lost);
            events.extend(damage(&slices, &lost));
            let header = *header;
            Record::Weighed(Box::new(RunRecord { header, slices, forks, warmups, cross_checks, events, profiles, end }))
        }
    })
}

/// Reads the record of a run in `file`.
///
/// # Errors
/// [`RecordError::OtherKind`] for the record of a load; otherwise as for [`open_record`].
pub fn open_run_record(file: &Path) -> Result<RunRecord, RecordError> {
    match open_record(file)? {
        Record::Weighed(record) => Ok(*record),
        Record::Load(_) => Err(RecordError::OtherKind { file: file.to_path_buf() }),
    }
}

/// Opens a record for reading and checks its format.
pub(super) fn connect(file: &Path) -> Result<Connection, RecordError> {
    // SQLite reports every file that it cannot open in the same way. The file system's error is more precise.
    std::fs::File::open(file).map_err(|e| RecordError::io(file, &e))?;
    let wrap = |e: rusqlite::Error| RecordError::sqlite(file, &e);
    let connection = attempt(file).map_err(wrap)?;
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

fn attempt(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// The header.
pub(super) fn header(connection: &Connection) -> rusqlite::Result<RecordHeader> {
    connection.query_row("SELECT json FROM run WHERE key = 'header'", [], json)
}

/// How it ended; `None` if it did not.
pub(super) fn end(connection: &Connection) -> rusqlite::Result<Option<(EndStatus, u64)>> {
    connection.query_row("SELECT json FROM run WHERE key = 'end'", [], json).optional()
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

/// All rows of a table in order. If the table cannot be read at once, it is read row by row, and lost rows are counted.
fn rescue<T>(
    connection: &Connection,
    table: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
    lost: &mut Vec<String>,
) -> Vec<T> {
    let all = format!("SELECT * FROM {table} ORDER BY seq");
    let whole = || connection.prepare(&all)?.query_map([], read)?.collect();
    if let Ok(values) = whole() {
        return values;
    }
    let one = format!("SELECT * FROM {table} WHERE seq = ?1");
    let ever = rows_ever(connection, table);
    let single = |seq: i64| connection.prepare_cached(&one)?.query_row([seq], read);
    let values: Vec<T> = (1..=ever.unwrap_or(0)).filter_map(|seq| single(seq).ok()).collect();
    lost.push(match ever {
        Some(ever) => format!("{} of {ever} {table} entries", ever - values.len() as i64),
        None => format!("any {table} entries"),
    });
    values
}

/// As [`rescue`]; empty if the table does not exist.
fn rescue_if_there<T>(
    connection: &Connection,
    table: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
    lost: &mut Vec<String>,
) -> Vec<T> {
    if has_table(connection, table) { rescue(connection, table, read, lost) } else { Vec::new() }
}

fn has_table(connection: &Connection, table: &str) -> bool {
    let master = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    connection.query_row(master, [table], |_| Ok(())).is_ok()
}

fn rows_ever(connection: &Connection, table: &str) -> Option<i64> {
    let sequence = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
    connection.query_row(sequence, [table], |row| row.get(0)).optional().ok().map(|n| n.unwrap_or(0))
}

/// What could not be read; `None` if everything could.
fn damage(slices: &[StoredSlice], lost: &[String]) -> Option<EventRecord> {
    (!lost.is_empty()).then(|| EventRecord {
        at_ns: slices.last().map_or(0, |s| s.load.window_end_ns()),
        ..EventRecord::new(EventKind::RecordDamaged { lost: lost.to_vec() })
    })
}
