//! The tables of a record and their version. A slice has columns that say which slice it is, a BLOB per histogram and
//! one JSON document with all its counters; the other tables are JSON.

use rusqlite::Connection;

/// Version of the tables, in `PRAGMA user_version`: the only one that is read or written. A new counter needs no new version, nor
/// does a column that may be missing from a record: `met_stop`, `met_stall` and `met_none`.
pub(super) const VERSION: i64 = 8;

/// "tare" in ASCII, in `PRAGMA application_id`: distinguishes a record from other SQLite files.
pub(super) const APPLICATION_ID: i64 = 0x7461_7265;

const TABLES: &str = "
CREATE TABLE run (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE fork (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE warmup (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE event (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE agent (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE cross_check (seq INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE profile (seq INTEGER PRIMARY KEY, json TEXT NOT NULL, stacks BLOB NOT NULL);
CREATE TABLE slice (
  seq INTEGER PRIMARY KEY,
  fork INTEGER NOT NULL, group_id TEXT NOT NULL, scenario TEXT NOT NULL, variant TEXT NOT NULL,
  phase TEXT NOT NULL, kind TEXT NOT NULL, round INTEGER NOT NULL, users INTEGER NOT NULL, offered_per_s REAL,
  response BLOB NOT NULL, service BLOB NOT NULL, send_lag BLOB NOT NULL, stamp_lag BLOB NOT NULL,
  failed_time BLOB NOT NULL, jitter BLOB NOT NULL, hiccup_machine BLOB, hiccup_jvm BLOB,
  met_stop BLOB, met_stall BLOB, met_none BLOB,
  json TEXT NOT NULL
);";

/// Turns an empty database into a record.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    set_write_mode(connection)?;
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Lets others read while a record is written.
pub(super) fn set_write_mode(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")
}

/// Moves what SQLite's log has into the file. It waits some seconds for those who read what was there before.
pub(super) fn empty_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// A number that SQLite keeps in the header of the file.
pub(super) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
