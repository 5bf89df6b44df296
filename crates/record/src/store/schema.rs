//! The tables of a record and their version.
//!
//! What people may want to query has a column; what only tare reads is JSON. `AUTOINCREMENT` keeps in `sqlite_sequence`
//! how many rows there ever were, so that a damaged file can say how many it lost.

use rusqlite::Connection;

/// Version of the tables, in `PRAGMA user_version`. 2 added `slice.jvm_json`, 3 the columns from `hiccup_machine` on and
/// the tables `cross_check` and `profile`, 4 `slice.others_share`, 5 the `kind` of the header; older records are read
/// without them.
pub(super) const VERSION: i64 = 5;

/// "tare" in ASCII, in `PRAGMA application_id`: tells a record from any other SQLite file.
pub(super) const APPLICATION_ID: i64 = 0x7461_7265;

const TABLES: &str = "
CREATE TABLE run (key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE fork (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL);
CREATE TABLE warmup (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL);
CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL);
CREATE TABLE cross_check (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL);
CREATE TABLE profile (seq INTEGER PRIMARY KEY AUTOINCREMENT, json TEXT NOT NULL, stacks BLOB NOT NULL);
CREATE TABLE slice (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  fork INTEGER NOT NULL, group_id TEXT NOT NULL, scenario TEXT NOT NULL, variant TEXT NOT NULL,
  phase TEXT NOT NULL, kind TEXT NOT NULL, round INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, window_ns INTEGER NOT NULL, users INTEGER NOT NULL, offered_per_s REAL,
  completed INTEGER NOT NULL, ok INTEGER NOT NULL, failed INTEGER NOT NULL, errors_json TEXT NOT NULL,
  bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  response BLOB NOT NULL, service BLOB NOT NULL, send_lag BLOB NOT NULL, failed_after BLOB NOT NULL,
  blocked INTEGER NOT NULL, blocked_ns INTEGER NOT NULL,
  connections_opened INTEGER NOT NULL, connections_lost INTEGER NOT NULL,
  generator_cpu_ns INTEGER NOT NULL, generator_workers INTEGER NOT NULL,
  server_cpu_json TEXT, rss_bytes INTEGER, rss_peak_bytes INTEGER, jvm_json TEXT,
  hiccup_machine BLOB, hiccup_jvm BLOB, pauses_json TEXT,
  stamp_lag BLOB, generator_spin_ns INTEGER, tls_handshakes INTEGER, tls_resumed INTEGER,
  messages_json TEXT, jitter BLOB, others_share REAL
);";

/// Makes an empty database a record.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// A number that SQLite keeps in the header of the file.
pub(super) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
