//! The layout of the crates: their modules import one another in one direction, and no crate or folder is too wide to be
//! looked over.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::source::{Source, Token, paths, root, sources};

/// Crates whose modules still import one another in circles. Remove a row with its circles; add none.
const WITH_CIRCLES: [&str; 0] = [];

/// The most modules at the top of a crate.
const MOST_MODULES: usize = 20;

/// The most files of a folder.
const MOST_FILES: usize = 15;

/// A module at the top of a crate.
type Module = (String, String);

/// Which modules at the top of its crate each one names, and where.
type Imports = BTreeMap<Module, BTreeMap<String, String>>;

/// The names that the root of a crate takes from its modules, with the module: `crate::RunError` is one of `error`.
fn reexports(root: &[Token]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for at in (0..root.len()).filter(|at| root[*at].text == "use") {
        let mut found = Vec::new();
        paths(root, at + 1, &[], &mut found);
        let mut end = at;
        while root.get(end).is_some_and(|token| token.text != ";") {
            // A new name stands behind `as`.
            if root[end].text == "as" {
                names.insert(root[end + 1].text.clone(), found.first().map_or(String::new(), |path| path[0].clone()));
            }
            end += 1;
        }
        for path in found.iter().filter(|path| path.len() > 1) {
            names.insert(path[path.len() - 1].clone(), path[0].clone());
        }
    }
    names
}

/// The names below the root of the crate that code mentions, as `crate::NAME` or through `super`, each with its line.
/// `module` is where the code stands.
fn names_of_root(code: &[Token], module: &[String]) -> Vec<(String, usize)> {
    let text = |index: usize| code.get(index).map_or("", |token| token.text.as_str());
    let mut names = Vec::new();
    // The brackets that are open, and whether each holds a module within the file.
    let mut open: Vec<bool> = Vec::new();
    for at in 0..code.len() {
        match text(at) {
            "{" | "(" | "[" => open.push(at > 1 && text(at - 2) == "mod"),
            "}" | ")" | "]" => drop(open.pop()),
            "crate" if text(at + 1) == "::" => {
                let mut found = Vec::new();
                paths(code, at + 2, &[], &mut found);
                names.extend(found.into_iter().filter_map(|path| Some((path.into_iter().next()?, code[at].line))));
            }
            "super" if text(at + 1) == "::" && !(at > 1 && text(at - 1) == "::" && text(at - 2) == "super") => {
                let mut next = at;
                let mut depth = module.len() + open.iter().filter(|is_module| **is_module).count();
                while text(next) == "super" {
                    depth = depth.saturating_sub(1);
                    next += 2;
                }
                let mut found = Vec::new();
                paths(code, next, &[], &mut found);
                let of_root = found.into_iter().filter(|_| depth == 0);
                names.extend(of_root.filter_map(|path| Some((path.into_iter().next()?, code[at].line))));
            }
            _ => {}
        }
    }
    names
}

/// The imports of some files among the modules of their crates.
fn imports<'a>(sources: impl Iterator<Item = &'a Source> + Clone) -> Imports {
    let roots = sources.clone().filter(|source| source.is_root());
    let reexported: BTreeMap<&str, BTreeMap<String, String>> =
        roots.map(|source| (source.crate_name.as_str(), reexports(&source.code))).collect();
    let mut imports = Imports::new();
    for source in sources.filter(|source| source.is_in_src() && !source.is_root() && !source.code.is_empty()) {
        let module = source.module();
        let own = imports.entry((source.crate_name.clone(), module[0].clone())).or_default();
        for (name, line) in names_of_root(&source.code, &module) {
            let of_root = reexported.get(source.crate_name.as_str());
            let other = of_root.and_then(|names| names.get(&name)).cloned().unwrap_or(name);
            if other != module[0] {
                own.entry(other).or_insert_with(|| source.place(line));
            }
        }
    }
    imports
}

