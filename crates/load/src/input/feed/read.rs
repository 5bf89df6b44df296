//! Tables from CSV, JSON and JSON lines. Errors name the line.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::Table;
use super::quotes::check_quotes;
use crate::error::LoadError;

/// The values as they are written: a number of JSON may have more digits than any type of Rust.
type Object = BTreeMap<String, Box<RawValue>>;

/// Values separated by this byte, quoted as in RFC 4180.
pub(super) fn separated(name: &str, by: u8, bytes: &[u8]) -> Result<Table, LoadError> {
    check_quotes(name, by, bytes)?;
    let mut reader = csv::ReaderBuilder::new().delimiter(by).from_reader(bytes);
    let broken = |error: csv::Error| broken_line(name, &error);
    let columns = reader.headers().map_err(broken)?.iter().map(|column| column.trim().to_owned()).collect();
    let mut table = Table::new(name, columns)?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(broken)? {
        let line = record.position().map_or(0, csv::Position::line);
        table.push(line, record.iter());
    }
    Ok(table)
}

fn broken_line(name: &str, error: &csv::Error) -> LoadError {
    let line = error.position().map_or(1, csv::Position::line);
    let place = format!("{name}, line {line}");
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => LoadError::input(
            &place,
            &format!("{len} fields where the first line names {expected_len} columns"),
            "quote values that hold the separator, and give each row all fields",
        ),
        csv::ErrorKind::Utf8 { err, .. } => LoadError::input(
            &format!("{place}, field {}", err.field() + 1),
            "the text is not UTF-8",
            "convert the file, as with iconv",
        ),
        _ => LoadError::input(&place, &error.to_string(), "write it as RFC 4180 has it"),
    }
}

/// An array of objects.
pub(super) fn json(name: &str, bytes: &[u8]) -> Result<Table, LoadError> {
    let rows: Vec<Object> = serde_json::from_slice(bytes).map_err(|error| broken_json(name, 0, &error))?;
    objects(name, "entry", rows.into_iter().enumerate().map(|(index, row)| Ok((index as u64 + 1, row))))
}

/// One object per line; empty lines are skipped.
pub(super) fn json_lines(name: &str, bytes: &[u8]) -> Result<Table, LoadError> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty());
    let rows = lines.map(|(before, line)| {
        let row = serde_json::from_slice(line).map_err(|error| broken_json(name, before, &error))?;
        Ok((before as u64 + 1, row))
    });
    objects(name, "line", rows)
}

fn broken_json(name: &str, lines_before: usize, error: &serde_json::Error) -> LoadError {
    let place = format!("{name}, line {}, column {}", lines_before + error.line(), error.column());
    let remedy = "write an array of objects (.json), or an object on each line (.jsonl)";
    // The library repeats the position at the end.
    let text = error.to_string();
    LoadError::input(&place, text.split(" at line").next().unwrap_or(&text), remedy)
}

/// A table of objects that all have the same names as the first.
fn objects(
    name: &str,
    unit: &str,
    mut rows: impl Iterator<Item = Result<(u64, Object), LoadError>>,
) -> Result<Table, LoadError> {
    let Some(first) = rows.next().transpose()? else {
        return Err(LoadError::input(name, "it has no rows", "write at least one object"));
    };
    let mut table = Table::new(name, first.1.keys().cloned().collect())?;
    for row in std::iter::once(Ok(first)).chain(rows) {
        let (number, object) = row?;
        let cells: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                object.get(column).map(|value| json_text(value)).ok_or_else(|| missing(name, unit, number, column))
            })
            .collect::<Result<_, _>>()?;
        table.push(number, cells.iter().map(String::as_str));
    }
    Ok(table)
}

fn missing(name: &str, unit: &str, number: u64, column: &str) -> LoadError {
    let place = format!("{name}, {unit} {number}");
    LoadError::input(&place, &format!("there is no `{column}`"), "give every object the names of the first")
}

/// Text as it is, any other value as JSON, as written but without blanks and line breaks between its parts.
pub(crate) fn json_text(value: &RawValue) -> String {
    let written = value.get();
    if let Ok(text) = serde_json::from_str(written) {
        return text;
    }
    let (mut is_inside, mut is_escaped) = (false, false);
    let is_kept = |c: &char| {
        let is_quote = *c == '"' && !is_escaped;
        is_inside ^= is_quote;
        is_escaped = is_inside && *c == '\\' && !is_escaped;
        is_inside || is_quote || !c.is_ascii_whitespace()
    };
    written.chars().filter(is_kept).collect()
}
