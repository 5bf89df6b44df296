//! The tables of a record and their version.
//!
//! A slice has columns that say which slice it is, a BLOB per histogram and one JSON document with all its counters; the
//! other tables are JSON. Every row ends with its checksum. `AUTOINCREMENT` keeps the number of rows ever written in
//! `sqlite_sequence`, so that the reader of a damaged file can say how many are lost.

use rusqlite::Connection;

/// Version of the tables, in `PRAGMA user_version`.
///
/// Version 2 added `slice.jvm_json`; 3 hiccups, messages, TLS and the tables `cross_check` and `profile`; 4
/// `slice.others_share`; 5 the `kind` of the header. Version 6 replaced the columns of counters by `slice.json`. Version 7
/// added the `checksum` of each row, and separates connection events from failed requests. Version 8 has `null` for what a
/// runtime does not report, which was 0 before. All versions are read; only this one is written. A new counter needs no new
/// version, nor did the table `agent`: older readers do not look for it.
pub(super) const VERSION: i64 = 8;

/// The first version whose slices [`super::rows`] reads; [`super::rows_before_6`] reads older ones.
pub(super) const FIRST_WITH_JSON: i64 = 6;

/// The first version in which a 0 of a runtime's counters is a 0.
pub(super) const FIRST_WITH_UNKNOWN_COUNTERS: i64 = 8;

/// "tare" in ASCII, in `PRAGMA application_id`: distinguishes a record from other SQLite files.
pub(super) const APPLICATION_ID: i64 = 0x7461_7265;

const TABLES: &str = "
CREATE TABLE run (key TEXT PRIMARY KEY, json TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE fork (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE warmup (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE agent (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE cross_check (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE profile (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, stacks BLOB NOT NULL,
  checksum INTEGER NOT NULL);
CREATE TABLE slice (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  fork INTEGER NOT NULL, group_id TEXT NOT NULL, scenario TEXT NOT NULL, variant TEXT NOT NULL,
  phase TEXT NOT NULL, kind TEXT NOT NULL, round INTEGER NOT NULL, users INTEGER NOT NULL, offered_per_s REAL,
  response BLOB NOT NULL, service BLOB NOT NULL, send_lag BLOB NOT NULL, stamp_lag BLOB NOT NULL,
  failed_time BLOB NOT NULL, jitter BLOB NOT NULL, hiccup_machine BLOB, hiccup_jvm BLOB,
  json TEXT NOT NULL, checksum INTEGER NOT NULL
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

/// A number that SQLite keeps in the header of the file.
pub(super) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
