//! What is proved is what runs: every public function of `stats` has a caller outside tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::source::{Source, Token, closing, paths, sources, tokens};

/// Methods of the standard library that types of ours have too: a call of one says nothing of whose it is.
const OF_STD: [&str; 24] = [
    "abs", "bytes", "chars", "clear", "contains", "exp", "extend", "first", "get", "insert", "is_empty", "iter",
    "last", "len", "ln", "max", "min", "next", "pop", "push", "remove", "sqrt", "sum", "take",
];

/// A function as it is defined.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Function {
    /// The type whose `impl` has it; none for a free function.
    of_type: Option<String>,
    name: String,
    takes_self: bool,
    is_public: bool,
    line: usize,
}

/// The functions that code defines. Those of traits are called through the trait.
fn functions(code: &[Token]) -> Vec<Function> {
    let text = |index: usize| code.get(index).map_or("", |token| token.text.as_str());
    let impls = impls(code);
    let named = (0..code.len()).filter(|at| text(*at) == "fn" && text(at + 1) != "(");
    let function = |at: usize| {
        let of_type = impls.iter().find(|(range, _)| range.contains(&at)).map(|(_, name)| name.clone());
        let open = (at..code.len()).find(|index| text(*index) == "(")?;
        let receiver = code[open..closing(code, open)].iter().take_while(|token| token.text != ",");
        let takes_self = receiver.into_iter().any(|token| token.text == "self");
        let is_public = (at.saturating_sub(2)..at).any(|index| text(index) == "pub") && text(at - 1) != ")";
        let name = text(at + 1).to_owned();
        Some(Function { of_type, name, takes_self, is_public, line: code[at].line })
    };
    named.filter_map(function).collect()
}

/// The blocks of `impl`, with their types.
fn impls(code: &[Token]) -> Vec<(std::ops::Range<usize>, String)> {
    let text = |index: usize| code.get(index).map_or("", |token| token.text.as_str());
    let begins_item = |at: usize| at == 0 || ["}", ";", "]"].contains(&text(at - 1));
    let blocks = (0..code.len()).filter(|at| text(*at) == "impl" && begins_item(*at));
    let block = |at: usize| {
        let open = (at..code.len()).find(|index| text(*index) == "{")?;
        let mut depth = 0_i32;
        let mut name = None;
        for token in &code[at + 1..open] {
            match token.text.as_str() {
                "<" => depth += 1,
                ">" => depth -= 1,
                // What stood before is the trait.
                "for" if depth == 0 => name = None,
                "where" => break,
                word if depth == 0 && word.starts_with(char::is_alphabetic) => name = Some(word.to_owned()),
                _ => {}
            }
        }
        Some((open..closing(code, open), name?))
    };
    blocks.filter_map(block).collect()
}

/// What the code of a file calls.
#[derive(Debug, Default)]
struct Calls {
    /// `Type::name`, with `Self` replaced by the type.
    of_types: BTreeSet<(String, String)>,
    /// `.name(`.
    methods: BTreeSet<String>,
    /// `name` or `module::name` that this file defines or imports, or whose path it writes.
    free: BTreeSet<String>,
    /// All words.
    words: BTreeSet<String>,
}

fn calls(code: &[Token]) -> Calls {
    let text = |index: usize| code.get(index).map_or("", |token| token.text.as_str());
    let (impls, mut calls) = (impls(code), Calls::default());
    let mut known: BTreeSet<String> = functions(code).into_iter().map(|function| function.name).collect();
    let mut imported = BTreeSet::new();
    let mut at = 0;
    while at < code.len() {
        if text(at) == "use" {
            let mut found = Vec::new();
            paths(code, at + 1, &[], &mut found);
            imported.extend(found.iter().filter_map(|path| path.last().cloned()));
            while at < code.len() && text(at) != ";" {
                at += 1;
            }
        }
        let word = text(at);
        let is_word = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let before = if at == 0 { "" } else { text(at - 1) };
        if is_word {
            calls.words.insert(word.to_owned());
            match before {
                "." if text(at + 1) == "(" || text(at + 1) == "::" => drop(calls.methods.insert(word.to_owned())),
                "::" => {
                    let owner = owner_of(code, at - 1);
                    let own = impls.iter().find(|(range, _)| range.contains(&at)).map(|(_, name)| name.clone());
                    let owner = if owner == "Self" { own.unwrap_or(owner) } else { owner };
                    if owner.starts_with(char::is_lowercase) {
                        calls.free.insert(word.to_owned());
                    } else {
                        calls.of_types.insert((owner, word.to_owned()));
                    }
                }
                "fn" | "." => {}
                _ if text(at + 1) != ":" => drop(calls.free.insert(format!("?{word}"))),
                _ => {}
            }
        }
        at += 1;
    }
    known.extend(imported.iter().cloned());
    // A word alone is a call only where the file knows the function.
    let unqualified: Vec<String> = calls
        .free
        .iter()
        .filter_map(|word| word.strip_prefix('?'))
        .filter(|word| known.contains(*word))
        .map(str::to_owned)
        .collect();
    calls.free.extend(unqualified);
    calls.words.extend(imported);
    calls
}

