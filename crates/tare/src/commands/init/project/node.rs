//! A package of JavaScript: its package manager, and what starts its server.

use std::path::Path;

use serde_json::Value;
use tare_plan::PlanError;

use super::{Project, file_among, project, read, words_of};

const FILE: &str = "package.json";

/// A package manager: its name, the files that it leaves, and the words that it is called with.
struct Manager {
    name: &'static str,
    locks: &'static str,
    /// Installs exactly what the lock file says.
    install: &'static str,
    /// Starts the script `start` without words of its own.
    start: &'static str,
}

const FROZEN: &str = "install --frozen-lockfile";
const MANAGERS: [Manager; 4] = [
    Manager { name: "pnpm", locks: "pnpm-lock.yaml", install: FROZEN, start: "--silent start" },
    Manager { name: "yarn", locks: "yarn.lock", install: FROZEN, start: "start" },
    Manager { name: "bun", locks: "bun.lock bun.lockb", install: FROZEN, start: "run --silent start" },
    Manager { name: "npm", locks: "package-lock.json", install: "ci", start: "start --silent" },
];

impl Manager {
    /// The one that `packageManager` names, or else the one whose lock file is here or above; and that file's folder.
    fn of<'a>(folder: &'a Path, package: &Value) -> (&'static Self, Option<&'a Path>) {
        // The packages of a workspace are at most three folders below its own package.json.
        let folders: Vec<&Path> = folder.ancestors().take(4).filter(|at| at.join(FILE).is_file()).collect();
        let has_lock = |manager: &Self, at: &Path| manager.locks.split(' ').any(|lock| at.join(lock).is_file());
        let named = package["packageManager"].as_str().and_then(|named| named.split('@').next());
        let locked = folders.iter().find_map(|at| Some((MANAGERS.iter().find(|manager| has_lock(manager, at))?, *at)));
        match MANAGERS.iter().find(|manager| Some(manager.name) == named) {
            Some(manager) => (manager, folders.into_iter().find(|at| has_lock(manager, at))),
            None => locked.map_or((&MANAGERS[3], None), |(manager, at)| (manager, Some(at))),
        }
    }

    /// The command that installs packages. Without a lock file there is nothing to keep to.
    fn install(&self, locked_in: Option<&Path>) -> String {
        match locked_in {
            // Since its second version, whose configuration has another name.
            Some(at) if self.name == "yarn" && at.join(".yarnrc.yml").is_file() => {
                "yarn install --immutable".to_owned()
            }
            Some(_) => format!("{} {}", self.name, self.install),
            None => format!("{} install", self.name),
        }
    }
}

/// Files of tools that tare does not know: beside them, package.json may only make what browsers load.
const OTHERS: [&str; 3] = ["Gemfile", "composer.json", "mix.exs"];

pub fn node(folder: &Path) -> Result<Option<Project>, PlanError> {
    let Some(text) = read(folder, FILE) else { return Ok(None) };
    let package: Value = serde_json::from_str(&text).map_err(|error| PlanError::Document {
        file: folder.join(FILE).display().to_string(),
        line: error.line(),
        message: error.to_string(),
    })?;
    let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let (manager, locked_in) = Manager::of(&absolute, &package);
    let has_packages = ["dependencies", "devDependencies"].iter().any(|key| package[key].is_object());
    let script = |name: &str| package["scripts"][name].as_str();
    let steps = [
        has_packages.then(|| manager.install(locked_in)),
        script("build").map(|_| format!("{} run build", manager.name)),
    ];
    let steps: Vec<String> = steps.into_iter().flatten().collect();
    let build = (!steps.is_empty()).then(|| steps.join(" && "));
    let started_by = |command| Project {
        // Frameworks do work in development that no user pays for.
        env: &[("NODE_ENV", "production")],
        ..project(manager.name, FILE, build.as_deref(), command)
    };
    // With Plug'n'Play only yarn's own node finds packages.
    let needs_yarn =
        locked_in.is_some_and(|at| read(at, ".yarnrc.yml").is_some_and(|text| text.contains("nodeLinker: pnp")));
    let words = |script: &str| {
        let words = plain_words(script)?;
        Some(if needs_yarn { [words_of(&["yarn"]), words].concat() } else { words })
    };
    // `nest start` and the like build again and watch; what they write for production starts the server itself.
    let scripts = [script("start"), script("start:prod")];
    if let Some(words) = scripts.into_iter().flatten().find_map(words) {
        return Ok(Some(started_by(Ok(words))));
    }
    if script("start").is_some() {
        let words = [manager.name].into_iter().chain(manager.start.split(' ')).map(str::to_owned);
        return Ok(Some(started_by(Ok(words.collect()))));
    }
    let main = package["main"].as_str().filter(|main| {
        let places = [main.to_string(), format!("{main}.js"), format!("{main}/index.js")];
        script("build").is_some() || places.iter().any(|place| folder.join(place).is_file())
    });
    let main = main.or_else(|| file_among(folder, &["server.js", "app.js", "index.js"]));
    if let (None, Some(other)) = (main, file_among(folder, &OTHERS)) {
        let doubt = format!("{other} is there, and tare knows no program of its tool");
        return Ok(Some(project("unknown", other, None, Err(doubt))));
    }
    let doubt = "package.json has no script \"start\", and there is no server.js, app.js or index.js";
    let words = main.map(|main| words_of(&[if manager.name == "bun" { "bun" } else { "node" }, main]));
    Ok(Some(started_by(words.ok_or_else(|| doubt.to_owned()))))
}

/// The words of a script that starts the server itself, without the package manager in between. Only a shell knows more
/// than words.
fn plain_words(script: &str) -> Option<Vec<String>> {
    let is_plain = ["node ", "bun "].iter().any(|program| script.starts_with(program));
    let has_more = script.contains(|c| "|&;<>()$`*?#~\n".contains(c));
    shell_words::split(script).ok().filter(|_| is_plain && !has_more)
}
