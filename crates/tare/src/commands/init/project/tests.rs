//! Small projects of each build tool: what is known of them, and where the program is not guessed.

mod gradle;

use super::jvm::JAVA;
use super::*;

/// Files of a folder: path and text.
type Files<'a> = &'a [(&'a str, &'a str)];

/// The project of a folder `demo` with these files. `place` is the folder inside it that is looked at.
fn detected_in(place: &str, files: Files) -> Result<Option<Project>, PlanError> {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("demo");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in files {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }
    detect_project(&folder.join(place))
}

fn project_of(files: Files) -> Project {
    detected_in("", files).unwrap().unwrap_or_else(|| panic!("{files:?}"))
}

fn assert_known(files: Files, tool: &str, build: Option<&str>, command: &str) {
    let project = project_of(files);
    let known = (project.tool, project.build.as_deref(), project.command.map(|words| words.join(" ")));
    assert_eq!(known, (tool, build, Ok(command.to_owned())), "{files:?}");
}

/// The program is not guessed, and the reason says why.
fn assert_doubted(files: Files, says: &str) {
    let doubt = project_of(files).command.unwrap_err();
    assert!(doubt.contains(says), "{files:?}: {doubt}");
}

#[test]
fn cargo_builds_the_program_of_a_package_in_its_workspace() {
    let build = Some("cargo build --release --target-dir target");
    let own = ("Cargo.toml", "[package]\nname = \"own\"\n");
    assert_known(&[own, ("src/main.rs", "")], "Cargo", build, "target/release/own");
    assert_known(&[own, ("src/bin/one.rs", "")], "Cargo", build, "target/release/one");
    let listed = ("Cargo.toml", "[package]\nname = \"a\"\n[[bin]]\nname = \"b\"\npath = \"src/main.rs\"\n");
    assert_known(&[listed, ("src/main.rs", "")], "Cargo", build, "target/release/b");
    let chosen = ("Cargo.toml", "[package]\nname = \"a\"\ndefault-run = \"two\"\n");
    assert_known(&[chosen, ("src/bin/one.rs", ""), ("src/bin/two/main.rs", "")], "Cargo", build, "target/release/two");
    assert_doubted(&[own, ("src/lib.rs", "")], "Cargo.toml has no program");
    assert_doubted(&[own, ("src/main.rs", ""), ("src/bin/two.rs", "")], "several programs: own, two");
    let member = |exclude: &str| {
        let workspace = format!("[workspace]\nmembers = [\"parts/*\"]\n{exclude}");
        let files = [("Cargo.toml", &workspace[..]), ("parts/own/Cargo.toml", own.1), ("parts/own/src/main.rs", "")];
        let project = detected_in("parts/own", &files).unwrap().unwrap();
        (project.build.unwrap(), project.command.unwrap().join(" "))
    };
    let at = |target: &str| (format!("cargo build --release --target-dir {target}"), format!("{target}/release/own"));
    assert_eq!(member(""), at("../../target"));
    assert_eq!(member("exclude = [\"parts/own\"]"), at("target"));
}

