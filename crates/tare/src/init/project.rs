//! Which kind of project a folder has, how it is built, and which program it makes.

use std::path::Path;

use regex::Regex;
use tare_plan::PlanError;
use tare_plan::document::parse_document;

/// A project that a build tool knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The build tool: `Cargo`.
    pub tool: &'static str,
    /// The file that tells.
    pub file: String,
    /// Shell command that builds it.
    pub build: Option<String>,
    /// Program and arguments; none where the file does not tell.
    pub command: Vec<String>,
    /// Variables that tell the usual frameworks of the tool their port.
    pub port_variables: &'static [&'static str],
}

impl Project {
    /// Who tells the bytes and collections of its runtime: `counters` of a suite's server.
    pub fn counters(&self) -> Option<&'static str> {
        match self.tool {
            "npm" => Some("node"),
            ".NET" => Some("dotnet"),
            _ => None,
        }
    }
}

/// Every file that tells of a project, in the order in which they are looked for.
pub const KNOWN_FILES: &str = "Cargo.toml, go.mod, package.json, pom.xml, build.gradle, build.sbt, *.csproj, pyproject.toml, requirements.txt, app.py";

/// Finds the project of one build tool.
type Detect = fn(&Path) -> Result<Option<Project>, PlanError>;

/// The project of a folder; `None` where no file of a build tool is there.
///
/// # Errors
/// When the file of the first build tool cannot be parsed.
pub fn detect_project(folder: &Path) -> Result<Option<Project>, PlanError> {
    let detectors: [Detect; 8] = [
        cargo,
        |folder| Ok(go(folder)),
        npm,
        |folder| Ok(maven(folder)),
        |folder| Ok(gradle(folder)),
        |folder| Ok(sbt(folder)),
        |folder| Ok(dotnet(folder)),
        |folder| Ok(python(folder)),
    ];
    let mut found = detectors.into_iter().map(|detect| detect(folder));
    found.find(|found| !matches!(found, Ok(None))).unwrap_or(Ok(None))
}

fn read(folder: &Path, file: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(file)).ok()
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

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

fn project(tool: &'static str, file: &str, build: Option<&str>, command: &[&str]) -> Project {
    let (build, command) = (build.map(str::to_owned), words(command));
    Project { tool, file: file.to_owned(), build, command, port_variables: &["PORT"] }
}

fn cargo(folder: &Path) -> Result<Option<Project>, PlanError> {
    const FILE: &str = "Cargo.toml";
    let Some(text) = read(folder, FILE) else { return Ok(None) };
    let manifest: toml::Table = parse_document(&folder.join(FILE).display().to_string(), &text)?;
    let package = manifest.get("package");
    let text = |key: &str| package?.get(key)?.as_str();
    let first_bin = || manifest.get("bin")?.as_array()?.first()?.get("name")?.as_str();
    let name = text("default-run").or_else(first_bin).or_else(|| text("name"));
    // A workspace has several programs, or none.
    let program = name.map(|name| format!("target/release/{name}"));
    let command: Vec<&str> = program.as_deref().into_iter().collect();
    Ok(Some(project("Cargo", FILE, Some("cargo build --release"), &command)))
}

fn go(folder: &Path) -> Option<Project> {
    let module = first_match(r"(?m)^module\s+(\S+)", &read(folder, "go.mod")?)?;
    let name = module.rsplit('/').next().unwrap_or("server").to_owned();
    Some(project("Go", "go.mod", Some(&format!("go build -o {name} .")), &[&format!("./{name}")]))
}

