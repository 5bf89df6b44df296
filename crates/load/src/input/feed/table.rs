//! Rows of text in one piece of memory: a feed of a million rows needs two allocations.

use crate::error::LoadError;

/// A table with named columns, and the source line of each row.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    text: String,
    /// Where each cell ends in `text`, row by row.
    ends: Vec<usize>,
    lines: Vec<u64>,
}

impl Table {
    /// A table without rows. Fails when it has no columns, or two of one name, or one without a name.
    pub(crate) fn new(name: &str, columns: Vec<String>) -> Result<Self, LoadError> {
        if columns.is_empty() {
            return Err(LoadError::input(name, "it has no columns", "name at least one"));
        }
        for (index, column) in columns.iter().enumerate() {
            if column.is_empty() {
                let place = format!("{name}, line 1, field {}", index + 1);
                return Err(LoadError::input(&place, "the column has no name", "name it"));
            }
            if columns[..index].contains(column) {
                let what = format!("there are two columns `{column}`");
                return Err(LoadError::input(name, &what, "rename one of them"));
            }
        }
        Ok(Self { name: name.to_owned(), columns, text: String::new(), ends: Vec::new(), lines: Vec::new() })
    }

    /// Adds a row, which has as many cells as there are columns.
    pub(crate) fn push<'a>(&mut self, line: u64, cells: impl Iterator<Item = &'a str>) {
        for cell in cells {
            self.text.push_str(cell);
            self.ends.push(self.text.len());
        }
        self.lines.push(line);
    }

    pub(crate) fn rows(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn cell(&self, row: usize, column: usize) -> &str {
        let index = row * self.columns.len() + column;
        let from = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[from..self.ends[index]]
    }

    /// A cell's place in the file, for error messages.
    pub(crate) fn place(&self, row: usize, column: usize) -> String {
        format!("{}, line {}, column `{}`", self.name, self.lines[row], self.columns[column])
    }
}
