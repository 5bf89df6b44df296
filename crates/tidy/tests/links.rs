//! The documents: every link leads somewhere, every page of the site is in its table of contents, and lines are short.

use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{files, root};

/// The documents in Markdown, but for a book that is made of them.
fn documents() -> Vec<PathBuf> {
    let documents = files(&root(), &[".md"]).into_iter();
    documents.filter(|path| !path.starts_with(root().join("docs/site/book"))).collect()
}

/// The lines of a document outside its code blocks, without code in backticks.
fn prose(text: &str) -> String {
    let mut in_code = false;
    let outside = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    };
    let text = text.lines().filter(outside).collect::<Vec<_>>().join("\n");
    text.split('`').step_by(2).collect()
}

/// The targets of `[text](target)`.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next())
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_anchor(file: &Path, wanted: &str) -> bool {
    let text = fs::read_to_string(file).unwrap();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches('#')) == wanted)
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut dead = Vec::new();
    for document in documents() {
        let text = prose(&fs::read_to_string(&document).unwrap());
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, wanted) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { document.clone() } else { document.parent().unwrap().join(path) };
            let is_alive = target.exists()
                && (wanted.is_empty() || target.extension().is_none_or(|e| e != "md") || has_anchor(&target, wanted));
            if !is_alive {
                dead.push(format!("{}: {link}", document.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n  {}", dead.join("\n  "));
}

#[test]
fn every_page_of_the_site_is_in_its_contents() {
    let pages = root().join("docs/site/src");
    let contents = fs::read_to_string(pages.join("SUMMARY.md")).unwrap();
    for page in files(&pages, &[".md"]) {
        let name = page.strip_prefix(&pages).unwrap().to_string_lossy().into_owned();
        assert!(name == "SUMMARY.md" || contents.contains(&format!("({name})")), "{name} is not in SUMMARY.md");
    }
}

/// Columns of a line of prose. Tables, code, pictures and what has no blank may be wider.
const COLUMNS: usize = 120;
/// Lines of METHOD.md: it has rules. What was measured on which day has pages of its own in docs/notebook.
const METHOD_LINES: usize = 350;

/// Lines of prose that are too wide, by number from 1.
fn wide_lines(text: &str) -> Vec<usize> {
    let mut in_code = false;
    let mut is_wide = |line: &str| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        let is_prose = !in_code && !is_fence && !line.starts_with(['|', '!', '#', '<']) && !line.starts_with("    ");
        is_prose && line.chars().count() > COLUMNS && line.trim().contains(' ')
    };
    text.lines().enumerate().filter_map(|(index, line)| is_wide(line).then_some(index + 1)).collect()
}

#[test]
fn lines_of_prose_are_short() {
    let mut wide = Vec::new();
    for document in documents() {
        for number in wide_lines(&fs::read_to_string(&document).unwrap()) {
            wide.push(format!("{}:{number}", document.strip_prefix(root()).unwrap().display()));
        }
    }
    assert!(wide.is_empty(), "lines of more than {COLUMNS} columns:\n  {}", wide.join("\n  "));
}

#[test]
fn method_has_rules_and_no_diary() {
    let text = fs::read_to_string(root().join("docs/METHOD.md")).unwrap();
    let lines = text.lines().count();
    assert!(lines <= METHOD_LINES, "METHOD.md has {lines} lines: move what was measured to docs/notebook");
    let is_of_a_day = |line: &&str| line.split_once('-').is_some_and(|(year, _)| year.parse::<u16>().is_ok());
    assert_eq!(text.lines().find(is_of_a_day), None, "a paragraph of METHOD.md begins with a date");
}

#[test]
fn wide_lines_are_found_outside_tables_and_code() {
    let wide = "word ".repeat(30);
    assert_eq!(wide_lines(&format!("{wide}\n| {wide}\n```\n{wide}\n```\n- {wide}\n{}", "x".repeat(200))), [1, 6]);
}

#[test]
fn links_and_anchors_are_found_as_readers_see_them() {
    let prose = prose("[a](b.md#c) and `[no](link)`\n```\n[no](link)\n```\n[d](e)");
    assert_eq!(links(&prose).collect::<Vec<_>>(), ["b.md#c", "e"]);
    assert_eq!(anchor(" Why is it *inconclusive*?"), "why-is-it-inconclusive");
}
