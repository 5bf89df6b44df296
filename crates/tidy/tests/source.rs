//! The Rust files of the workspace as tokens. Comments are no tokens, and tests are taken out wherever they stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A word, a mark, a literal or a bracket of a file. `::` is one mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// A file of Rust.
#[derive(Debug)]
pub struct Source {
    /// The folder of its crate: `load`.
    pub crate_name: String,
    pub path: PathBuf,
    pub text: String,
    /// All of its tokens, tests included.
    pub tokens: Vec<Token>,
    /// Its tokens without those of tests. A file of tests alone has none.
    pub code: Vec<Token>,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files below a folder whose names have one of these endings.
pub fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules", "dist", ".git", ".tare"].contains(&name.as_str()) {
            found.extend(files(&path, endings));
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// All sources of the crates, read once.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let crates = root().join("crates");
        let mut sources: Vec<Source> =
            files(&crates, &[".rs"]).into_iter().map(|path| read_source(&crates, path)).collect();
        let tests: BTreeSet<PathBuf> = sources.iter().flat_map(|source| test_files(source, &source.tokens)).collect();
        for source in &mut sources {
            let is_test = !source.is_in_src() || tests.iter().any(|test| source.path.starts_with(test));
            source.code = if is_test { Vec::new() } else { without_tests(&source.tokens) };
        }
        sources
    })
}

fn read_source(crates: &Path, path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).unwrap();
    let crate_name = path.strip_prefix(crates).unwrap().iter().next().unwrap().to_string_lossy().into_owned();
    let tokens = tokens(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Source { crate_name, path, text, tokens, code: Vec::new() }
}

impl Source {
    /// Whether it is part of the crate itself, and not of its tests, examples or benches.
    pub fn is_in_src(&self) -> bool {
        self.inside_src().is_some()
    }

    /// The path below `src`.
    pub fn inside_src(&self) -> Option<&Path> {
        self.path.strip_prefix(root().join("crates").join(&self.crate_name).join("src")).ok()
    }

    /// Whether it is the root of a crate.
    pub fn is_root(&self) -> bool {
        self.inside_src().is_some_and(|inside| inside == Path::new("lib.rs") || inside == Path::new("main.rs"))
    }

    /// The modules that lead to it: `check` and `git` for `check/git.rs`. The root has none.
    pub fn module(&self) -> Vec<String> {
        let inside = self.inside_src().unwrap_or(Path::new("")).with_extension("");
        let parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
        parts.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect()
    }

    /// Where the files of its modules lie.
    fn folder_of_modules(&self) -> PathBuf {
        let is_folder = self.is_root() || self.path.ends_with("mod.rs");
        if is_folder { self.path.parent().unwrap().to_owned() } else { self.path.with_extension("") }
    }

    /// Where a token stands: file and line.
    pub fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.strip_prefix(root()).unwrap().display())
    }

    /// The lines of its code at which this sequence of tokens begins.
    pub fn lines_with(&self, sequence: &str) -> Vec<usize> {
        let wanted: Vec<String> = tokens(sequence).unwrap().into_iter().map(|token| token.text).collect();
        let is_found = |at: &[Token]| at.iter().map(|token| &token.text).eq(&wanted);
        self.code.windows(wanted.len()).filter(|at| is_found(at)).map(|at| at[0].line).collect()
    }

    /// The lines of its code with a path that has these words: `std::fs` is in `use std::{fs::File, io}`.
    pub fn lines_with_path(&self, words: &str) -> Vec<usize> {
        let words: Vec<&str> = words.split("::").collect();
        let begins = |at: &usize| *at == 0 || self.code[*at - 1].text != "::";
        let has_words = |at: &usize| {
            let mut found = Vec::new();
            if self.code[*at].text != "{" {
                paths(&self.code, *at, &[], &mut found);
            }
            found.iter().any(|path| path.windows(words.len()).any(|part| part == words))
        };
        (0..self.code.len()).filter(begins).filter(has_words).map(|at| self.code[at].line).collect()
    }
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Result<Vec<Token>, proc_macro2::LexError> {
    let mut flat = Vec::new();
    flatten(text.parse()?, &mut flat);
    // A comment that documents an item comes as its attribute.
    let is_document = |content: &[Token]| content.first().is_some_and(|token| token.text == "doc");
    Ok(without(&flat, is_document, |_, content| content.end + 1))
}

fn flatten(stream: TokenStream, flat: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        let mut push = |text: String, line| flat.push(Token { text, line });
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned(), line);
                flatten(group.stream(), flat);
                flat.push(Token { text: close.to_owned(), line: group.span_close().start().line });
            }
            TokenTree::Punct(first) if first.as_char() == ':' && first.spacing() == Spacing::Joint => {
                let second = trees.next();
                let is_path = matches!(&second, Some(TokenTree::Punct(second)) if second.as_char() == ':');
                assert!(is_path, "a colon joined to something else");
                push("::".to_owned(), line);
            }
            other => push(other.to_string(), line),
        }
    }
}

