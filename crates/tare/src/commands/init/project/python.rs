//! A project of Python: what it installs, and who listens on the port.

use std::path::{Path, PathBuf};

use tare_plan::PlanError;
use tare_plan::document::parse_document;

use super::{Project, file_among, first_match, names_in, project, read, words_of};

const PROGRAMS: [&str; 6] = ["app.py", "main.py", "server.py", "manage.py", "asgi.py", "wsgi.py"];

/// The environment that a build makes.
const BUILT: &str = ".venv";

/// `activated`: the environment of Python that the user has activated.
pub fn python(folder: &Path, activated: Option<&Path>) -> Result<Option<Project>, PlanError> {
    let program = file_among(folder, &PROGRAMS);
    let described = file_among(folder, &["pyproject.toml", "requirements.txt", "setup.py"]);
    let Some(file) = described.or(program) else { return Ok(None) };
    let needs = Needs::of(folder)?;
    let build = needs.build(folder);
    // Packages that the user installed by hand into the same environment are there too.
    let (python, programs) = environment(folder, build.is_some(), activated);
    let is_installed = || programs.is_some_and(|programs| programs.join("uvicorn").exists());
    let has_server = needs.has(r"uvicorn|fastapi\[(?:standard|all)[^\]]*\]") || is_installed();
    let program = program.map(str::to_owned).or_else(|| program_in_package(folder));
    let arguments = match program.or_else(|| only_application(folder)) {
        Some(program) => arguments(&program, folder, &needs, has_server).map_err(|doubt| match &build {
            Some(_) => doubt,
            None => format!("{doubt}, or activate the environment that has it"),
        }),
        None => Err(format!("there is no {}, here or in a package", PROGRAMS.join(", "))),
    };
    let command = arguments.map(|arguments| [vec![python], arguments].concat());
    Ok(Some(project("Python", file, build.as_deref(), command)))
}

/// The project's Python, and the programs of its environment, where one is known. Without a build it is that in the
/// folder, or else the activated one, whose Python is the first on the path.
fn environment(folder: &Path, is_built: bool, activated: Option<&Path>) -> (String, Option<PathBuf>) {
    let is_there = |name: &&str| is_built || folder.join(name).join("bin/python").exists();
    match [BUILT, "venv", "env"].into_iter().find(is_there) {
        Some(name) => (format!("{name}/bin/python"), Some(folder.join(name).join("bin"))),
        None => ("python3".to_owned(), activated.map(|place| place.join("bin"))),
    }
}

/// The file of a package that makes an application: `app/main.py`, `src/shop/main.py`, `mysite/manage.py`.
fn program_in_package(folder: &Path) -> Option<String> {
    let folders_in = |place: &str| -> Vec<String> {
        let names = names_in(&folder.join(place))
            .into_iter()
            .filter(|name| !name.starts_with('.') && !name.starts_with("test"));
        names.map(|name| format!("{place}{name}")).filter(|path| folder.join(path).is_dir()).collect()
    };
    let packages = [folders_in(""), folders_in("src/")].concat();
    let files = packages
        .iter()
        .flat_map(|package| PROGRAMS.iter().chain(&["__init__.py"]).map(move |file| format!("{package}/{file}")));
    let mut files = files.filter(|file| folder.join(file).is_file());
    let is_server = |file: &String| {
        file.ends_with("/manage.py") || Application::of(&read(folder, file).unwrap_or_default(), false).is_some()
    };
    files.find(is_server)
}

/// The only file of the folder that makes an application, whatever its name.
fn only_application(folder: &Path) -> Option<String> {
    let is_application = |file: &String| {
        let source = || read(folder, file).unwrap_or_default();
        file.ends_with(".py") && !file.contains("test") && Application::of(&source(), false).is_some()
    };
    let mut found = names_in(folder).into_iter().filter(is_application);
    found.next().filter(|_| found.next().is_none())
}

struct Application {
    /// Whether it speaks ASGI; otherwise it is one of Flask.
    is_asgi: bool,
    name: String,
    is_factory: bool,
}

impl Application {
    /// `needs_asgi`: what a factory of another file makes, which this one only calls.
    fn of(source: &str, needs_asgi: bool) -> Option<Self> {
        const ASGI: &str = "FastAPI|Starlette|Quart|Litestar";
        let made_by =
            |class: &str| first_match(&format!(r"(?m)^(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(?:{class})\("), source);
        let makes = |class: &str| first_match(&format!(r"(?:^|\W)((?:{class})\()"), source).is_some();
        let factory = || first_match(r"(?m)^def\s+((?:create|make|get|build)_app(?:lication)?)\s*\(", source);
        let found = |is_asgi: bool, class: &str| {
            let application = made_by(class).map(|name| Self { is_asgi, name, is_factory: false });
            application
                .or_else(|| factory().filter(|_| makes(class)).map(|name| Self { is_asgi, name, is_factory: true }))
        };
        // A file that calls a factory of another one has an application all the same: `app = create_app()`.
        let called = || first_match(r"(?m)^(app|application)\s*=\s*(?:\w+\.)*create_app\(", source);
        let called = || Some(Self { is_asgi: needs_asgi, name: called()?, is_factory: false });
        found(true, ASGI).or_else(|| found(false, "Flask")).or_else(called)
    }
}

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

    fn has(&self, pattern: &str) -> bool {
        first_match(&format!(r"(?mi)^\s*({pattern})(?:[^\w-]|$)"), &self.all).is_some()
    }
}

/// The arguments of Python that start a server. A file that only makes an application needs a server around it.
fn arguments(program: &str, folder: &Path, needs: &Needs, has_server: bool) -> Result<Vec<String>, String> {
    let source = read(folder, program).unwrap_or_default();
    let words = |words: &[&str]| Ok(words_of(words));
    if program.ends_with("manage.py") {
        // Without this, a second process of Django would start the server anew.
        return words(&[program, "runserver", "--noreload", "127.0.0.1:{port}"]);
    }
    if source.contains("__main__") || source.contains(".run(") {
        return words(&[program]);
    }
    let (place, file) = program.strip_prefix("src/").map_or(("", program), |file| ("src/", file));
    let module = file.trim_end_matches(".py").replace('/', ".").replace(".__init__", "");
    match Application::of(&source, needs.has("fastapi|starlette|quart|litestar")) {
        Some(app) if app.is_asgi => {
            if !has_server {
                return Err(format!(
                    "{program} makes an application of ASGI, and no server for it is known: uvicorn is neither in the packages \
                     that the project lists nor in its environment; list it"
                ));
            }
            let name = format!("{module}:{}", app.name);
            let mut found = vec!["-m", "uvicorn", &name, "--host", "127.0.0.1", "--port", "{port}"];
            // It writes a line for each request, and ends a connection that rests for 5 s.
            found.extend(["--no-access-log", "--timeout-keep-alive", "300"]);
            found.extend_from_slice(if app.is_factory { &["--factory"] } else { &[] });
            found.extend_from_slice(if place.is_empty() { &[] } else { &["--app-dir", "src"] });
            words(&found)
        }
        Some(app) => {
            let call = if app.is_factory { "()" } else { "" };
            let name = format!("{place}{module}:{}{call}", app.name);
            words(&["-m", "flask", "--app", &name, "run", "--port", "{port}"])
        }
        None => words(&[program]),
    }
}
