//! A project of Python: what it installs, and who listens on the port.

use std::path::Path;

use tare_plan::PlanError;
use tare_plan::document::parse_document;

use super::{Project, file_among, first_match, project, read};

const PROGRAMS: [&str; 4] = ["app.py", "main.py", "server.py", "manage.py"];

pub fn python(folder: &Path) -> Result<Option<Project>, PlanError> {
    let program = file_among(folder, &PROGRAMS);
    let described = file_among(folder, &["pyproject.toml", "requirements.txt", "setup.py"]);
    let Some(file) = described.or(program) else { return Ok(None) };
    let needs = Needs::of(folder)?;
    let build = needs.build(folder);
    let python = if build.is_some() { ".venv/bin/python" } else { "python3" };
    let command = match program {
        Some(program) => arguments(program, &read(folder, program).unwrap_or_default(), &needs),
        None => Err(format!("there is no {}", PROGRAMS.join(", "))),
    };
    let of_project = |arguments: &[String]| {
        let words: Vec<&str> = std::iter::once(python).chain(arguments.iter().map(String::as_str)).collect();
        project("Python", file, build.as_deref(), &words)
    };
    Ok(Some(match command {
        Ok(arguments) => of_project(&arguments),
        Err(doubt) => of_project(&[]).without_program(doubt),
    }))
}

/// The packages that a project needs.
struct Needs {
    /// As pyproject.toml has them.
    listed: Vec<String>,
    /// A line each, whichever file has them.
    all: String,
    has_build_system: bool,
    is_of_poetry: bool,
}

impl Needs {
    fn of(folder: &Path) -> Result<Self, PlanError> {
        const FILE: &str = "pyproject.toml";
        let described: toml::Table = match read(folder, FILE) {
            Some(text) => parse_document(&folder.join(FILE).display().to_string(), &text)?,
            None => toml::Table::new(),
        };
        let listed = described.get("project").and_then(|project| project.get("dependencies")?.as_array());
        let listed: Vec<String> =
            listed.into_iter().flatten().filter_map(|need| Some(need.as_str()?.to_owned())).collect();
        let of_poetry = described.get("tool").and_then(|tool| tool.get("poetry")?.get("dependencies")?.as_table());
        let names = of_poetry.into_iter().flat_map(|table| table.keys().cloned());
        let required = read(folder, "requirements.txt").unwrap_or_default();
        let all: Vec<String> = listed.iter().cloned().chain(names).chain([required]).collect();
        Ok(Self {
            listed,
            all: all.join("\n"),
            has_build_system: described.contains_key("build-system"),
            is_of_poetry: of_poetry.is_some() || folder.join("poetry.lock").is_file(),
        })
    }

    /// The command that installs them into `.venv`; `None` where there are none.
    fn build(&self, folder: &Path) -> Option<String> {
        let pip = |what: &str| Some(format!("python3 -m venv .venv && .venv/bin/pip install --quiet {what}"));
        if folder.join("requirements.txt").is_file() {
            pip("-r requirements.txt")
        } else if folder.join("uv.lock").is_file() {
            Some("uv sync --quiet --frozen".to_owned())
        } else if self.is_of_poetry {
            Some("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --quiet --no-root".to_owned())
        } else if self.listed.is_empty() {
            None
        } else if self.has_build_system {
            pip("-e .")
        } else {
            pip(&shell_words::join(&self.listed))
        }
    }

    /// Whether a package is among them that matches this pattern.
    fn has(&self, pattern: &str) -> bool {
        first_match(&format!(r"(?mi)^\s*({pattern})(?:[^\w-]|$)"), &self.all).is_some()
    }
}

/// The arguments of Python that start a server. A file that only makes an application needs a server around it.
fn arguments(program: &str, source: &str, needs: &Needs) -> Result<Vec<String>, String> {
    let words = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect());
    if program == "manage.py" {
        // Without this, a second process of Django would start the server anew.
        return words(&[program, "runserver", "--noreload", "127.0.0.1:{port}"]);
    }
    if source.contains("__main__") || source.contains(".run(") {
        return words(&[program]);
    }
    let module = program.trim_end_matches(".py");
    let made_by = |class: &str| first_match(&format!(r"(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(?:{class})\("), source);
    if let Some(app) = made_by("FastAPI|Starlette|Quart|Litestar") {
        if !needs.has(r"uvicorn|fastapi\[(?:standard|all)[^\]]*\]") {
            return Err(format!("{program} makes an application of ASGI, and no package that is installed is uvicorn"));
        }
        return words(&["-m", "uvicorn", &format!("{module}:{app}"), "--host", "127.0.0.1", "--port", "{port}"]);
    }
    match made_by("Flask") {
        Some(app) => words(&["-m", "flask", "--app", &format!("{module}:{app}"), "run", "--port", "{port}"]),
        None => words(&[program]),
    }
}
