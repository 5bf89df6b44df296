//! Reads a record, including one that is still being written or was cut short by `kill -9`. SQLite recovers the latter from
//! its log. A damaged file is an error: figures of a part of it could mislead.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde::de::DeserializeOwned;

use super::{rows, schema};
use crate::EndStatus;
use crate::error::RecordError;
use crate::profile::{PackedText, ProfileRecord};
use crate::run::{LoadRecord, Record, RecordHeader, RunRecord};

const BUSY: Duration = Duration::from_secs(2);

/// Reads the record in `file`, of either kind. Errors: when the file is not a record, has another schema, is locked or
/// is damaged.
pub fn open_record(file: &Path) -> Result<Record, RecordError> {
    let connection = connect(file)?;
    let read = || {
        // All tables are read as they were at one moment, also while the record is still being written.
        let snapshot = connection.unchecked_transaction()?;
        check_integrity(&snapshot)?;
        read_all(&snapshot)
    };
    read().map_err(|error| RecordError::sqlite(file, &error))
}

/// Reads the record of a run in `file`. Errors: [`RecordError::OtherKind`] for the record of a load; otherwise as for
/// [`open_record`].
pub fn open_run_record(file: &Path) -> Result<RunRecord, RecordError> {
    match open_record(file)? {
        Record::Run(record) => Ok(*record),
        Record::Load(_) => Err(RecordError::OtherKind(file.to_path_buf())),
    }
}

/// Opens a record for reading and checks its format.
pub(super) fn connect(file: &Path) -> Result<Connection, RecordError> {
    // SQLite reports every file that it cannot open in the same way. The file system's error is more precise.
    std::fs::File::open(file).map_err(|e| RecordError::io(file, &e))?;
    let wrap = |e: rusqlite::Error| RecordError::sqlite(file, &e);
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(wrap)?;
    connection.busy_timeout(BUSY).map_err(wrap)?;
    if schema::pragma(&connection, "application_id").map_err(wrap)? != schema::APPLICATION_ID {
        return Err(RecordError::NotARecord(file.to_path_buf()));
    }
    let found = schema::pragma(&connection, "user_version").map_err(wrap)?;
    if found != schema::VERSION {
        let writer = writer_version(&connection).map_or_else(String::new, |version| format!(" (tare {version})"));
        return Err(RecordError::OtherSchema { file: file.to_path_buf(), found, known: schema::VERSION, writer });
    }
    Ok(connection)
}

/// The version of tare that wrote a record. Every schema so far has it in the same place.
fn writer_version(connection: &Connection) -> Option<String> {
    let query = "SELECT json_extract(json, '$.tare_version') FROM run WHERE key = 'header'";
    connection.query_row(query, [], |row| row.get(0)).ok()
}

/// Has SQLite check the structure of the whole file.
fn check_integrity(connection: &Connection) -> rusqlite::Result<()> {
    let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(rows::conversion_error(found.replace('\n', " ").into())) }
}

pub(super) fn read_all(connection: &Connection) -> rusqlite::Result<Record> {
    let slices = rows_of(connection, "slice", rows::slice)?;
    let events = rows_of(connection, "event", json)?;
    let end = end(connection)?;
    Ok(match header(connection)? {
        RecordHeader::Load(header) => Record::Load(Box::new(LoadRecord {
            header: *header,
            intervals: slices,
            agents: rows_of(connection, "agent", json)?,
            events,
            end,
        })),
        RecordHeader::Run(header) => Record::Run(Box::new(RunRecord {
            header: *header,
            slices,
            forks: rows_of(connection, "fork", json)?,
            warmups: rows_of(connection, "warmup", json)?,
            cross_checks: rows_of(connection, "cross_check", json)?,
            events,
            profiles: rows_of(connection, "profile", profile)?,
            checkpoint: value(connection, "checkpoint")?,
            end,
        })),
    })
}

/// The rows of a table, in the order in which they were written.
fn rows_of<T>(
    connection: &Connection,
    table: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY seq"))?;
    let in_order = statement.query_map([], |row| read(row).map_err(|error| rows::in_entry(table, row, error)))?;
    in_order.collect()
}

pub(super) fn header(connection: &Connection) -> rusqlite::Result<RecordHeader> {
    value(connection, "header")?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// How it ended; `None` if it did not.
pub(super) fn end(connection: &Connection) -> rusqlite::Result<Option<(EndStatus, u64)>> {
    value(connection, "end")
}

/// One value of the table `run`; `None` if it was not written.
fn value<T: DeserializeOwned>(connection: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    connection.query_row("SELECT json FROM run WHERE key = ?1", [key], json).optional()
}

fn json<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    rows::from_json(&row.get::<_, String>("json")?)
}

fn profile(row: &Row<'_>) -> rusqlite::Result<ProfileRecord> {
    let stacks = PackedText::from_bytes(row.get("stacks")?);
    stacks.unpack().map_err(|error| rows::conversion_error(format!("its stacks: {error}").into()))?;
    Ok(ProfileRecord { stacks, ..json(row)? })
}
