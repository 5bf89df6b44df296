//! The classes of a JVM that a difference of git touches.

use std::collections::BTreeSet;
use std::path::Path;

const SOURCES: [&str; 3] = ["scala", "java", "kt"];
/// What no server runs.
const TEXTS: [&str; 3] = ["md", "txt", "adoc"];
/// Words before the name of a class.
const DECLARE: [&str; 7] = ["class", "object", "trait", "interface", "enum", "record", "given"];

/// The classes in a difference that shows whole files; `None` if files of another kind differ, or a new one is a
/// source: what those change is in other classes.
pub(super) fn classes_of_difference(difference: &str, new_files: &str) -> Option<BTreeSet<String>> {
    let mut classes = BTreeSet::new();
    let mut is_source = false;
    // A path in quotes has characters that git escapes, such as letters beyond ASCII.
    let untold = ["Binary files ", "--- \"", "+++ \"", "rename from \"", "rename to \""];
    for line in difference.lines() {
        if untold.iter().any(|start| line.starts_with(start)) {
            return None;
        }
        let path = ["--- a/", "+++ b/", "rename from ", "rename to "].iter().find_map(|start| line.strip_prefix(start));
        let Some(path) = path.map(Path::new) else {
            classes.extend(declared_class(line).filter(|_| is_source));
            continue;
        };
        is_source = ends_in(path, &SOURCES);
        if !is_source && !ends_in(path, &TEXTS) {
            return None;
        }
        // Functions outside of a class are in one that is named after the file.
        let stem = path.file_stem().map(|stem| stem.to_string_lossy()).filter(|_| is_source);
        let ending = if ends_in(path, &["kt"]) { "Kt" } else { "" };
        classes.extend(stem.map(|stem| format!("{stem}{ending}")));
    }
    let is_told = !new_files.lines().any(|path| path.starts_with('"') || ends_in(Path::new(path), &SOURCES));
    (is_told && !classes.is_empty()).then_some(classes)
}

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one))
}

/// The class that a line declares. Of `package object` it is `package`.
fn declared_class(line: &str) -> Option<String> {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let before = words.by_ref().take_while(|word| !DECLARE.contains(word)).last();
    if before == Some("package") { before } else { words.find(|word| !DECLARE.contains(word)) }.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(difference: &str, new_files: &str) -> Option<Vec<String>> {
        classes_of_difference(difference, new_files).map(|classes| classes.into_iter().collect())
    }

    #[test]
    fn every_class_of_a_changed_file_is_named_as_it_was_and_as_it_is() {
        let difference = "diff --git a/src/Router.scala b/src/Router.scala\n--- a/src/Router.scala\n+++ b/src/Router.scala\n\
             @@ -1,4 +1,4 @@\n package a.b\n-private final class Old(x: Int)\n+case class New(x: Int)\n object Codec:\n   def f = 1\n\
             diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-class A\n+class B\n";
        let expected = ["Codec", "New", "Old", "Router"];
        assert_eq!(classes(difference, "notes.txt").unwrap(), expected);
        assert_eq!(classes(difference, "src/Another.scala"), None, "a new source may be used by anything");
        assert_eq!(classes("--- a/src/Main.kt\n+++ b/src/Main.kt\n-fun f() = 1\n", "").unwrap(), ["MainKt"]);
        assert_eq!(declared_class("+package object util {").as_deref(), Some("package"));
        assert_eq!(declared_class(" enum class Color {").as_deref(), Some("Color"));
    }

    #[test]
    fn a_change_of_other_files_has_no_classes() {
        for path in ["build.sbt", "src/main/resources/application.conf", "src/lib.rs", "Makefile"] {
            let difference = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n");
            assert_eq!(classes(&difference, ""), None, "{path}");
        }
        let (told, quoted) = ("--- a/A.scala\n+++ b/A.scala\n-class A\n+class B\n", "\"b/\\303\\274.scala\"");
        assert_eq!(classes(&format!("{told}--- {quoted}\n+++ {quoted}\n-class C\n"), ""), None);
        assert_eq!((classes(told, quoted), classes(told, "").is_some()), (None, true));
        assert_eq!(classes("Binary files a/x.jar and b/x.jar differ\n", ""), None);
        assert_eq!(classes("", ""), None, "nothing differs");
    }
}