/// Where the bracket that opens at `at` closes.
pub fn closing(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth -= 1;
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// The attribute that begins at `at` (`#[…]` or `#![…]`): the range of its content.
fn attribute(tokens: &[Token], at: usize) -> Option<std::ops::Range<usize>> {
    let is = |index: usize, text: &str| tokens.get(index).is_some_and(|token| token.text == text);
    let open = at + 1 + usize::from(is(at + 1, "!"));
    (is(at, "#") && is(open, "[")).then(|| open + 1..closing(tokens, open))
}

/// Whether an attribute marks code that only tests have: `test`, `cfg(test)`, `cfg(any(test, …))`.
fn marks_test(content: &[Token]) -> bool {
    let has = |word: &str| content.iter().any(|token| token.text == word);
    match content.first().map(|token| token.text.as_str()) {
        Some("test") => content.len() == 1,
        Some("cfg") => has("test") && !has("not"),
        _ => false,
    }
}

/// The end of what begins at `at`, after its attributes: an item, a field, a statement.
pub fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    while let Some(content) = attribute(tokens, at) {
        at = content.end + 1;
    }
    const ITEMS: [&str; 8] = ["mod", "fn", "struct", "enum", "impl", "trait", "unsafe", "async"];
    const TO_SEMICOLON: [&str; 5] = ["use", "static", "type", "let", "extern"];
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    let mut first = at;
    while text(first) == "pub" {
        first = if text(first + 1) == "(" { closing(tokens, first + 1) + 1 } else { first + 1 };
    }
    let is_constant = text(first) == "const" && text(first + 1) != "fn";
    let to_semicolon = TO_SEMICOLON.contains(&text(first)) || is_constant;
    let is_item = ITEMS.contains(&text(first)) || text(first) == "const" && !is_constant;
    let mut index = first;
    while index < tokens.len() {
        match text(index) {
            ";" => return index + 1,
            "," if !is_item && !to_semicolon => return index + 1,
            "}" | ")" | "]" => return index,
            "{" if !to_semicolon => return closing(tokens, index) + 1,
            "{" | "(" | "[" => index = closing(tokens, index),
            _ => {}
        }
        index += 1;
    }
    index
}

/// Tokens without what only tests have.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    without(tokens, marks_test, |tokens, content| end_of_item(tokens, content.end + 1))
}

/// Tokens without the attributes that are chosen by their content, and without what follows up to `end`.
pub fn without(
    tokens: &[Token],
    is_chosen: fn(&[Token]) -> bool,
    end: fn(&[Token], std::ops::Range<usize>) -> usize,
) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match attribute(tokens, at) {
            Some(content) if is_chosen(&tokens[content.clone()]) => at = end(tokens, content),
            _ => {
                kept.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    kept
}

/// The files and folders of the modules that a file declares for tests alone.
fn test_files(source: &Source, tokens: &[Token]) -> Vec<PathBuf> {
    let folder = source.folder_of_modules();
    let marks = (0..tokens.len()).filter_map(|at| attribute(tokens, at)).filter(|a| marks_test(&tokens[a.clone()]));
    let declared = marks.filter_map(|content| {
        let (begin, end) = (content.end + 1, end_of_item(tokens, content.end + 1));
        let item = &tokens[begin..end];
        let at = item.iter().position(|token| token.text == "mod")?;
        (item.last()?.text == ";").then(|| item[at + 1].text.clone())
    });
    declared.flat_map(|name| [folder.join(format!("{name}.rs")), folder.join(name)]).collect()
}

/// The paths of a `use` or an expression from `at` on, each with its first words in `prefix`: nested braces are spread.
pub fn paths(tokens: &[Token], mut at: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    let mut path = prefix.to_vec();
    loop {
        if text(at) == "{" {
            let end = closing(tokens, at);
            at += 1;
            while at < end {
                at = paths(tokens, at, &path, found);
                while at < end && text(at) != "," {
                    at += 1;
                }
                at += 1;
            }
            return end + 1;
        }
        let is_word = text(at).starts_with(|c: char| c.is_alphabetic() || c == '_') || text(at) == "*";
        if !is_word {
            break;
        }
        path.push(text(at).to_owned());
        if text(at + 1) != "::" {
            at += 1;
            break;
        }
        at += 2;
    }
    found.push(path);
    at
}

#[test]
fn tests_are_no_code_wherever_they_stand() {
    let code = |text: &str| {
        let code: Vec<String> = without_tests(&tokens(text).unwrap()).into_iter().map(|token| token.text).collect();
        code.join(" ")
    };
    for (text, expected) in [
        ("#[cfg(test)]\nmod tests;\nuse a; // c\nfn f() {}", "use a ; fn f ( ) { }"),
        ("#[cfg(test)] mod tests { fn t() {} }\nfn f() {}", "fn f ( ) { }"),
        ("#[cfg(test)] use a::{b, c};\nfn f() {}", "fn f ( ) { }"),
        ("#[test] #[ignore] fn t<A, B>() {}\nfn f() {}", "fn f ( ) { }"),
        ("struct A { #[cfg(test)] b: u8, c: u8 }", "struct A { c : u8 }"),
        ("fn f() { #[cfg(test)] let a = { b }; c }", "fn f ( ) { c }"),
        ("#[cfg(test)] pub(crate) const fn f() {}\nmod a;", "mod a ;"),
        ("#[cfg(not(test))] fn f() {}", "# [ cfg ( not ( test ) ) ] fn f ( ) { }"),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn nested_uses_are_spread() {
    let of = |text: &str| {
        let mut found = Vec::new();
        paths(&tokens(text).unwrap(), 0, &["crate".to_owned()], &mut found);
        found.iter().map(|path| path.join("::")).collect::<Vec<_>>()
    };
    assert_eq!(of("{a, b::{self, c::D as E}, f::*};"), ["crate::a", "crate::b::self", "crate::b::c::D", "crate::f::*"]);
    assert_eq!(of("a::b::<C>()"), ["crate::a::b"]);
}
