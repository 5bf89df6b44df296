//! A package of Cargo: its programs, and where its workspace builds them.

use std::path::Path;

use tare_plan::PlanError;
use tare_plan::document::parse_document;

use super::{Project, file_among, names_in, project, read};

const FILE: &str = "Cargo.toml";

pub fn cargo(folder: &Path) -> Result<Option<Project>, PlanError> {
    let Some(text) = read(folder, FILE) else { return Ok(None) };
    let manifest: toml::Table = parse_document(&folder.join(FILE).display().to_string(), &text)?;
    let target = format!("{}target", path_to_workspace(folder, &manifest));
    let built = |program: &str| Ok(vec![format!("{target}/release/{program}")]);
    let programs = programs(folder, &manifest);
    let command = match (text_of(&manifest, "default-run"), &programs[..]) {
        (Some(program), _) => built(program),
        (None, [program]) => built(program),
        (None, []) if manifest.contains_key("package") => {
            Err("Cargo.toml has no program: there is no src/main.rs and no [[bin]]".to_owned())
        }
        // A workspace has several programs, or none.
        (None, []) => Err("Cargo.toml names no program".to_owned()),
        (None, several) => Err(format!("Cargo.toml has several programs: {}", several.join(", "))),
    };
    // Variables and a configuration of Cargo may name another folder, here or where the suite is used next.
    let build = format!("cargo build --release --target-dir {}", shell_words::quote(&target));
    Ok(Some(project("Cargo", FILE, Some(&build), command)))
}

fn text_of<'a>(manifest: &'a toml::Table, key: &str) -> Option<&'a str> {
    manifest.get("package")?.get(key)?.as_str()
}

/// The names of the package's programs: those that it lists, and those that Cargo finds by their files.
fn programs(folder: &Path, manifest: &toml::Table) -> Vec<String> {
    let Some(package) = text_of(manifest, "name") else { return Vec::new() };
    let listed = manifest.get("bin").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let of_key = |key: &'static str| listed.iter().filter_map(move |bin| bin.get(key)?.as_str());
    let mut programs: Vec<String> = of_key("name").map(str::to_owned).collect();
    let mut found = Vec::new();
    if file_among(folder, &["src/main.rs"]).is_some() {
        found.push(("src/main.rs".to_owned(), package.to_owned()));
    }
    for name in names_in(&folder.join("src/bin")) {
        if folder.join("src/bin").join(&name).join("main.rs").is_file() {
            found.push((format!("src/bin/{name}/main.rs"), name));
        } else if let Some(program) = name.strip_suffix(".rs") {
            found.push((format!("src/bin/{name}"), program.to_owned()));
        }
    }
    for (path, name) in found {
        if !programs.contains(&name) && of_key("path").all(|listed| listed != path) {
            programs.push(name);
        }
    }
    programs
}

/// `../../` where the package is a member of the workspace two folders above, which builds its programs.
fn path_to_workspace(folder: &Path, manifest: &toml::Table) -> String {
    if manifest.contains_key("workspace") {
        return String::new();
    }
    let Ok(own) = folder.canonicalize() else { return String::new() };
    let workspace = own.ancestors().enumerate().skip(1).find_map(|(depth, top)| {
        let manifest: toml::Table = read(top, FILE)?.parse().ok()?;
        Some((depth, own.strip_prefix(top).ok()?, manifest.get("workspace")?.get("exclude").cloned()))
    });
    let Some((depth, below, excluded)) = workspace else { return String::new() };
    let excluded = excluded.as_ref().and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_excluded = excluded.iter().filter_map(toml::Value::as_str).any(|path| below.starts_with(path));
    if is_excluded { String::new() } else { "../".repeat(depth) }
}
