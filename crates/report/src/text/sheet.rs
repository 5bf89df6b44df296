//! A table that is declared once, and has a form for the terminal here and one for Markdown in `markdown`.

use super::Style;
use super::grid::{Grid, Piece};
use crate::palette::Tone;

pub(crate) struct Sheet {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Piece>>,
    /// How many columns say what a row is about: in a terminal a heading over the rows that share it.
    places: usize,
}

impl Sheet {
    pub fn new(
        title: &str,
        columns: impl IntoIterator<Item = impl Into<String>>,
        rows: impl IntoIterator<Item = Vec<Piece>>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { title: title.to_owned(), columns, rows: rows.into_iter().collect(), places: 0 }
    }

    pub fn by_place(self, places: usize) -> Self {
        Self { places, ..self }
    }

    pub fn plain(cells: impl IntoIterator<Item = String>) -> Vec<Piece> {
        cells.into_iter().map(|cell| (Tone::Plain, cell)).collect()
    }

    /// For a terminal; nothing without rows.
    pub fn text(&self, style: &Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let heading = |text: &str| style.heading(&format!("  {text}"));
        let mut grid = Grid::default();
        if !self.title.is_empty() {
            grid.push_heading(format!("\n{}", heading(&self.title)));
        }
        let indent = if self.title.is_empty() && self.places == 0 { "" } else { "  " };
        let indented =
            |cells: &[Piece]| [(Tone::Plain, indent.to_owned())].into_iter().chain(cells.iter().cloned()).collect();
        let names = self.columns[self.places..].iter().map(|name| (Tone::Quiet, name.clone()));
        grid.push(indented(&names.collect::<Vec<_>>()));
        let mut place: &[Piece] = &[];
        for row in &self.rows {
            let (here, cells) = row.split_at(self.places);
            if here != place {
                let names: Vec<&str> = here.iter().map(|(_, name)| name.as_str()).collect();
                grid.push_heading(format!("\n{}", heading(&names.join(" · "))));
                place = here;
            }
            grid.push(indented(cells));
        }
        grid.render(style.colored)
    }
}