/// The word before `::` at `at`, generics left out: `Type` of `Type::<A>::new`.
fn owner_of(code: &[Token], at: usize) -> String {
    let (mut index, mut depth) = (at, 0_i32);
    while index > 0 {
        index -= 1;
        match code[index].text.as_str() {
            ">" => depth += 1,
            "<" => depth -= 1,
            "::" => {}
            word if depth == 0 => return word.to_owned(),
            _ => {}
        }
    }
    String::new()
}

/// Functions that serde calls, by the module that `#[serde(with = "…")]` names.
const OF_SERDE: [&str; 2] = ["serialize", "deserialize"];

/// Whether one of these files calls a function of `stats`.
fn is_called(function: &Function, shared: &BTreeSet<String>, calls: &[Calls]) -> bool {
    let Some(of_type) = &function.of_type else { return calls.iter().any(|file| file.free.contains(&function.name)) };
    let by_type = (of_type.clone(), function.name.clone());
    // Other types have a method of that name: a file that calls it must know this type.
    let is_shared = shared.contains(&function.name) || OF_STD.contains(&function.name.as_str());
    let by_value = |file: &Calls| {
        function.takes_self && file.methods.contains(&function.name) && (!is_shared || file.words.contains(of_type))
    };
    calls.iter().any(|file| file.of_types.contains(&by_type) || by_value(file))
}

/// The names of methods that more than one type of ours has.
fn shared_names<'a>(sources: impl Iterator<Item = &'a Source>) -> BTreeSet<String> {
    let mut owners: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    let methods = sources.flat_map(|source| functions(&source.code)).filter(|function| function.takes_self);
    for function in methods {
        owners.entry(function.name).or_default().insert(function.of_type);
    }
    owners.into_iter().filter(|(_, types)| types.len() > 1).map(|(name, _)| name).collect()
}

#[test]
fn every_public_function_of_stats_has_a_caller() {
    let calls: Vec<Calls> = sources().iter().map(|source| calls(&source.code)).collect();
    let shared = shared_names(sources().iter());
    let of_stats = sources().iter().filter(|source| source.crate_name == "stats");
    let public =
        of_stats.flat_map(|source| functions(&source.code).into_iter().map(move |function| (source, function)));
    let unused = public.filter(|(_, function)| {
        let is_of_serde = function.of_type.is_none() && OF_SERDE.contains(&function.name.as_str());
        function.is_public && !is_of_serde && !is_called(function, &shared, &calls)
    });
    let wrong: Vec<String> = unused
        .map(|(source, function)| {
            let of_type = function.of_type.map_or(String::new(), |name| format!("{name}::"));
            format!("{}: {of_type}{}", source.place(function.line), function.name)
        })
        .collect();
    assert_none("public functions of stats that nothing but tests and benches calls", &wrong);
}

#[test]
fn a_call_is_told_from_an_equal_name() {
    let definitions = "pub struct Fit; impl Fit { pub fn new() {} pub fn mean(&self) {} }
        pub struct Sum; impl Sum { pub fn mean(self) {} pub(crate) fn hidden() {} } pub const fn power() {}";
    let definitions = tokens(definitions).unwrap();
    let all = functions(&definitions);
    let shared = BTreeSet::from(["mean".to_owned()]);
    let called = |caller: &str| {
        let calls = [calls(&tokens(caller).unwrap())];
        let public = all.iter().filter(|function| function.is_public && is_called(function, &shared, &calls));
        public.map(|f| format!("{}{}", f.of_type.clone().unwrap_or_default(), f.name)).collect::<Vec<_>>().join(" ")
    };
    for (caller, expected) in [
        ("fn f() { Other::new(); new(); }", ""),
        ("fn f() { stats::Fit::new() }", "Fitnew"),
        ("impl Fit { fn f() { Self::new() } }", "Fitnew"),
        ("fn f() { other.mean() }", ""),
        ("use stats::Fit; fn f(fit: &Fit) { fit.mean() }", "Fitmean"),
        ("fn f(power: f64) { g(power) }", ""),
        ("use stats::power; fn f() { g(power) }", "power"),
        ("use stats::{a, power};", ""),
        ("fn f() { stats::power() }", "power"),
    ] {
        assert_eq!(called(caller), expected, "{caller}");
    }
}
