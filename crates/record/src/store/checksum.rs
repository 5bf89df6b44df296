//! The checksum of a row: CRC-32 over the values of its columns, in their order. It finds every flipped bit.

use rusqlite::types::{ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};

/// The last column of every table since version 7.
const COLUMN: &str = "checksum";
/// The first column of most tables. SQLite sets it, and the reader checks that no number is missing.
const NUMBER: &str = "seq";

/// Inserts a row with its checksum. `columns` are those of the table in its order, without number and checksum.
pub(super) fn insert_row(connection: &Connection, table: &str, columns: &[(&str, &dyn ToSql)]) -> rusqlite::Result<()> {
    let mut checksum = crc32fast::Hasher::new();
    for (_, value) in columns {
        match &value.to_sql()? {
            ToSqlOutput::Borrowed(value) => add(&mut checksum, *value),
            ToSqlOutput::Owned(value) => add(&mut checksum, value.into()),
            // No column has such a value.
            _ => return Err(rusqlite::Error::InvalidQuery),
        }
    }
    let checksum = i64::from(checksum.finalize());
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let places = vec!["?"; columns.len() + 1].join(", ");
    let insert = format!("INSERT INTO {table} ({}, {COLUMN}) VALUES ({places})", names.join(", "));
    let values = columns.iter().map(|(_, value)| *value).chain([&checksum as &dyn ToSql]);
    connection.prepare_cached(&insert)?.execute(params_from_iter(values)).map(drop)
}

/// Checks a row of `SELECT *` against its checksum. Rows of versions before 7 have none.
///
/// # Errors
/// When they differ.
pub(super) fn check_row(row: &Row<'_>) -> rusqlite::Result<()> {
    let columns = row.as_ref();
    let Ok(expected) = columns.column_index(COLUMN) else { return Ok(()) };
    let mut checksum = crc32fast::Hasher::new();
    for (index, name) in columns.column_names().enumerate() {
        if index != expected && name != NUMBER {
            add(&mut checksum, row.get_ref(index)?);
        }
    }
    if row.get_ref(expected)? == ValueRef::Integer(checksum.finalize().into()) {
        return Ok(());
    }
    let cause = "its checksum differs: the file has changed since it was written".into();
    Err(rusqlite::Error::FromSqlConversionFailure(expected, Type::Integer, cause))
}

/// Adds a value with its type and length, so that no two rows have the same bytes.
fn add(checksum: &mut crc32fast::Hasher, value: ValueRef<'_>) {
    let (kind, bytes): (u8, &[u8]) = match &value {
        ValueRef::Null => (0, &[]),
        ValueRef::Integer(number) => (1, &number.to_le_bytes()),
        ValueRef::Real(number) => (2, &number.to_bits().to_le_bytes()),
        ValueRef::Text(text) => (3, text),
        ValueRef::Blob(bytes) => (4, bytes),
    };
    checksum.update(&[kind]);
    checksum.update(&(bytes.len() as u64).to_le_bytes());
    checksum.update(bytes);
}
