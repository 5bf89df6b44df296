//! Collapsed stacks, the format that every tool for flame graphs reads: `root;…;leaf weight`, one per line.

use std::fmt::Write;

use crate::error::ProfileError;
use crate::frame::Frame;
use crate::stacks::Stacks;

/// Length of a wrong line in an error.
const SHOWN: usize = 60;

/// Parses collapsed stacks. Blank lines and stacks of weight 0 are skipped.
pub fn parse_collapsed(text: &str) -> Result<Stacks, ProfileError> {
    let mut stacks = Stacks::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        let wrong = || ProfileError::Line { line: index + 1, start: line.chars().take(SHOWN).collect() };
        let (names, weight) = line.rsplit_once(' ').ok_or_else(wrong)?;
        let weight: u64 = weight.parse().map_err(|_| wrong())?;
        if names.is_empty() {
            return Err(wrong());
        }
        if weight > 0 {
            let frames = names.split(';').map(|name| stacks.intern_frame(Frame::parse(name))).collect();
            stacks.push_stack(frames, weight);
        }
    }
    Ok(stacks)
}

/// Writes collapsed stacks, with the marks for the kinds of frames.
pub fn write_collapsed(stacks: &Stacks) -> String {
    let names: Vec<String> = stacks.frames().iter().map(Frame::with_mark).collect();
    let mut text = String::new();
    for stack in stacks.iter() {
        let frames: Vec<&str> = stack.frames.iter().map(|&id| names[id as usize].as_str()).collect();
        let _ = writeln!(text, "{} {}", frames.join(";"), stack.weight);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_stack_is_refused_with_its_line() {
        for (text, line) in [("a;b 1\nb", 2), ("a;b x", 1), (" 4", 1), ("a -1", 1), ("\n\n\u{1}", 3)] {
            let error = parse_collapsed(text).unwrap_err();
            assert!(matches!(error, ProfileError::Line { line: found, .. } if found == line), "{text:?}: {error}");
        }
    }

    #[test]
    fn names_may_hold_spaces_and_weights_may_be_large() {
        let stacks = parse_collapsed("a b;c (d) 18446744073709551\nx 0\n").unwrap();
        assert_eq!((stacks.iter().count(), stacks.frame(0).name.as_str()), (1, "a b"));
    }

    proptest! {
        #[test]
        fn writing_and_reading_give_the_same_stacks(
            lines in proptest::collection::vec(
                (proptest::collection::vec("[a-zA-Z.$<>]{1,8}(_\\[[jikc0]\\])?", 1..6), 1_u64..1_000_000), 0..20)
        ) {
            let text: String = lines.iter().map(|(names, weight)| format!("{} {weight}\n", names.join(";"))).collect();
            prop_assert_eq!(write_collapsed(&parse_collapsed(&text).unwrap()), text);
        }

        #[test]
        fn any_text_whatever_is_read_or_refused(text in "\\PC*") {
            let _ = parse_collapsed(&text);
        }
    }
}
