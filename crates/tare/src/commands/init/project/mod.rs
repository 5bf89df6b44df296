//! Which kind of project a folder has, how it is built, and which program it makes.

mod cargo;
mod jvm;
mod node;
mod python;

use std::path::{Path, PathBuf};

use regex::Regex;
use roxmltree::{Document, Node};
use tare_plan::PlanError;

use crate::workspace::names_in;
use cargo::cargo;
use jvm::{gradle, maven, sbt};
use node::node;
use python::python;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The build tool: `Cargo`.
    pub tool: &'static str,
    pub file: String,
    pub build: Option<String>,
    /// Program and arguments, or why the project does not tell them for certain.
    pub command: Result<Vec<String>, String>,
    /// Variables that tell the usual frameworks of the tool their port.
    pub port_variables: &'static [&'static str],
    /// Further variables: those with which its servers usually run.
    pub env: &'static [(&'static str, &'static str)],
}

impl Project {
    /// Who tells the bytes and collections of its runtime: `counters` of a suite's server.
    pub fn counters(&self) -> Option<&'static str> {
        ["npm", "pnpm", "yarn"].contains(&self.tool).then_some("node")
    }
}

/// Every file that tells of a project, in the order in which they are looked for.
pub const KNOWN_FILES: &str = "Cargo.toml, go.mod, package.json, pom.xml, build.gradle, build.sbt, *.csproj, pyproject.toml, requirements.txt, app.py";

type Detect = fn(&Path) -> Result<Option<Project>, PlanError>;

/// The project of a folder: the first one with a program, or else the first one, whose doubt names the sub-projects
/// that have one. `None` without a file of a build tool.
pub fn detect_project(folder: &Path) -> Result<Option<Project>, PlanError> {
    let found = project_here(folder)?;
    if found.as_ref().is_some_and(|project| project.command.is_ok()) {
        return Ok(found);
    }
    let parts = sub_projects(folder);
    if parts.is_empty() {
        return Ok(found);
    }
    let named = format!("its sub-projects have programs: give one of these folders to tare init: {}", parts.join(", "));
    Ok(Some(match found {
        Some(project) => {
            let command = project.command.map_err(|doubt| format!("{doubt}; {named}"));
            Project { command, ..project }
        }
        None => project("unknown", "no file", None, Err(named)),
    }))
}

fn project_here(folder: &Path) -> Result<Option<Project>, PlanError> {
    let detectors: [Detect; 8] = [
        cargo,
        |folder| Ok(go(folder)),
        node,
        maven,
        |folder| Ok(gradle(folder)),
        |folder| Ok(sbt(folder)),
        dotnet,
        |folder| python(folder, std::env::var_os("VIRTUAL_ENV").map(PathBuf::from).as_deref()),
    ];
    let mut first = None;
    for detect in detectors {
        match detect(folder) {
            Ok(Some(project)) if project.command.is_ok() => return Ok(Some(project)),
            // Files of a tool after one that is there already do not have to be readable.
            Err(_) if first.is_some() => {}
            found => first = first.or(found?),
        }
    }
    Ok(first)
}

/// The folders below, at most two deep, that have a project with a program, as paths from `folder`.
fn sub_projects(folder: &Path) -> Vec<String> {
    const BUILT: [&str; 7] = ["node_modules", "target", "build", "dist", "out", "vendor", "bin"];
    const MOST: usize = 8;
    let below = |folder: &Path| -> Vec<String> {
        let names =
            names_in(folder).into_iter().filter(|name| !name.starts_with('.') && !BUILT.contains(&name.as_str()));
        names.filter(|name| folder.join(name).is_dir()).collect()
    };
    let first = below(folder);
    let second =
        first.iter().flat_map(|name| below(&folder.join(name)).into_iter().map(move |inner| format!("{name}/{inner}")));
    let folders: Vec<String> = first.iter().cloned().chain(second).collect();
    let has_program =
        |name: &&String| project_here(&folder.join(name)).ok().flatten().is_some_and(|project| project.command.is_ok());
    folders.iter().filter(has_program).take(MOST).cloned().collect()
}

