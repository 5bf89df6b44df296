//! Reads the tables of a record that may be damaged. What cannot be read is counted.

use rusqlite::{Connection, OptionalExtension, Row};

use super::checksum::check_row;
use super::reader;
use crate::EndStatus;
use crate::checkpoint::Checkpoint;

/// The tables of a record, and a list of what could not be read.
pub(super) struct Tables<'a> {
    connection: &'a Connection,
    /// The most rows that the file can hold, so that a damaged count costs no time.
    most_rows: i64,
    /// One text per table: `1 of 2 slice entries`.
    pub lost: Vec<String>,
}

impl<'a> Tables<'a> {
    pub fn new(connection: &'a Connection, most_rows: i64) -> Self {
        Self { connection, most_rows, lost: Vec::new() }
    }

    /// All readable rows of a table, in order. A row is readable if its number is the next and its checksum is right.
    pub fn rows<T>(&mut self, table: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        let ever = self.rows_written(table);
        let (values, is_whole) = match self.all_rows(table, read) {
            Ok(values) => (values, true),
            Err(_) => (self.single_rows(table, read, ever.unwrap_or(0)), false),
        };
        let found = values.len() as i64;
        match ever {
            Some(ever) if ever == found && is_whole => {}
            Some(ever) if ever > found => self.lost.push(format!("{} of {ever} {table} entries", ever - found)),
            None if !is_whole => self.lost.push(format!("any {table} entries")),
            _ => self.lost.push(format!("how many {table} entries there were")),
        }
        values
    }

    /// As [`Self::rows`]; empty if the table does not exist.
    pub fn rows_if_present<T>(&mut self, table: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        if self.has_table(table) { self.rows(table, read) } else { Vec::new() }
    }

    /// How the record ended; `None` if it did not, or if that cannot be read.
    pub fn end_status(&mut self) -> Option<(EndStatus, u64)> {
        reader::end(self.connection).unwrap_or_else(|_| {
            self.lost.push("how it ended".to_owned());
            None
        })
    }

    /// How far it was at the end of its last whole step.
    pub fn checkpoint(&mut self) -> Option<Checkpoint> {
        reader::checkpoint(self.connection).unwrap_or_else(|_| {
            self.lost.push("how far it was".to_owned());
            None
        })
    }

    /// The whole table at once.
    fn all_rows<T>(&self, table: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
        let mut statement = self.connection.prepare(&format!("SELECT * FROM {table} ORDER BY seq"))?;
        let mut rows = statement.query([])?;
        let mut values = Vec::new();
        while let Some(row) = rows.next()? {
            check_row(row)?;
            if row.get::<_, i64>("seq")? != values.len() as i64 + 1 {
                return Err(rusqlite::Error::InvalidQuery);
            }
            values.push(read(row)?);
        }
        Ok(values)
    }

    /// The readable rows of a table, one by one.
    fn single_rows<T>(&self, table: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>, ever: i64) -> Vec<T> {
        let one = format!("SELECT * FROM {table} WHERE seq = ?1");
        let single = |seq: i64| {
            self.connection.prepare_cached(&one)?.query_row([seq], |row| {
                check_row(row)?;
                read(row)
            })
        };
        (1..=ever).filter_map(|seq| single(seq).ok()).collect()
    }

    fn has_table(&self, table: &str) -> bool {
        let master = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
        self.connection.query_row(master, [table], |_| Ok(())).is_ok()
    }

    /// How many rows were ever written; `None` if that cannot be read.
    fn rows_written(&self, table: &str) -> Option<i64> {
        let sequence = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
        let ever = self.connection.query_row(sequence, [table], |row| row.get::<_, i64>(0)).optional().ok()?;
        Some(ever.unwrap_or(0).min(self.most_rows))
    }
}