fn npm(folder: &Path) -> Result<Option<Project>, PlanError> {
    const FILE: &str = "package.json";
    let Some(text) = read(folder, FILE) else { return Ok(None) };
    let package: serde_json::Value = serde_json::from_str(&text).map_err(|error| PlanError::Document {
        file: folder.join(FILE).display().to_string(),
        line: error.line(),
        message: error.to_string(),
    })?;
    let has_packages = ["dependencies", "devDependencies"].iter().any(|key| package[key].is_object());
    let install = if folder.join("package-lock.json").exists() { "npm ci" } else { "npm install" };
    let script = |name: &str| package["scripts"][name].as_str();
    let steps = [has_packages.then_some(install), script("build").map(|_| "npm run build")];
    let steps: Vec<&str> = steps.into_iter().flatten().collect();
    let build = (!steps.is_empty()).then(|| steps.join(" && "));
    // npm itself would stand between tare and the server.
    let started =
        script("start").filter(|start| start.starts_with("node ")).and_then(|start| shell_words::split(start).ok());
    let main = || package["main"].as_str().or_else(|| file_among(folder, &["server.js", "app.js", "index.js"]));
    let command = match (started, script("start")) {
        (Some(started), _) => started,
        (None, Some(_)) => words(&["npm", "start", "--silent"]),
        (None, None) => words(&["node", main().unwrap_or("server.js")]),
    };
    Ok(Some(Project { command, ..project("npm", FILE, build.as_deref(), &[]) }))
}

fn maven(folder: &Path) -> Option<Project> {
    let pom = read(folder, "pom.xml")?;
    let own = Regex::new(
        r"(?s)<(parent|dependencies|build|profiles|dependencyManagement)>.*?</(parent|dependencies|build|profiles|dependencyManagement)>",
    );
    let own = own.map_or_else(|_| pom.clone(), |nested| nested.replace_all(&pom, "").into_owned());
    let tag = |name: &str, text: &str| first_match(&format!("<{name}>([^<$]+)</{name}>"), text);
    let artifact = tag("artifactId", &own).unwrap_or_else(|| folder_name(folder));
    let version = tag("version", &own).or_else(|| tag("version", &pom)).unwrap_or_else(|| "1.0".to_owned());
    let name = tag("finalName", &pom).unwrap_or_else(|| format!("{artifact}-{version}"));
    Some(on_jvm("Maven", "pom.xml", "mvn -q -B package -DskipTests", &format!("target/{name}.jar")))
}

