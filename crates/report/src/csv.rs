//! CSV after RFC 4180: `cells.csv`, one row per cell, and `slices.csv`, one row per slice, raw. Columns: docs/METRICS.md.

use tare_record::RunRecord;

use crate::metrics::{CellRow, cell_columns, slice_columns};
use tare_analysis::summary::{Cell, Summary};

/// One row per cell, with its comparison.
pub fn cells_as_csv(summary: &Summary) -> String {
    let (names, values): (Vec<_>, Vec<_>) = cell_columns().unzip();
    let row = |cell: &Cell| {
        let comparison = summary.comparisons.iter().find(|c| c.cell == cell.id);
        let sentence = comparison.and_then(|c| summary.sentences.iter().find(|s| s.comparison == c.id));
        let row = CellRow { cell, comparison, sentence, headline: &summary.headline };
        line(values.iter().map(|value| value(&row)))
    };
    let head = line(names.into_iter().map(Into::into));
    head + &summary.cells.iter().map(row).collect::<String>()
}

/// One row per slice, warm-up included.
pub fn slices_as_csv(record: &RunRecord) -> String {
    let (names, values): (Vec<_>, Vec<_>) = slice_columns().unzip();
    let head = line(names.into_iter().map(Into::into));
    let row = |slice| line(values.iter().map(|value| value(slice)));
    head + &record.slices.iter().map(row).collect::<String>()
}

/// One row, with fields quoted where they must be.
pub(crate) fn line(fields: impl Iterator<Item = String>) -> String {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(fields.map(String::into_bytes)).expect("memory takes every row");
    String::from_utf8_lossy(&writer.into_inner().expect("memory takes every row")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let fields = ["a", "b,c", "say \"hi\"", "two\nlines", ""].map(str::to_owned);
        assert_eq!(line(fields.into_iter()), "a,\"b,c\",\"say \"\"hi\"\"\",\"two\nlines\",\r\n");
    }
}
