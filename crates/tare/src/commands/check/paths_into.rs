//! What names the same folder for both builds: words of commands and values of variables of a server's table, and variables
//! and a configuration that its build inherits.

use std::path::{Component, Path, PathBuf};

/// What stands around paths in a command of a shell and in lists of paths.
const AROUND: &str = "\"'`:;,=()<>|&{}$";

/// The variables that name a folder for what cargo builds, whatever it builds.
const TARGETS: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];

/// Whether a text names something in `root` by a path that means the same file from every folder: an absolute one, or
/// one from `folder` through an absolute symbolic link. `root` is in full, without links.
pub fn names_folder(text: &str, folder: &Path, root: &Path) -> bool {
    // A folder's name may have blanks, which also part words.
    let root_text = root.to_string_lossy();
    let mut ends = text.match_indices(root_text.as_ref()).map(|(at, found)| &text[at + found.len()..]);
    ends.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c)))
        || text
            .split(|c: char| c.is_whitespace() || AROUND.contains(c))
            .map(Path::new)
            .filter(|path| path.is_absolute() || has_absolute_link(folder, path))
            .any(|path| without_links(&folder.join(path)).starts_with(root))
}

/// The variable by which a build command would write both builds to one folder, and that folder.
pub fn shared_target(build: &str, variable: impl Fn(&str) -> Option<String>) -> Option<(&'static str, String)> {
    let is_cargo = build.contains("cargo") && !build.contains("--target-dir");
    let is_inherited = |name: &&str| is_cargo && !build.contains(*name);
    let place = |name| Some((name, variable(name).filter(|folder| Path::new(folder).is_absolute())?));
    TARGETS.into_iter().filter(is_inherited).find_map(place)
}

/// The file of cargo's configuration by which a build command in `own` and in `other` would write to one folder, and
/// that folder (The Cargo Book, "Configuration": "Hierarchical structure" and `build.target-dir`).
pub fn shared_configuration(
    build: &str,
    (own, other): (&Path, &Path),
    variable: impl Fn(&str) -> Option<String>,
) -> Option<(PathBuf, String)> {
    let is_given = |name: &str| build.contains(name) || variable(name).is_some();
    if !build.contains("cargo") || build.contains("--target-dir") || TARGETS.into_iter().any(is_given) {
        return None;
    }
    let home = variable("CARGO_HOME").or_else(|| Some(format!("{}/.cargo", variable("HOME")?))).map(PathBuf::from);
    let folders = own.ancestors().map(|folder| folder.join(".cargo")).chain(home.clone());
    let mut files = folders.flat_map(|folder| ["config", "config.toml"].map(|name| folder.join(name)));
    let (file, target) = files.find_map(|file| configured_target(&file).map(|target| (file, target)))?;
    let folder = file.parent()?;
    let is_of_both = home.as_deref() == Some(folder) || other.starts_with(folder.parent()?);
    (is_of_both || Path::new(&target).is_absolute()).then_some((file, target))
}

fn configured_target(file: &Path) -> Option<String> {
    let settings: toml::Table = std::fs::read_to_string(file).ok()?.parse().ok()?;
    Some(settings.get("build")?.get("target-dir")?.as_str()?.to_owned())
}

fn has_absolute_link(folder: &Path, path: &Path) -> bool {
    let mut place = folder.to_owned();
    path.components().any(|part| {
        place.push(part);
        matches!(part, Component::Normal(_)) && place.read_link().is_ok_and(|target| target.is_absolute())
    })
}

/// The path without links, as far as it exists.
fn without_links(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    found.map_or(path.to_owned(), |(part, real)| real.join(path.strip_prefix(part).unwrap_or(Path::new(""))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_the_build_inherits_is_shared_and_one_of_its_own_is_not() {
        let of = |build: &str, name: &str, folder: &str| {
            shared_target(build, |asked| (asked == name).then(|| folder.to_owned())).map(|(name, _)| name)
        };
        for name in TARGETS {
            assert_eq!(of("cargo build --release", name, "/builds/target"), Some(name));
            assert_eq!(of("cargo build --release", name, "target"), None, "relative to each folder");
            assert_eq!(of(&format!("env -u {name} cargo build"), name, "/builds/target"), None);
            assert_eq!(of("cargo build --target-dir target", name, "/builds/target"), None);
            assert_eq!(of("npm ci", name, "/builds/target"), None);
        }
    }

    #[test]
    fn a_target_of_the_configuration_is_shared_unless_it_counts_from_each_folder() {
        let top = tempfile::tempdir().unwrap();
        let at = |folder: &str| top.path().join(folder);
        let shared = |config: &str, target: &str, build: &str, variable: &str| {
            let file = at(config);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, format!("[build]\njobs = 1\ntarget-dir = \"{target}\"\n")).unwrap();
            let variables = |asked: &str| match asked {
                "CARGO_HOME" => Some(at("home/.cargo").display().to_string()),
                asked => (asked == variable).then(|| "target".to_owned()),
            };
            let found = shared_configuration(build, (&at("work/own/server"), &at("cache/other/server")), variables);
            std::fs::remove_file(&file).unwrap();
            found.map(|(file, target)| (file.strip_prefix(top.path()).unwrap().display().to_string(), target))
        };
        for (config, target, is_shared) in [
            ("home/.cargo/config.toml", "target", true),
            ("home/.cargo/config", "/all", true),
            (".cargo/config.toml", "target", true),
            ("work/.cargo/config.toml", "target", false),
            ("work/own/.cargo/config.toml", "/all", true),
            ("work/own/server/.cargo/config.toml", "../target", false),
            ("cache/.cargo/config.toml", "/all", false),
        ] {
            let found = is_shared.then(|| (config.to_owned(), target.to_owned()));
            assert_eq!(shared(config, target, "cargo build", ""), found);
            for build in ["npm ci", "cargo build --target-dir target", "CARGO_TARGET_DIR=target cargo build"] {
                assert_eq!(shared(config, target, build, ""), None, "{build}");
            }
            assert_eq!(shared(config, target, "cargo build", "CARGO_TARGET_DIR"), None);
        }
    }

    #[test]
    fn a_folder_is_found_inside_words_and_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let own = top.join("own repo");
        std::fs::create_dir_all(own.join("bin")).unwrap();
        std::os::unix::fs::symlink(&own, top.join("link")).unwrap();
        std::os::unix::fs::symlink(own.join("bin"), own.join("programs")).unwrap();
        std::os::unix::fs::symlink("bin", own.join("near")).unwrap();
        let is_named = |text: &str| names_folder(&text.replace("TOP", &top.to_string_lossy()), &own, &own);
        for text in [
            "TOP/own repo/app.py",
            "exec python3 'TOP/own repo'/app.py $0",
            "PATH=TOP/other:TOP/link/bin",
            "-cp=a.jar:TOP/link/not-built-yet/b.jar",
            "programs/server",
        ] {
            assert!(is_named(text), "{text}");
        }
        for text in
            ["app.py", "bin/server", "near/server", "TOP/own repo2/app.py", "TOP/other/app.py", "/", "--port={port}"]
        {
            assert!(!is_named(text), "{text}");
        }
    }
}
