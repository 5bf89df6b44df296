//! A grid of painted text, aligned by how wide it is on the screen.

use unicode_width::UnicodeWidthStr;

use crate::clean::sanitize_line;
use crate::palette::Tone;

pub type Piece = (Tone, String);

/// How many columns of the terminal a text takes.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

#[derive(Clone)]
enum GridRow {
    Pieces(Vec<Piece>),
    /// Stands over all columns, and widens none.
    Heading(String),
}

/// Rows of equal length, two spaces between columns, nothing after the last.
#[derive(Default, Clone)]
pub struct Grid {
    rows: Vec<GridRow>,
}

impl Grid {
    /// Adds a row; what others wrote is made harmless here.
    pub fn push(&mut self, row: Vec<Piece>) {
        let row = row.into_iter().map(|(tone, text)| (tone, sanitize_line(&text)));
        self.rows.push(GridRow::Pieces(row.collect()));
    }

    pub fn push_in(&mut self, tone: Tone, row: impl IntoIterator<Item = impl Into<String>>) {
        self.push(row.into_iter().map(|text| (tone, text.into())).collect());
    }

    /// Adds a heading, which the caller has wrapped and painted.
    pub fn push_heading(&mut self, heading: String) {
        self.rows.push(GridRow::Heading(heading));
    }

    /// How wide the widest row is, apart from headings.
    pub fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }

    pub fn render(&self, colored: bool) -> String {
        let widths = self.widths();
        let line = |pieces: &Vec<Piece>| {
            let mut line = String::new();
            let mut missing = 0;
            for ((tone, text), column) in pieces.iter().zip(&widths) {
                line.push_str(&" ".repeat(missing));
                line.push_str(&tone.paint(colored, text));
                missing = column - width(text) + 2;
            }
            line.trim_end().to_owned() + "\n"
        };
        let row = |row: &GridRow| match row {
            GridRow::Pieces(pieces) => line(pieces),
            GridRow::Heading(heading) => format!("{heading}\n"),
        };
        self.rows.iter().map(row).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let pieces = |row: &GridRow| match row {
            GridRow::Pieces(pieces) => pieces.iter().map(|(_, text)| width(text)).collect(),
            GridRow::Heading(_) => Vec::new(),
        };
        let mut widest: Vec<usize> = Vec::new();
        for row in self.rows.iter().map(pieces) {
            widest.resize(widest.len().max(row.len()), 0);
            widest.iter_mut().zip(row).for_each(|(most, width)| *most = width.max(*most));
        }
        widest
    }
}

/// `text` broken at spaces into lines of at most `room`, each but the first indented by `indent`.
pub fn wrap(text: &str, room: usize, indent: usize) -> String {
    let words = text.trim_start_matches(' ');
    let lead = &text[..text.len() - words.len()];
    let mut words = pieces(words).into_iter();
    let mut lines = vec![format!("{lead}{}", words.next().unwrap_or_default())];
    for word in words {
        match lines.last_mut().filter(|line| width(line) + 1 + width(word) <= room) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(" ".repeat(indent) + word),
        }
    }
    lines.join("\n")
}

/// What stands behind a number and stays on its line.
const UNITS: [&str; 11] = ["%", "ns", "µs", "ms", "s", "min", "/s", "k/s", "B", "KB", "MB"];

/// The pieces of a text between which a line may end: at its spaces, but for those inside a figure.
fn pieces(text: &str) -> Vec<&str> {
    let is_unit = |rest: &str| {
        let mut behind = UNITS.iter().filter_map(|unit| rest.strip_prefix(unit));
        behind.any(|behind| !behind.starts_with(char::is_alphanumeric))
    };
    let is_inside = |at: usize| text[..at].ends_with(|c: char| c.is_ascii_digit()) && is_unit(&text[at + 1..]);
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(' ').filter(|(at, _)| !is_inside(*at)) {
        pieces.push(&text[from..at]);
        from = at + 1;
    }
    pieces.push(&text[from..]);
    pieces
}

/// `text` on one line of at most `room`: cut after a whole clause where there is one, else after a word, else in the middle.
pub(super) fn shorten(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let fits = |end: &usize| width(&text[..*end]) + 2 <= room;
    let ends = |mark: &str| text.match_indices(mark).map(|(at, _)| at).filter(fits).last();
    match ends("; ").or_else(|| ends(" ")) {
        Some(end) => format!("{} …", text[..end].trim_end()),
        None => cut_middle(text, room),
    }
}

/// A name of at most `most` letters. Of a longer one the start and the end, which tell it from others.
pub(crate) fn cut_middle(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let tail = (most - 1) / 3;
    let (head, tail) = (&letters[..most - 1 - tail], &letters[letters.len() - tail..]);
    format!("{}…{}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_width_on_the_screen() {
        let mut grid = Grid::default();
        grid.push(vec![(Tone::Plain, "µs".into()), (Tone::Plain, "x".into())]);
        grid.push(vec![(Tone::Plain, "日本".into()), (Tone::Plain, "y".into())]);
        assert_eq!(grid.render(false), "µs    x\n日本  y\n");
        assert_eq!(grid.width(), 7);
    }

    #[test]
    fn a_heading_widens_no_column() {
        let mut grid = Grid::default();
        grid.push_heading("a long heading".to_owned());
        grid.push(vec![(Tone::Plain, "x".into()), (Tone::Plain, "y".into())]);
        assert_eq!(grid.render(false), "a long heading\nx  y\n");
        assert_eq!(grid.width(), 4);
    }

    #[test]
    fn a_note_is_cut_after_a_clause_or_a_word() {
        assert_eq!(shorten("one; two; three", 12), "one; two …");
        assert_eq!(shorten("one two three", 10), "one two …");
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(shorten("sttp.Interpreter.apply", 12), "sttp.Int…ply", "a name has no place to cut after");
    }

    #[test]
    fn long_text_is_broken_at_spaces() {
        assert_eq!(wrap("aa bb cc dd", 6, 2), "aa bb\n  cc\n  dd");
        assert_eq!(wrap("  aa bb", 80, 4), "  aa bb");
        assert_eq!(wrap("unbreakable", 4, 2), "unbreakable");
        assert_eq!(wrap("uses 18 % more", 8, 0), "uses\n18 %\nmore");
        assert_eq!(wrap("by 7.61 ms, 3 starts", 9, 0), "by\n7.61 ms,\n3 starts");
        assert_eq!(wrap("takes 2 MB/s", 7, 0), "takes\n2 MB/s");
    }
}
