//! A copy of a record, and every text in it, so that others may read the copy.

use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rusqlite::{Connection, Error, ErrorCode, OpenFlags, params};

use crate::error::RecordError;

/// The tables with documents; all have their rows in order, and the first one has keys of text.
const TABLES: [&str; 8] = ["run", "fork", "warmup", "event", "agent", "cross_check", "profile", "slice"];

/// Copies the record in `file` into a new file, which the same users may read. The file of a run that was killed or
/// goes on has only a part of the record: SQLite keeps the rest in its log. Errors: an error of the disk, or a damaged
/// record. No copy is left then.
pub fn copy_record(file: &Path, copy: &Path) -> Result<(), RecordError> {
    let mode = file.metadata().map_err(|error| RecordError::io(file, &error))?.mode();
    let new = OpenOptions::new().write(true).create_new(true).mode(mode | 0o600).open(copy);
    drop(new.map_err(|error| RecordError::io(copy, &error))?);
    let write = || {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()])
    };
    write().map(drop).map_err(|error| {
        // Half a copy would only use space on a full disk.
        let _ = std::fs::remove_file(copy);
        let is_full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
        RecordError::sqlite(if is_full { copy } else { file }, &error)
    })
}

/// Every document of the record in `file`.
pub fn record_texts(file: &Path) -> Result<Vec<String>, RecordError> {
    let read = || {
        let connection = Connection::open(file)?;
        let mut texts = Vec::new();
        for table in TABLES {
            let mut query = connection.prepare(&format!("SELECT json FROM {table}"))?;
            texts.extend(query.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, Error>>()?);
        }
        Ok(texts)
    };
    read().map_err(|error| RecordError::sqlite(file, &error))
}

/// Replaces every document of the record in `file`. The old ones are not in the file any more, not even in its unused parts.
pub fn rewrite_record(file: &Path, rewrite: impl Fn(&str) -> String) -> Result<(), RecordError> {
    let write = || {
        let connection = Connection::open(file)?;
        // Otherwise each row would wait for the disk.
        let transaction = connection.unchecked_transaction()?;
        for table in TABLES {
            let key = if table == "run" { "key" } else { "seq" };
            let mut query = connection.prepare(&format!("SELECT {key}, json FROM {table}"))?;
            let rows =
                query.query_map([], |row| Ok((row.get::<_, rusqlite::types::Value>(0)?, row.get::<_, String>(1)?)))?;
            for (at, text) in rows.collect::<Result<Vec<_>, Error>>()? {
                connection
                    .execute(&format!("UPDATE {table} SET json = ?2 WHERE {key} = ?1"), params![at, rewrite(&text)])?;
            }
        }
        transaction.commit()?;
        connection.execute_batch("VACUUM; PRAGMA journal_mode = delete;")
    };
    write().map_err(|error| RecordError::sqlite(file, &error))
}
