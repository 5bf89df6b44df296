//! The vocabulary: docs/GLOSSARY.md against the names in the code, and one type per name within a crate.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::assert_none;
use crate::source::{self, files, root};

/// Words of earlier versions that no type or module may be named after, with the word to use.
const REPLACED: [(&str, &str); 10] = [
    ("yard", "context"),
    ("scene", "inputs"),
    ("course", "progress"),
    ("heading", "key"),
    ("credulous", "accept any"),
    ("reckoning", "clock model"),
    ("clues", "clock samples"),
    ("laid", "inner"),
    ("speech", "protocol state"),
    ("keeping", "slo"),
];

/// Crates where a type or module still has such a name. Remove a row with the name; add none.
const STILL_NAMED: [(&str, &str); 1] = [("record", "keeping")];

/// Terms of the glossary that documents use and that name nothing in the code.
const OF_DOCUMENTS: [&str; 2] = ["in flight", "interval of a load"];

/// The sources of each crate: name of its folder, file, text without comments.
fn sources() -> impl Iterator<Item = (&'static str, &'static Path, String)> {
    let in_src = source::sources().iter().filter(|source| source.is_in_src());
    in_src.map(|source| {
        let lines = source.text.lines().filter(|line| !line.trim_start().starts_with("//"));
        (source.crate_name.as_str(), source.path.as_path(), lines.collect::<Vec<_>>().join("\n"))
    })
}

/// The type or module that a line at the left margin defines: keyword and name.
fn definition(line: &str) -> Option<(&str, &str)> {
    let visible = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    let (keyword, rest) = visible.split_once(' ')?;
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (["struct", "enum", "trait", "type", "mod"].contains(&keyword) && !name.is_empty()).then_some((keyword, name))
}

/// The words of a text in small letters: `ServerClock`, `server_clock` and "server clock" are `server` and `clock`.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let starts_word = c.is_uppercase() && !before.is_uppercase();
        if (starts_word || !c.is_alphanumeric()) && !words.last().unwrap().is_empty() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The terms that the glossary defines: the words in bold at the beginning of its rows.
fn terms(glossary: &str) -> Vec<&str> {
    let heads = glossary.lines().filter(|line| line.starts_with("| **")).filter_map(|line| line.split('|').nth(1));
    heads.flat_map(|head| head.split("**").skip(1).step_by(2)).collect()
}

#[test]
fn every_term_of_the_glossary_is_used_in_the_code() {
    let glossary = fs::read_to_string(root().join("docs/GLOSSARY.md")).unwrap();
    let page = files(&root().join("web/src"), &[".ts"]).into_iter().map(|path| fs::read_to_string(path).unwrap());
    let code = sources().map(|(_, _, text)| text).chain(page);
    let code: String = code.map(|text| format!(" {} ", words(&text).join(" "))).collect();
    let is_used = |term: &str| {
        let term = words(term).join(" ");
        [format!(" {term} "), format!(" {term}s ")].iter().any(|form| code.contains(form))
    };
    let terms = terms(&glossary);
    assert!(terms.len() > 80, "the table of the glossary has another form: {} terms were found", terms.len());
    let unused = terms.iter().filter(|term| !OF_DOCUMENTS.contains(*term) && !is_used(term));
    assert_none(
        "terms of docs/GLOSSARY.md that the code does not use",
        &unused.map(ToString::to_string).collect::<Vec<_>>(),
    );
    let mut seen = BTreeSet::new();
    let twice: Vec<String> = terms.iter().filter(|term| !seen.insert(**term)).map(ToString::to_string).collect();
    assert_none("terms that docs/GLOSSARY.md defines twice", &twice);
}

#[test]
fn no_name_holds_a_word_that_has_been_replaced() {
    let mut wrong = Vec::new();
    for (crate_name, path, text) in sources() {
        let replaced = REPLACED.iter().filter(|(word, _)| !STILL_NAMED.contains(&(crate_name, word)));
        for (word, instead) in replaced {
            let holds_word = |name: &str| words(name).iter().any(|part| part == word);
            let found = text.lines().filter_map(definition).filter(|(_, name)| holds_word(name));
            wrong.extend(found.map(|(keyword, name)| format!("{}: {keyword} {name}: write {instead}", path.display())));
        }
    }
    assert_none("words that have been replaced", &wrong);
}

#[test]
fn no_crate_defines_two_types_of_one_name() {
    let mut places: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for (name, path, text) in sources() {
        for (_, defined) in text.lines().filter_map(definition).filter(|(keyword, _)| *keyword != "mod") {
            places.entry((name, defined.to_owned())).or_default().push(path.display().to_string());
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    let wrong: Vec<String> = twice.map(|((_, defined), places)| format!("{defined}: {}", places.join(", "))).collect();
    assert_none("types of one name within one crate", &wrong);
}
