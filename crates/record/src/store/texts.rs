//! Every text of a record, for a copy of it that others may read.

use std::path::Path;

use rusqlite::{Connection, Error, params};

use crate::error::RecordError;

/// The tables with documents; all have their rows in order, and the first one has keys of text.
const TABLES: [&str; 8] = ["run", "fork", "warmup", "event", "agent", "cross_check", "profile", "slice"];

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
        connection.execute_batch("VACUUM; PRAGMA journal_mode = delete;")
    };
    write().map_err(|error| RecordError::sqlite(file, &error))
}