#[test]
fn the_programs_of_a_workspace_are_not_guessed() {
    let project = project_of(&[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n")]);
    assert_eq!((project.tool, project.command), ("Cargo", Err("Cargo.toml names no program".to_owned())));
}

#[test]
fn go_builds_the_one_package_main() {
    let module = ("go.mod", "module example.org/own/v2\n\ngo 1.22\n");
    let main = "// A server.\npackage main\n";
    assert_known(&[module, ("main.go", main)], "Go", Some("go build -o own ."), "./own");
    assert_known(&[module, ("main.go", main), ("own/a.go", "")], "Go", Some("go build -o bin/own ."), "./bin/own");
    let command = ("cmd/server/main.go", main);
    assert_known(&[module, command], "Go", Some("go build -o server ./cmd/server"), "./server");
    assert_doubted(&[module, command, ("cmd/tool/main.go", main)], "several programs: server, tool");
    assert_doubted(&[module, ("own.go", "package own\n")], "no package main");
}

#[test]
fn npm_starts_node_itself_where_no_shell_is_needed() {
    let start = |script: &str| format!(r#"{{"scripts": {{"start": "{script}"}}}}"#);
    let package = r#"{"scripts": {"start": "node src/main.js"}, "dependencies": {"x": "1"}}"#;
    assert_known(&[("package.json", package)], "npm", Some("npm install"), "node src/main.js");
    assert_known(&[("package.json", "\u{feff}{}"), ("app.js", "")], "npm", None, "node app.js");
    assert_known(&[("package.json", r#"{"main": "own"}"#), ("own.js", "")], "npm", None, "node own");
    for script in ["node server.js | pino", "node server.js && true", "node $FILE", "PORT=1 node server.js"] {
        assert_known(&[("package.json", &start(script))], "npm", None, "npm start --silent");
    }
    let built = r#"{"scripts": {"start": "next start", "build": "next build"}}"#;
    assert_known(&[("package.json", built)], "npm", Some("npm run build"), "npm start --silent");
    assert_doubted(&[("package.json", r#"{"main": "gone.js"}"#)], "no script \"start\"");
}

#[test]
fn the_package_manager_is_the_one_that_the_project_names() {
    let package =
        |more: &str| format!(r#"{{"scripts": {{"start": "x", "build": "y"}}, "dependencies": {{"a": "1"}}{more}}}"#);
    let plain = package("");
    let named = |manager: &str| package(&format!(r#", "packageManager": "{manager}@9.1""#));
    for (text, lock, tool, build, start) in [
        (&plain, "pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile && pnpm run build", "pnpm --silent start"),
        (&named("pnpm"), "package-lock.json", "pnpm", "pnpm install && pnpm run build", "pnpm --silent start"),
        (&plain, "yarn.lock", "yarn", "yarn install --frozen-lockfile && yarn run build", "yarn start"),
        (&plain, "bun.lock", "bun", "bun install --frozen-lockfile && bun run build", "bun run --silent start"),
        (&plain, "package-lock.json", "npm", "npm ci && npm run build", "npm start --silent"),
        (&plain, "other", "npm", "npm install && npm run build", "npm start --silent"),
    ] {
        assert_known(&[("package.json", text), (lock, "")], tool, Some(build), start);
    }
    let berry = [("package.json", r#"{"scripts": {"start": "node a.js"}, "dependencies": {}}"#), ("yarn.lock", "")];
    let berry = [&berry[..], &[(".yarnrc.yml", "nodeLinker: pnp\n")]].concat();
    assert_known(&berry, "yarn", Some("yarn install --immutable"), "yarn node a.js");
    let member = r#"{"scripts": {"start": "node a.js"}, "dependencies": {"b": "workspace:*"}}"#;
    let workspace = [("package.json", "{}"), ("pnpm-lock.yaml", ""), ("apps/api/package.json", member)];
    let project = detected_in("apps/api", &workspace).unwrap().unwrap();
    assert_eq!((project.tool, project.build.as_deref()), ("pnpm", Some("pnpm install --frozen-lockfile")));
    assert_eq!(project.env, [("NODE_ENV", "production")]);
    let nest = r#"{"scripts": {"start": "nest start", "start:prod": "node dist/main"}}"#;
    assert_known(&[("package.json", nest)], "npm", None, "node dist/main");
    assert_known(&[("package.json", r#"{"scripts": {"start": "bun run src/a.ts"}}"#)], "npm", None, "bun run src/a.ts");
}

#[test]
fn projects_below_are_named_where_the_folder_has_no_program() {
    let main = ("crates/server/src/main.rs", "");
    let server = ("crates/server/Cargo.toml", "[package]\nname = \"server\"\n");
    let says = "Cargo.toml names no program; its sub-projects have programs: give one of these folders to tare init: crates/server";
    assert_doubted(&[("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"), server, main], says);
    let gradle = [
        ("settings.gradle.kts", "rootProject.name = \"demo\"\n"),
        ("gradlew", ""),
        ("app/build.gradle.kts", "plugins { application }\n"),
    ];
    assert_doubted(&gradle, "to tare init: app");
    let project = detected_in("app", &gradle).unwrap().unwrap();
    assert_eq!(
        (project.build.as_deref(), &project.command.as_ref().unwrap()[0][..]),
        (Some("../gradlew -q installDist"), "build/install/app/bin/app")
    );
    let go = [("api/go.mod", "module x/api\n"), ("api/main.go", "package main\n"), ("go.work", "use ./api\n")];
    assert_doubted(&go, "to tare init: api");
    let built = [("node_modules/a/package.json", "{}"), ("node_modules/a/index.js", ""), (".x/index.js", "")];
    assert_eq!(detected_in("", &built).unwrap(), None);
}

#[test]
fn a_tool_that_tare_does_not_know_is_the_reason_and_not_a_file_beside_it() {
    let files = [("Gemfile", "gem \"rails\"\n"), ("package.json", r#"{"scripts": {"build": "esbuild"}}"#)];
    assert_doubted(&files, "Gemfile is there, and tare knows no program of its tool");
    let project = project_of(&files);
    assert_eq!((project.build.as_deref(), project.counters(), project.env), (None, None, &[][..]));
}

#[test]
fn maven_names_the_jar_that_starts_by_itself() {
    let pom = |text: &str| format!("<project xmlns=\"http://maven.apache.org/POM/4.0.0\">{text}</project>");
    let spring = "<build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>";
    let own = "<!-- <artifactId>no</artifactId> --><artifactId>own</artifactId>";
    let parent = "<parent><artifactId>p</artifactId><version>9</version></parent>";
    for (text, name) in [
        (format!("{parent}{own}<version>1.2</version>{spring}"), "own-1.2.jar"),
        (format!("{spring}{parent}{own}"), "own-9.jar"),
        (
            format!(
                "{parent}{own}<version>${{revision}}</version>{spring}<properties><revision>2.${{minor}}</revision><minor>4</minor></properties>"
            ),
            "own-2.4.jar",
        ),
        (format!("{own}<version>1</version><packaging>war</packaging>{spring}"), "own-1.war"),
        (
            format!(
                "{own}<version>1</version><build><finalName>a-${{project.version}}</finalName><plugins><plugin>\
                 <artifactId>maven-shade-plugin</artifactId><dependencies><dependency><artifactId>d</artifactId>\
                 </dependency></dependencies><mainClass>M</mainClass></plugin></plugins></build>"
            ),
            "a-1.jar",
        ),
    ] {
        let command = format!("{JAVA} target/{name}");
        assert_known(&[("pom.xml", &pom(&text))], "Maven", Some("mvn -q -B package -DskipTests"), &command);
    }
    for (text, says) in [
        (format!("{own}<version>${{revision}}</version>{spring}"), "it has no value for ${revision}"),
        (format!("{own}<version>1</version><packaging>war</packaging>"), "its packaging is war"),
        (format!("{own}<version>1</version><modules/><packaging>pom</packaging>{spring}"), "its packaging is pom"),
        (format!("{own}<version>1</version>"), "makes no program that java -jar starts"),
    ] {
        assert_doubted(&[("pom.xml", &pom(&text))], says);
    }
    let above = pom("<packaging>pom</packaging><modules><module>core</module><module>web</module></modules>");
    let modules = [("pom.xml", &above[..]), ("mvnw", ""), ("web/pom.xml", &pom(&format!("{parent}{own}{spring}")))];
    assert_doubted(&modules, "its sub-projects have programs: give one of these folders to tare init: web");
    let web = detected_in("web", &modules).unwrap().unwrap();
    assert_eq!(web.build.as_deref(), Some("../mvnw -q -B -f .. -pl web -am package -DskipTests"));
}

#[test]
fn sbt_names_its_program_as_native_packager_does() {
    let plugins = ("project/plugins.sbt", "addSbtPlugin(\"com.github.sbt\" % \"sbt-native-packager\" % \"1.11.4\")\n");
    let packaged = "enablePlugins(JavaAppPackaging)";
    for (text, name) in [
        (format!("// name := \"old\"\nname := \"My App\"\n{packaged}\n"), "my-app"),
        (
            format!(
                "lazy val root = (project in file(\".\")).{packaged}.settings(organizationName := \"O\", name := \"My App\")"
            ),
            "my-app",
        ),
        (format!("lazy val own = project.in(file(\".\")).{packaged}"), "own"),
        (packaged.to_owned(), "demo"),
    ] {
        let program = format!("target/universal/stage/bin/{name}");
        assert_known(&[("build.sbt", &text), plugins], "sbt", Some("sbt stage"), &program);
    }
    let several = format!("lazy val a = project.{packaged}\nlazy val b = project\n");
    assert_doubted(&[("build.sbt", &several), plugins], "several projects: a, b");
    assert_doubted(&[("build.sbt", "name := \"My App\"\n")], "sbt-native-packager is not in project/*.sbt");
}

#[test]
fn dotnet_names_its_assembly() {
    let build = Some("dotnet publish Own.csproj -c Release -o bin/published");
    let web = |inside: &str| {
        format!("<Project Sdk=\"Microsoft.NET.Sdk.Web\"><PropertyGroup>{inside}</PropertyGroup></Project>")
    };
    assert_known(&[("Own.csproj", &web(""))], ".NET", build, "dotnet bin/published/Own.dll");
    let named = web("<AssemblyName>Other</AssemblyName>");
    assert_known(&[("Own.csproj", &named), ("Own.sln", "")], ".NET", build, "dotnet bin/published/Other.dll");
    assert_doubted(&[("Own.csproj", &web("<AssemblyName>$(Prefix).A</AssemblyName>"))], "$(Prefix).A");
    assert_doubted(&[("Own.csproj", "<Project Sdk=\"Microsoft.NET.Sdk\"/>")], "makes a library");
    assert_doubted(&[("A.csproj", &named), ("B.csproj", &named)], "several projects: A.csproj, B.csproj");
}

#[test]
fn python_installs_what_the_project_needs() {
    let installed = |what: &str| format!("python3 -m venv .venv && .venv/bin/pip install --quiet {what}");
    let listed = "[project]\nname = \"x\"\ndependencies = [\"flask>=3\"]\n";
    let packaged = format!("{listed}[build-system]\nrequires = []\n");
    for (files, build) in [
        (&[("requirements.txt", "")][..], Some(installed("-r requirements.txt"))),
        (&[("pyproject.toml", listed)], Some(installed("'flask>=3'"))),
        (&[("pyproject.toml", &packaged[..])], Some(installed("-e ."))),
        (&[("pyproject.toml", listed), ("uv.lock", "")], Some("uv sync --quiet --frozen".to_owned())),
        (&[("pyproject.toml", "")], None),
    ] {
        let python = if build.is_some() { ".venv/bin/python" } else { "python3" };
        assert_known(&[files, &[("main.py", "")]].concat(), "Python", build.as_deref(), &format!("{python} main.py"));
    }
    for files in [&[][..], &[("a.py", "app = FastAPI()\n"), ("b.py", "app = Flask(__name__)\n")]] {
        assert_doubted(&[&[("pyproject.toml", "")], files].concat(), "there is no app.py, main.py");
    }
}

#[test]
fn python_puts_a_server_around_an_application() {
    let needs = |what| ("requirements.txt", what);
    for (files, arguments) in [
        (
            [needs("fastapi\nuvicorn\n"), ("main.py", "from fastapi import FastAPI\napi = FastAPI()\n")],
            "-m uvicorn main:api --host 127.0.0.1 --port {port} --no-access-log --timeout-keep-alive 300",
        ),
        (
            [needs("fastapi[standard]\n"), ("app.py", "app: A = fastapi.FastAPI(\n)\n")],
            "-m uvicorn app:app --host 127.0.0.1 --port {port} --no-access-log --timeout-keep-alive 300",
        ),
        ([needs("uvicorn"), ("app.py", "app = Starlette()\nif __name__ == '__main__':\n    x()\n")], "app.py"),
        ([needs("flask\n"), ("app.py", "web = Flask(__name__)\n")], "-m flask --app app:web run --port {port}"),
        ([needs("Django\n"), ("manage.py", "import sys\n")], "manage.py runserver --noreload 127.0.0.1:{port}"),
    ] {
        assert_eq!(project_of(&files).command.unwrap().join(" "), format!(".venv/bin/python {arguments}"));
    }
    assert_doubted(&[needs("fastapi\n"), ("main.py", "app = FastAPI()\n")], "uvicorn is neither in the packages");
    let installed = [needs("fastapi\n"), ("main.py", "app = FastAPI()\n"), (".venv/bin/uvicorn", "")];
    assert!(project_of(&installed).command.unwrap().join(" ").starts_with(".venv/bin/python -m uvicorn main:app"));
}

#[test]
fn python_finds_applications_in_packages_and_factories() {
    let fastapi = ("requirements.txt", "fastapi[standard]\n");
    let app = "from fastapi import FastAPI\napp = FastAPI()\n";
    let uvicorn = |rest: &str| format!("-m uvicorn {rest}");
    let on = "--host 127.0.0.1 --port {port} --no-access-log --timeout-keep-alive 300";
    for (files, arguments) in [
        ([fastapi, ("app/main.py", app)], uvicorn(&format!("app.main:app {on}"))),
        ([fastapi, ("src/shop/main.py", app)], uvicorn(&format!("shop.main:app {on} --app-dir src"))),
        ([fastapi, ("shop/__init__.py", app)], uvicorn(&format!("shop:app {on}"))),
        ([fastapi, ("shop.py", app)], uvicorn(&format!("shop:app {on}"))),
        (
            [fastapi, ("main.py", "def create_app():\n    return FastAPI()\n")],
            uvicorn(&format!("main:create_app {on} --factory")),
        ),
        ([fastapi, ("asgi.py", "app = create_app()\n")], uvicorn(&format!("asgi:app {on}"))),
        (
            [("requirements.txt", "flask\n"), ("wsgi.py", "app = create_app()\n")],
            "-m flask --app wsgi:app run --port {port}".to_owned(),
        ),
        (
            [
                ("requirements.txt", "flask\n"),
                ("src/shop/app.py", "def create_app(x=1):\n    return Flask(__name__)\n"),
            ],
            "-m flask --app src/shop.app:create_app() run --port {port}".to_owned(),
        ),
        (
            [("requirements.txt", "django\n"), ("mysite/manage.py", "")],
            "mysite/manage.py runserver --noreload 127.0.0.1:{port}".to_owned(),
        ),
    ] {
        assert_eq!(project_of(&files).command.unwrap().join(" "), format!(".venv/bin/python {arguments}"));
    }
    let by_hand = [("app.py", "import x\n"), (".venv/bin/python", "")];
    assert_known(&by_hand, "Python", None, ".venv/bin/python app.py");
}

#[test]
fn python_uses_an_environment_that_was_made_by_hand() {
    let parent = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = parent.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let activated = parent.path().join("environments/shop");
    let project = |activated: Option<&Path>| python(&parent.path().join("shop"), activated).unwrap().unwrap();
    write("shop/main.py", "app = FastAPI()\n");
    write("environments/shop/bin/uvicorn", "");
    let uvicorn = "-m uvicorn main:app --host 127.0.0.1 --port {port} --no-access-log --timeout-keep-alive 300";
    assert_eq!(project(Some(&activated)).command.unwrap().join(" "), format!("python3 {uvicorn}"));
    let doubt = project(None).command.unwrap_err();
    assert!(doubt.ends_with("list it, or activate the environment that has it"), "{doubt}");
    // The build makes an environment of its own, from the list.
    write("shop/requirements.txt", "fastapi\n");
    let doubt = project(Some(&activated)).command.unwrap_err();
    assert!(doubt.ends_with("nor in its environment; list it"), "{doubt}");
    std::fs::remove_file(parent.path().join("shop/requirements.txt")).unwrap();
    ["shop/venv/bin/python", "shop/venv/bin/uvicorn"].into_iter().for_each(|file| write(file, ""));
    assert_eq!(project(None).command.unwrap().join(" "), format!("venv/bin/python {uvicorn}"));
}

#[test]
fn a_file_that_cannot_be_parsed_is_named_with_its_line() {
    for (file, text, says) in [
        ("Cargo.toml", "[package]\nname = \n", "Cargo.toml:2: "),
        ("package.json", "{\n\"scripts\":", "package.json:2: EOF while parsing"),
        ("pom.xml", "<project>\n</build>", "pom.xml:2: "),
        ("Own.csproj", "", "Own.csproj:1: "),
        ("pyproject.toml", "[project]\nname = \n", "pyproject.toml:2: "),
    ] {
        let error = detected_in("", &[(file, text), ("app.py", "")]).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_folder_without_such_a_file_has_no_project() {
    assert_eq!(detected_in("", &[("README.md", "")]).unwrap(), None);
}
