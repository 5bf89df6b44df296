//! The messages between a coordinator and its agents: their number changes with the form of any of them.

use std::collections::BTreeMap;

use super::source::{Source, Token, closing, end_of_item, paths, sources, without};

/// A type by its crate and its name.
type Name = (String, String);

/// The definition of a type, and where other crates' types come from that it names.
struct Definition {
    tokens: Vec<Token>,
    crates: BTreeMap<String, String>,
}

/// The type that is defined at `at`, with the attributes before it; what a macro is given if that defines it. Attributes that
/// change no message are left out.
fn definition(source: &Source, at: usize) -> Vec<Token> {
    let code = &source.code;
    let find = |words: [&str; 3]| code.windows(3).position(|at| at.iter().zip(words).all(|(is, word)| is.text == word));
    let ends = |token: &Token| [";", "{", "}"].contains(&token.text.as_str());
    let begin = code[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    let is_of_code = |content: &[Token]| content.first().is_some_and(|token| token.text != "serde");
    let written = without(&code[begin..end_of_item(code, at)], is_of_code, |_, content| content.end + 1);
    let is_of_macro = written.iter().any(|token| token.text == "$");
    let name = code.windows(3).find(|at| at[0].text == "macro_rules").map_or("", |at| &at[2].text);
    let given = find([name, "!", "{"]).filter(|_| is_of_macro).map(|at| &code[at..closing(code, at + 2)]);
    let given = given.map(|given| without(given, is_of_code, |_, content| content.end + 1));
    written.into_iter().chain(given.into_iter().flatten()).collect()
}

/// The words that a file takes from other crates of ours, and from which.
fn crates_of(source: &Source) -> BTreeMap<String, String> {
    let code = &source.code;
    let begins_path = |at: &usize| code[*at].text.starts_with("tare_") && (*at == 0 || code[*at - 1].text != "::");
    let mut found = Vec::new();
    for at in (0..code.len()).filter(begins_path) {
        paths(code, at, &[], &mut found);
    }
    let of_crate = |path: Vec<String>| Some((path.last()?.clone(), path[0].trim_start_matches("tare_").to_owned()));
    found.into_iter().filter_map(of_crate).collect()
}

fn definitions() -> BTreeMap<Name, Definition> {
    let mut all = BTreeMap::new();
    for source in sources() {
        let crates = crates_of(source);
        for at in (0..source.code.len()).filter(|at| ["struct", "enum"].contains(&source.code[*at].text.as_str())) {
            let name = source.code[at + 1].text.clone();
            let definition = Definition { tokens: definition(source, at), crates: crates.clone() };
            all.insert((source.crate_name.clone(), name), definition);
        }
    }
    all
}

/// A number of four digits that the definitions of these types, and of all that they name, lead to.
fn number_of(types: &[&str]) -> u32 {
    let all = definitions();
    let mut reached: BTreeMap<Name, &Definition> = BTreeMap::new();
    let mut next: Vec<Name> = types.iter().map(|name| ("remote".to_owned(), (*name).to_owned())).collect();
    while let Some(name) = next.pop() {
        let Some(definition) = all.get(&name).filter(|_| !reached.contains_key(&name)) else { continue };
        next.extend(definition.tokens.iter().flat_map(|token| {
            let of_its_own = (name.0.clone(), token.text.clone());
            let of_others = match definition.crates.get(&token.text) {
                // One that another crate hands on is defined somewhere else.
                Some(other) if !all.contains_key(&(other.clone(), token.text.clone())) => {
                    all.keys().filter(|(_, word)| *word == token.text).cloned().collect()
                }
                other => other.map(|other| (other.clone(), token.text.clone())).into_iter().collect::<Vec<_>>(),
            };
            of_others.into_iter().chain([of_its_own])
        }));
        reached.insert(name, definition);
    }
    assert!(reached.len() > 50, "the messages have more types than these: {:?}", reached.keys());
    let bytes = reached.values().flat_map(|definition| &definition.tokens).flat_map(|token| token.text.bytes());
    // FNV-1a.
    bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) % 10_000
}

#[test]
fn agents_of_a_build_whose_messages_have_another_form_are_refused() {
    let message = sources().iter().find(|source| source.path.ends_with("remote/src/protocol/message.rs")).unwrap();
    let number = number_of(&["Order", "Report"]);
    let is_stated = !message.lines_with(&format!("PROTOCOL: u32 = {number};")).is_empty();
    assert!(is_stated, "the messages of agents have changed: write PROTOCOL: u32 = {number} in {:?}", message.path);
}