/// The modules that are reached from one by its imports.
fn reached(imports: &Imports, (crate_name, module): &Module) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![module.clone()];
    while let Some(next) = ahead.pop() {
        let others = imports.get(&(crate_name.clone(), next)).into_iter().flat_map(BTreeMap::keys);
        ahead.extend(others.filter(|other| reached.insert((*other).clone())).cloned());
    }
    reached
}

/// The imports that are part of a circle, with their crate.
fn circles(imports: &Imports) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    for ((crate_name, module), others) in imports {
        for (other, place) in others {
            if reached(imports, &(crate_name.clone(), other.clone())).contains(module) {
                wrong.push((
                    crate_name.clone(),
                    format!("{place}: {crate_name}::{module} imports {other}, which imports it"),
                ));
            }
        }
    }
    wrong
}

#[test]
fn modules_import_one_another_in_one_direction_only() {
    let circles = circles(&imports(sources().iter()));
    let is_known = |name: &String| WITH_CIRCLES.contains(&name.as_str());
    let wrong: Vec<String> =
        circles.iter().filter(|(name, _)| !is_known(name)).map(|(_, circle)| circle.clone()).collect();
    assert_none("import circles", &wrong);
    let mended = WITH_CIRCLES.iter().filter(|name| !circles.iter().any(|(found, _)| found == *name));
    assert_none(
        "crates without circles any more: remove them from WITH_CIRCLES",
        &mended.map(ToString::to_string).collect::<Vec<_>>(),
    );
}

/// Fails with each name whose number exceeds the limit.
fn assert_at_most(rule: &str, most: usize, found: &BTreeMap<String, usize>) {
    let too_many = found.iter().filter(|(_, number)| **number > most);
    let too_many: Vec<String> =
        too_many.map(|(name, number)| format!("{name} has {number}, and {most} are enough")).collect();
    assert_none(rule, &too_many);
}

#[test]
fn no_crate_has_more_modules_than_can_be_looked_over() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources().iter().filter(|source| source.is_root()) {
        let modules =
            source.code.windows(3).filter(|at| at[0].text == "mod" && [";", "{"].contains(&at[2].text.as_str()));
        *found.entry(source.crate_name.clone()).or_default() += modules.count();
    }
    assert_at_most("modules at the top of a crate", MOST_MODULES, &found);
}

#[test]
fn no_folder_has_more_files_than_can_be_looked_over() {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources() {
        let folder = source.path.parent().unwrap().strip_prefix(root()).unwrap();
        *found.entry(folder.display().to_string()).or_default() += 1;
    }
    assert_at_most("files of a folder", MOST_FILES, &found);
}

#[test]
fn an_import_is_seen_however_it_is_written() {
    let imported = |module: &[&str], text: &str| {
        let module: Vec<String> = module.iter().map(|part| (*part).to_owned()).collect();
        let names = names_of_root(&crate::source::tokens(text).unwrap(), &module);
        names.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    };
    for (module, text, expected) in [
        (&["run"][..], "use crate::{check, console::{a, b}, report};", "check console console report"),
        (&["run"], "use super::check;", "check"),
        (&["run", "rounds"], "use super::check;", ""),
        (&["run", "rounds"], "use super::super::{check, live};", "check live"),
        (&["run"], "mod inner { use super::check; use super::super::live; }", "live"),
        (&["run"], "fn f() { println!(\"{}\", crate::check::name()) }", "check"),
        (&["run"], "macro_rules! m { () => { $crate::check::f() } }", "check"),
        (&["run"], "// crate::check\nconst A: &str = \"crate::check\";", ""),
    ] {
        assert_eq!(imported(module, text), expected, "{text}");
    }
    let root = crate::source::tokens("pub use error::{RunError, a::B}; use plan::Plan as P; mod error;").unwrap();
    let names = reexports(&root);
    assert_eq!(["RunError", "B", "P"].map(|name| names[name].as_str()), ["error", "error", "plan"]);
}
