//! Flame graphs as drawings for a browser.

use inferno::flamegraph::{self, Options, color};

use super::Unit;
use crate::collapsed;
use crate::error::ProfileError;
use crate::stacks::Stacks;

pub fn draw_flame_graph(stacks: &Stacks, title: &str, unit: Unit) -> Result<Vec<u8>, ProfileError> {
    let mut options = options(title, unit);
    options.colors = color::Palette::Multi(color::MultiPalette::Java);
    draw(&mut options, &collapsed::write_collapsed(stacks))
}

/// The difference between two profiles, with more (orange) and less (blue) in `after` than in `before`. It is as wide
/// as `after`; `before` is scaled to the same total.
pub fn draw_difference(before: &Stacks, after: &Stacks, title: &str, unit: Unit) -> Result<Vec<u8>, ProfileError> {
    let mut merged = Vec::new();
    let options = inferno::differential::Options { normalize: true, ..Default::default() };
    let (before, after) = (collapsed::write_collapsed(before), collapsed::write_collapsed(after));
    inferno::differential::from_readers(options, before.as_bytes(), after.as_bytes(), &mut merged)
        .map_err(|error| ProfileError::Drawing(error.to_string()))?;
    draw(&mut self::options(title, unit), &String::from_utf8_lossy(&merged))
}

fn options(title: &str, unit: Unit) -> Options<'static> {
    let mut options = Options::default();
    options.title = title.to_owned();
    options.count_name = match unit {
        Unit::Samples => "samples",
        Unit::Nanoseconds => "ns",
        Unit::Bytes => "bytes",
    }
    .to_owned();
    options.min_width = 0.05;
    options
}

fn draw(options: &mut Options<'_>, text: &str) -> Result<Vec<u8>, ProfileError> {
    if text.is_empty() {
        return Err(ProfileError::Empty);
    }
    let mut drawing = Vec::new();
    flamegraph::from_lines(options, text.lines(), &mut drawing)
        .map_err(|error| ProfileError::Drawing(error.to_string()))?;
    Ok(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;

    #[test]
    fn a_name_is_text_in_the_drawing_and_never_markup() {
        let stacks = parse_collapsed("a;<script>alert(1)</script> 5\n").unwrap();
        let drawn = String::from_utf8(draw_flame_graph(&stacks, "t", Unit::Samples).unwrap()).unwrap();
        assert!(drawn.contains("&lt;script&gt;alert") && drawn.starts_with("<?xml"));
    }

    #[test]
    fn both_sides_of_a_difference_are_drawn() {
        let (before, after) = (parse_collapsed("a;b 5\n").unwrap(), parse_collapsed("a;c 5\n").unwrap());
        let drawn = String::from_utf8(draw_difference(&before, &after, "t", Unit::Samples).unwrap()).unwrap();
        assert!(drawn.contains(">c") || drawn.contains("c ("));
        assert!(matches!(draw_flame_graph(&Stacks::default(), "t", Unit::Samples), Err(ProfileError::Empty)));
    }
}