fn gradle(folder: &Path) -> Option<Project> {
    let file = file_among(folder, &["build.gradle", "build.gradle.kts"])?;
    let settings = ["settings.gradle", "settings.gradle.kts"].iter().find_map(|file| read(folder, file));
    let name = settings.and_then(|text| first_match(r#"rootProject\.name\s*=\s*['"]([^'"]+)"#, &text));
    let version = first_match(r#"(?m)^version\s*=\s*['"]([^'"]+)"#, &read(folder, file)?);
    let name = name.unwrap_or_else(|| folder_name(folder));
    let jar = version.map_or_else(|| name.clone(), |version| format!("{name}-{version}"));
    let tool = if folder.join("gradlew").exists() { "./gradlew" } else { "gradle" };
    Some(on_jvm("Gradle", file, &format!("{tool} -q assemble"), &format!("build/libs/{jar}.jar")))
}

fn sbt(folder: &Path) -> Option<Project> {
    let name = first_match(r#"(?m)^\s*(?:ThisBuild\s*/\s*)?name\s*:=\s*"([^"]+)""#, &read(folder, "build.sbt")?);
    let name = name.unwrap_or_else(|| folder_name(folder)).to_lowercase();
    // The task is that of sbt-native-packager.
    let program = format!("target/universal/stage/bin/{name}");
    Some(Project { port_variables: JVM_VARIABLES, ..project("sbt", "build.sbt", Some("sbt stage"), &[&program]) })
}

/// Spring Boot reads the second, Quarkus the third.
const JVM_VARIABLES: &[&str] = &["PORT", "SERVER_PORT", "QUARKUS_HTTP_PORT"];

fn on_jvm(tool: &'static str, file: &str, build: &str, jar: &str) -> Project {
    let command = ["java", "-Xms512m", "-Xmx512m", "-jar", jar];
    Project { port_variables: JVM_VARIABLES, ..project(tool, file, Some(build), &command) }
}

fn dotnet(folder: &Path) -> Option<Project> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let file = names.into_iter().find(|name| name.ends_with(".csproj"))?;
    let name = file.trim_end_matches(".csproj");
    let build = "dotnet publish -c Release -o published";
    let command = ["dotnet", &format!("published/{name}.dll")];
    Some(Project {
        port_variables: &["PORT", "ASPNETCORE_HTTP_PORTS"],
        ..project(".NET", &file, Some(build), &command)
    })
}

fn python(folder: &Path) -> Option<Project> {
    let program = file_among(folder, &["app.py", "main.py", "server.py", "manage.py"]);
    let described = file_among(folder, &["pyproject.toml", "requirements.txt", "setup.py"]);
    let file = described.or(program)?;
    let program = program.unwrap_or("app.py");
    Some(if folder.join("requirements.txt").is_file() {
        let build = "python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt";
        project("Python", file, Some(build), &[".venv/bin/python", program])
    } else {
        project("Python", file, None, &["python3", program])
    })
}

fn file_among<'a>(folder: &Path, names: &[&'a str]) -> Option<&'a str> {
    names.iter().copied().find(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The project of a folder `demo` with these files.
    fn project_of(files: &[(&str, &str)]) -> Option<Project> {
        detected(files).unwrap()
    }

    fn detected(files: &[(&str, &str)]) -> Result<Option<Project>, PlanError> {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("demo");
        std::fs::create_dir(&folder).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        detect_project(&folder)
    }

    #[test]
    fn every_build_tool_is_known_by_its_file() {
        for (files, tool, build, command) in [
            (
                &[("Cargo.toml", "[package]\nname = \"own\"\n")][..],
                "Cargo",
                Some("cargo build --release"),
                "target/release/own",
            ),
            (
                &[("Cargo.toml", "[package]\nname = \"a\"\n[[bin]]\nname = \"b\"\n")],
                "Cargo",
                Some("cargo build --release"),
                "target/release/b",
            ),
            (&[("go.mod", "module example.org/own\n\ngo 1.22\n")], "Go", Some("go build -o own ."), "./own"),
            (
                &[("package.json", r#"{"scripts": {"start": "node src/main.js"}, "dependencies": {"x": "1"}}"#)],
                "npm",
                Some("npm install"),
                "node src/main.js",
            ),
            (&[("package.json", "{}"), ("app.js", "")], "npm", None, "node app.js"),
            (
                &[("package.json", r#"{"scripts": {"start": "next start", "build": "next build"}}"#)],
                "npm",
                Some("npm run build"),
                "npm start --silent",
            ),
            (
                &[(
                    "pom.xml",
                    "<project><parent><artifactId>p</artifactId><version>9</version></parent><artifactId>own</artifactId><version>1.2</version></project>",
                )],
                "Maven",
                Some("mvn -q -B package -DskipTests"),
                "java -Xms512m -Xmx512m -jar target/own-1.2.jar",
            ),
            (
                &[
                    ("build.gradle", "version = '2.0'\n"),
                    ("settings.gradle", "rootProject.name = 'own'\n"),
                    ("gradlew", ""),
                ],
                "Gradle",
                Some("./gradlew -q assemble"),
                "java -Xms512m -Xmx512m -jar build/libs/own-2.0.jar",
            ),
            (&[("build.sbt", "name := \"Own\"\n")], "sbt", Some("sbt stage"), "target/universal/stage/bin/own"),
            (&[("Own.csproj", "")], ".NET", Some("dotnet publish -c Release -o published"), "dotnet published/Own.dll"),
            (
                &[("requirements.txt", ""), ("main.py", "")],
                "Python",
                Some("python3 -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt"),
                ".venv/bin/python main.py",
            ),
            (&[("pyproject.toml", ""), ("main.py", "")], "Python", None, "python3 main.py"),
        ] {
            let project = project_of(files).unwrap_or_else(|| panic!("{files:?}"));
            assert_eq!(
                (project.tool, project.build.as_deref(), project.command.join(" ")),
                (tool, build, command.to_owned())
            );
        }
    }

    #[test]
    fn a_file_that_cannot_be_parsed_is_named_with_its_line() {
        for (file, text, says) in [
            ("Cargo.toml", "[package]\nname = \n", "Cargo.toml:2: "),
            ("package.json", "{\n\"scripts\":", "package.json:2: EOF while parsing"),
        ] {
            let error = detected(&[(file, text), ("app.py", "")]).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_programs_of_a_workspace_are_not_guessed() {
        let project = project_of(&[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n")]).unwrap();
        assert_eq!((project.tool, project.command), ("Cargo", Vec::new()));
    }

    #[test]
    fn a_folder_without_such_a_file_has_no_project() {
        assert_eq!(project_of(&[("README.md", "")]), None);
    }
}
