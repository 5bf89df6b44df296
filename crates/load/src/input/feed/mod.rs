//! Feeds: tables whose rows fill the `{{variables}}` of requests. They are read completely before any clock runs.
//! Workers share the rows, and each uses its own.

mod quotes;
mod read;
mod rows;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use crate::error::LoadError;

pub(crate) use self::read::json_text;
pub(crate) use self::rows::Rows;
use self::table::Table;

/// A table of values, one row for each request that uses it.
#[derive(Clone, Debug)]
pub struct Feed {
    pub(crate) table: Arc<Table>,
    order: FeedOrder,
}

tare_units::named_values! {
    /// The order of rows. With `InTurn` and `Once`, each of W workers uses every W-th row.
    #[derive(Default)]
    pub enum FeedOrder: "an order of rows" {
        /// From the first to the last, then again from the first.
        #[default]
        InTurn = "in-turn",
        /// At random, by the seed of the requests.
        Random = "random",
        /// From the first to the last. Then no request is left, and the load ends.
        Once = "once",
    }
}

/// The format of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedFormat {
    /// Values separated by this byte, with the names of the columns in the first line.
    Separated(u8),
    /// One array of objects.
    Json,
    /// One object per line.
    JsonLines,
}

impl FeedFormat {
    /// The format of a file by its name (`.csv`, `.tsv`, `.json`, `.jsonl` or `.ndjson`), or, where that has no ending,
    /// as that of a pipe, by its contents. Fails when the name has an ending of something else.
    pub fn of_contents(path: &Path, contents: &[u8]) -> Result<Self, LoadError> {
        if let Some(ending) = path.extension() {
            return match ending.to_string_lossy().to_ascii_lowercase().as_str() {
                "csv" => Ok(Self::Separated(b',')),
                "tsv" => Ok(Self::Separated(b'\t')),
                "json" => Ok(Self::Json),
                "jsonl" | "ndjson" => Ok(Self::JsonLines),
                ending => {
                    let (what, remedy) = match ending {
                        "har" => {
                            ("it is a recording of requests, and no table", "give it with --har, and not with --feed")
                        }
                        _ => ("its name does not say what it is", "let it end in .csv, .tsv, .json or .jsonl"),
                    };
                    Err(LoadError::input(&path.display().to_string(), what, remedy))
                }
            };
        }
        let text = contents.strip_prefix(b"\xef\xbb\xbf").unwrap_or(contents).trim_ascii_start();
        let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(match text.first() {
            Some(b'[') => Self::Json,
            Some(b'{') => Self::JsonLines,
            _ if first_line.contains(&b'\t') => Self::Separated(b'\t'),
            _ => Self::Separated(b','),
        })
    }
}

impl Feed {
    /// Reads a table; `name` names it in errors. Fails when there is no row, when rows have different columns, or when
    /// the bytes have another format. The error names the line, and the field or column.
    pub fn parse(name: &str, format: FeedFormat, bytes: &[u8]) -> Result<Self, LoadError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let table = match format {
            FeedFormat::Separated(by) => read::separated(name, by, bytes),
            FeedFormat::Json => read::json(name, bytes),
            FeedFormat::JsonLines => read::json_lines(name, bytes),
        }?;
        if table.rows() == 0 {
            return Err(LoadError::input(name, "it has no rows", "add at least one below the names of the columns"));
        }
        Ok(Self { table: Arc::new(table), order: FeedOrder::default() })
    }

    /// Sets the order of rows.
    pub fn in_order(self, order: FeedOrder) -> Self {
        Self { order, ..self }
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.table.columns
    }

    /// The number of rows, at least one.
    pub fn rows(&self) -> usize {
        self.table.rows()
    }
}
