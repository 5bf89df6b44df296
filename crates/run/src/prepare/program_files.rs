//! The files of the programs that a run starts. A run that is resumed must start the same ones.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tare_plan::plan::{CommandServer, jvm_words};
use tare_sut::probe::hiccup::inside;
use tare_sut::probe::jvm::stops;
use tare_sut::server::CLASS_PATH_OPTIONS;

use crate::server_host::{argument_file, split_agent, split_all_jars};

/// What the names of scripts and of compiled code end in. Other files of a command line may be data, which servers write.
const ENDINGS: [&str; 13] =
    [".jar", ".class", ".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".sh", ".php", ".pl", ".dll", ".exs"];

/// The files of a server's command line, and of the options that its environment has for a JVM.
pub(crate) fn files_of_server(server: &CommandServer) -> BTreeMap<String, String> {
    let directory = server.cwd.as_deref().map(Path::new);
    let options = [inside::VARIABLE, stops::VARIABLE].into_iter().filter_map(|variable| server.env.get(variable));
    let of_java = options.map(|options| [vec!["java".to_owned()], java_words(options)].concat());
    let commands = std::iter::once(server.command.clone()).chain(of_java);
    commands.flat_map(|command| program_files(&command, directory)).collect()
}

/// The programs of a command line (scripts, agents, class paths, Java's argument files with what they name, too), each
/// with size and time of change. Relative paths count from `directory`.
pub(crate) fn program_files(command: &[String], directory: Option<&Path>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let words = with_argument_files(command, directory, &mut files);
    let follows_class_path = |at: usize| at > 0 && CLASS_PATH_OPTIONS.contains(&words[at - 1].as_str());
    for (at, word) in words.iter().enumerate() {
        let (_, (word, _)) = split_agent(word);
        for path in word.split(':').filter(|path| !path.is_empty()) {
            let path = if follows_class_path(at) { split_all_jars(path).0 } else { path };
            let path = directory.map_or_else(|| PathBuf::from(path), |directory| directory.join(path));
            let is_program = at == 0 || ENDINGS.iter().any(|ending| word.ends_with(ending)) || is_executable(&path);
            if is_program || follows_class_path(at) {
                note(&path, follows_class_path(at), &mut files);
            }
        }
    }
    files
}

/// The command with the words of its argument files in their places. The files are noted.
fn with_argument_files(
    command: &[String],
    directory: Option<&Path>,
    files: &mut BTreeMap<String, String>,
) -> Vec<String> {
    let java = jvm_words(command).map_or(command.len(), |(at, _)| at);
    let mut words = Vec::new();
    for (at, word) in command.iter().enumerate() {
        let Some(file) = argument_file(word, directory).filter(|_| at > java) else {
            words.push(word.clone());
            continue;
        };
        note(&file, false, files);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        words.extend(java_words(&text));
    }
    words
}

/// The words of an argument file of Java, or of a variable with its options, quoted as in a shell. In Java, a quote that
/// is left open ends with its line: then only that line is left out.
fn java_words(text: &str) -> Vec<String> {
    // A blank for Java, and none for a shell: it ends lines that were written on Windows.
    let text = text.replace('\r', " ");
    let of_lines = |_| text.lines().flat_map(shell_words::split).flatten().collect();
    shell_words::split(&text).unwrap_or_else(of_lines)
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

/// Notes a file; of a class path also what is in its folders.
fn note(path: &Path, with_folders: bool, files: &mut BTreeMap<String, String>) {
    let Ok(found) = path.metadata() else { return };
    if found.is_file() {
        files.insert(path.display().to_string(), state(&found));
    } else if with_folders && let Ok(entries) = path.read_dir() {
        entries.flatten().for_each(|entry| note(&entry.path(), true, files));
    }
}

/// `4096 bytes of 1795370000.5`: size, and time of change in seconds since 1970 UTC.
fn state(file: &Metadata) -> String {
    format!("{} bytes of {}.{:09}", file.len(), file.mtime(), file.mtime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_scripts_and_class_paths_are_noted_and_data_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        ["serve.sh", "lib/a.jar", "my lib/b.jar", "classes/pkg/A.class", "rows.csv"].into_iter().for_each(write);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let files = |text: &str| {
            let names = program_files(&words(text), Some(folder.path())).into_keys();
            names.map(|name| name.rsplit('/').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(files("sh serve.sh {port} rows.csv"), ["serve.sh"]);
        for option in CLASS_PATH_OPTIONS {
            assert_eq!(files(&format!("java {option} lib/a.jar:classes Main")), ["A.class", "a.jar"], "{option}");
        }
        assert_eq!(files("java -cp lib/* Main"), ["a.jar"]);
        for agent in ["-javaagent:lib/a.jar", "-javaagent:lib/a.jar=port=1:2"] {
            assert_eq!(files(&format!("java {agent} Main")), ["a.jar"], "{agent}");
        }
        let arguments = folder.path().join("app.args");
        std::fs::write(&arguments, "-cp\n\"lib/a.jar:classes\" -javaagent:serve.sh\n").unwrap();
        assert_eq!(files("java @app.args Main"), ["app.args", "A.class", "a.jar", "serve.sh"]);
        assert_eq!(files("sh serve.sh @app.args"), ["serve.sh"], "it may be data");
        std::fs::write(&arguments, "-cp\r\nlib/a.jar:classes\r\n-javaagent:serve.sh\r\n").unwrap();
        assert_eq!(files("java @app.args Main"), ["app.args", "A.class", "a.jar", "serve.sh"], "written on Windows");
        std::fs::write(&arguments, "# a user's own\n-cp \"my lib/b.jar:classes\" -javaagent:'lib/a.jar'=x\n").unwrap();
        assert_eq!(files("java @app.args Main"), ["app.args", "A.class", "a.jar", "b.jar"], "a blank in quotes");
        std::fs::write(&arguments, "-Dgreeting=it's\n-cp lib/a.jar\n").unwrap();
        assert_eq!(files("java @app.args Main"), ["app.args", "a.jar"], "a quote that is left open");
        let before = program_files(&words("sh serve.sh"), Some(folder.path()));
        std::fs::write(folder.path().join("serve.sh"), "longer").unwrap();
        assert_ne!(program_files(&words("sh serve.sh"), Some(folder.path())), before);
    }

    #[test]
    fn what_the_environment_adds_to_a_jvm_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["serve.sh", "agent.jar", "a.args", "b.jar", "data.jar"] {
            std::fs::write(folder.path().join(file), "-cp b.jar").unwrap();
        }
        let env = [
            ("JAVA_TOOL_OPTIONS", "-Xmx1g -javaagent:agent.jar=port=1"),
            ("JDK_JAVA_OPTIONS", "@a.args"),
            ("DATA", "data.jar"),
        ];
        let server = CommandServer {
            command: vec!["./serve.sh".to_owned()],
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            cwd: Some(folder.path().display().to_string()),
            ..CommandServer::default()
        };
        let names = files_of_server(&server).into_keys();
        let names: Vec<String> = names.map(|name| name.rsplit('/').next().unwrap().to_owned()).collect();
        assert_eq!(names, ["serve.sh", "a.args", "agent.jar", "b.jar"]);
    }
}
