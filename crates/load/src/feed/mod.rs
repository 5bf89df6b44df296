//! Feeds: tables whose rows fill the `{{variables}}` of requests. Read whole before any clock runs; workers share the
//! rows and each takes its own.

mod read;
mod rows;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use crate::error::LoadError;

pub(crate) use self::rows::Rows;
pub(crate) use self::table::Table;

/// A table of values, one row for each request that uses it.
#[derive(Clone, Debug)]
pub struct Feed {
    table: Arc<Table>,
    order: FeedOrder,
}

/// Which row is next. Every worker takes rows of its own in the first and the last: of W workers, each Wth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedOrder {
    /// From the first to the last, and again.
    #[default]
    InTurn,
    /// Any, by the seed of the requests.
    Random,
    /// From the first to the last; then no request is left, and the load ends.
    Once,
}

/// How a feed is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedFormat {
    /// Values separated by this byte, the names of the columns in the first line.
    Separated(u8),
    /// One array of objects.
    Json,
    /// One object a line.
    JsonLines,
}

impl FeedFormat {
    /// The format that a file's name stands for: `.csv`, `.tsv`, `.json`, `.jsonl` or `.ndjson`.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Separated(b',')),
            "tsv" => Some(Self::Separated(b'\t')),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

impl Feed {
    /// Reads a file, whose name says how it is written.
    ///
    /// # Errors
    /// When it cannot be read or its name ends otherwise, and as [`Feed::parse`].
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let name = path.display().to_string();
        let format = FeedFormat::of(path).ok_or_else(|| {
            LoadError::input(&name, "its name does not say what it is", "let it end in .csv, .tsv, .json or .jsonl")
        })?;
        let bytes = std::fs::read(path)
            .map_err(|error| LoadError::input(&name, &error.to_string(), "give a file that can be read"))?;
        Self::parse(&name, format, &bytes)
    }

    /// Reads a table; `name` stands for it in errors.
    ///
    /// # Errors
    /// With the line, and the field or column, when there is no row, when rows differ in their columns, or when the
    /// bytes are not of the format.
    pub fn parse(name: &str, format: FeedFormat, bytes: &[u8]) -> Result<Self, LoadError> {
        let table = match format {
            FeedFormat::Separated(by) => read::separated(name, by, bytes),
            FeedFormat::Json => read::json(name, bytes),
            FeedFormat::JsonLines => read::json_lines(name, bytes),
        }?;
        if table.is_empty() {
            return Err(LoadError::input(name, "it has no rows", "add at least one below the names of the columns"));
        }
        Ok(Self { table: Arc::new(table), order: FeedOrder::default() })
    }

    /// The same table in another order.
    pub fn in_order(self, order: FeedOrder) -> Self {
        Self { order, ..self }
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        self.table.columns()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no row; never, once it has been read.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    pub(crate) const fn order(&self) -> FeedOrder {
        self.order
    }
}