/// The text of a file, without the mark of its byte order.
fn read(folder: &Path, file: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(file)).ok()?;
    Some(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// The folder's own name, for tools that name their product after it.
fn folder_name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().map_or_else(|| "server".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The first group of the first match.
fn first_match(pattern: &str, text: &str) -> Option<String> {
    Regex::new(pattern).ok()?.captures(text)?.get(1).map(|group| group.as_str().to_owned())
}

fn words_of(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

fn project(tool: &'static str, file: &str, build: Option<&str>, command: Result<Vec<String>, String>) -> Project {
    let build = build.map(str::to_owned);
    Project { tool, file: file.to_owned(), build, command, port_variables: &["PORT"], env: &[] }
}

fn go(folder: &Path) -> Option<Project> {
    let module = first_match(r"(?m)^module\s+(\S+)", &read(folder, "go.mod")?)?;
    let go = |name: &str, package: &str| {
        // `go build -o FOLDER` would write into the folder.
        let name = if folder.join(name).is_dir() { format!("bin/{name}") } else { name.to_owned() };
        project("Go", "go.mod", Some(&format!("go build -o {name} {package}")), Ok(vec![format!("./{name}")]))
    };
    if has_go_program(folder) {
        let is_version = |part: &&str| first_match(r"^(v\d+)$", part).is_some();
        let name = module.rsplit('/').find(|part| !is_version(part)).unwrap_or("server");
        return Some(go(name, "."));
    }
    let programs =
        names_in(&folder.join("cmd")).into_iter().filter(|name| has_go_program(&folder.join("cmd").join(name)));
    let programs: Vec<String> = programs.collect();
    let doubt = match &programs[..] {
        [name] => return Some(go(name, &format!("./cmd/{name}"))),
        [] => "there is no package main, here or in cmd/".to_owned(),
        several => format!("cmd/ has several programs: {}", several.join(", ")),
    };
    Some(Project { command: Err(doubt), ..go("server", ".") })
}

fn has_go_program(folder: &Path) -> bool {
    let mut files = names_in(folder).into_iter().filter(|name| name.ends_with(".go") && !name.ends_with("_test.go"));
    files.any(|file| read(folder, &file).is_some_and(|text| first_match(r"(?m)^(package main)\b", &text).is_some()))
}

fn dotnet(folder: &Path) -> Result<Option<Project>, PlanError> {
    let files: Vec<String> = names_in(folder).into_iter().filter(|name| name.ends_with(".csproj")).collect();
    let Some(file) = files.first() else { return Ok(None) };
    let text = read(folder, file).unwrap_or_default();
    let document = parse_xml(&folder.join(file), &text)?;
    let groups = || document.root_element().children().filter(|node| node.tag_name().name() == "PropertyGroup");
    let property = |name: &str| groups().filter_map(|group| text_of(group, name)).next_back();
    let sdk = document.root_element().attribute("Sdk").unwrap_or_default();
    let name = property("AssemblyName").unwrap_or(file.trim_end_matches(".csproj"));
    let name = name.replace("$(MSBuildProjectName)", file.trim_end_matches(".csproj"));
    let is_program = sdk.ends_with(".Web") || sdk.ends_with(".Worker") || property("OutputType") == Some("Exe");
    let command = if files.len() > 1 {
        Err(format!("there are several projects: {}", files.join(", ")))
    } else if name.contains("$(") {
        Err(format!("{file} does not say the name of the program: {name}"))
    } else if !is_program || property("OutputType") == Some("Library") {
        Err(format!("{file} makes a library"))
    } else {
        // What dotnet finds elsewhere in the folder, such as the files of the build before, it would publish too.
        Ok(words_of(&["dotnet", &format!("bin/published/{name}.dll")]))
    };
    // A solution beside the project has no one output, and dotnet does not choose between them.
    let build = format!("dotnet publish {} -c Release -o bin/published", shell_words::quote(file));
    let project = project(".NET", file, Some(&build), command);
    Ok(Some(Project { port_variables: &["PORT", "ASPNETCORE_HTTP_PORTS"], ..project }))
}

fn parse_xml<'a>(file: &Path, text: &'a str) -> Result<Document<'a>, PlanError> {
    Document::parse(text).map_err(|error| PlanError::Document {
        file: file.display().to_string(),
        line: error.pos().row as usize,
        message: error.to_string(),
    })
}

/// The first child with this name, in whichever namespace.
fn child<'a, 'text>(node: Node<'a, 'text>, name: &str) -> Option<Node<'a, 'text>> {
    node.children().find(|child| child.tag_name().name() == name)
}

/// The text of the first child with this name; `None` if it has none.
fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    Some(child(node, name)?.text()?.trim()).filter(|text| !text.is_empty())
}

fn file_among<'a>(folder: &Path, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests;
