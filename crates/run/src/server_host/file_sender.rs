//! Sends the files that a command line names to the machine of the servers, and replaces their paths by those on that machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tare_plan::PlanError;
use tare_plan::plan::jvm_words;
use tare_sut::server::CLASS_PATH_OPTIONS;

use super::ServerMachine;
use crate::error::RunError;

/// System folders. The other machine has its own files in them.
const SYSTEM_FOLDERS: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"];

/// The options of Java before the file of an agent, whose own options follow it: `-javaagent:a.jar=port=1`.
const AGENT_OPTIONS: [&str; 2] = ["-javaagent:", "-agentpath:"];

/// Sends files to a machine, each of them once.
pub(crate) struct FileSender<'a> {
    host: &'a dyn ServerMachine,
    progress: &'a mut dyn FnMut(&str),
    sent: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> FileSender<'a> {
    pub fn new(host: &'a dyn ServerMachine, progress: &'a mut dyn FnMut(&str)) -> Self {
        Self { host, progress, sent: BTreeMap::new() }
    }

    /// Sends a file or a folder unless the machine has it. Returns its path there.
    pub fn send(&mut self, path: &Path) -> Result<PathBuf, RunError> {
        if let Some(there) = self.sent.get(path) {
            return Ok(there.clone());
        }
        (self.progress)(&format!("looking whether {} is on {}", path.display(), self.host));
        let there = self.host.send_if_missing(path)?;
        self.sent.insert(path.to_owned(), there.clone());
        Ok(there)
    }

    /// Sends the files of a command line, and returns the command line for the other machine. Relative paths start at
    /// `directory`. A command with an argument file of Java is refused.
    pub fn send_command(&mut self, command: &[String], directory: Option<&Path>) -> Result<Vec<String>, RunError> {
        let java = jvm_words(command).map_or(command.len(), |(at, _)| at);
        let mut there = Vec::with_capacity(command.len());
        for (at, word) in command.iter().enumerate() {
            if at > java && argument_file(word, directory).is_some() {
                let message = format!(
                    "the paths in the argument file {word} are those of this machine; write its words into the command"
                );
                return Err(PlanError::value(format!("--server-host {}", self.host), message).into());
            }
            let is_class_path = at > 0 && CLASS_PATH_OPTIONS.contains(&command[at - 1].as_str());
            let parts: Vec<&str> = if is_class_path { word.split(':').collect() } else { vec![word] };
            let mut sent = Vec::with_capacity(parts.len());
            for part in parts {
                let (before, (path, behind)) =
                    if is_class_path { ("", split_all_jars(part)) } else { split_agent(part) };
                sent.push(match file_to_send(at, path, directory, is_class_path) {
                    Some(file) => format!("{before}{}{behind}", self.send(&file)?.display()),
                    None => part.to_owned(),
                });
            }
            there.push(sent.join(":"));
        }
        Ok(there)
    }
}

/// The file with more words that a word behind `java` names, `@app.args`.
pub(crate) fn argument_file(word: &str, directory: Option<&Path>) -> Option<PathBuf> {
    let file = directory.unwrap_or(Path::new("")).join(word.strip_prefix('@')?);
    file.is_file().then_some(file)
}

/// A part of a class path: its file or folder, and the `/*` that stands for all jars in a folder.
pub(crate) fn split_all_jars(part: &str) -> (&str, &str) {
    part.strip_suffix("/*").map_or((part, ""), |folder| (folder, "/*"))
}

/// The option of a Java agent: what stands before its file, the file, and the options of the agent. Any other word is all file.
pub(crate) fn split_agent(word: &str) -> (&str, (&str, &str)) {
    let of_option = |option: &&'static str| Some((*option, word.strip_prefix(option)?));
    let Some((option, agent)) = AGENT_OPTIONS.iter().find_map(of_option) else { return ("", (word, "")) };
    (option, agent.split_at(agent.find('=').unwrap_or(agent.len())))
}

/// The file that a word of a command line names, if it is sent. Folders are sent only as parts of a class path.
/// Programs without a slash are looked up there, and so is Java, also behind a program that starts it (`taskset`).
fn file_to_send(at: usize, word: &str, directory: Option<&Path>, is_class_path: bool) -> Option<PathBuf> {
    if word.is_empty() || at == 0 && !word.contains('/') || !is_class_path && word.ends_with("/java") {
        return None;
    }
    let path = directory.map_or_else(|| PathBuf::from(word), |directory| directory.join(word));
    let path = std::path::absolute(path).ok()?;
    let is_sent = path.is_file() || is_class_path && path.is_dir();
    let is_of_system = SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder));
    (is_sent && !is_of_system).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::ServersElsewhere;

    #[test]
    fn an_agent_of_java_is_sent_and_an_argument_file_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["app.args", "probe.jar", "libprobe.so"] {
            std::fs::write(folder.path().join(file), "x").unwrap();
        }
        let elsewhere = ServersElsewhere { is_another_machine: true };
        let mut progress = |_: &str| ();
        let mut sent = |command: &str| {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let there = FileSender::new(&elsewhere, &mut progress).send_command(&words, Some(folder.path()));
            there.map(|words| words.join(" ")).map_err(|error| error.to_string())
        };
        let refused = sent("java -Xmx1g @app.args Main").unwrap_err();
        assert!(refused.starts_with("--server-host ") && refused.contains("file @app.args are those"), "{refused}");
        assert_eq!(sent("java -javaagent:probe.jar Main").unwrap(), "java -javaagent:/there/probe.jar Main");
        assert_eq!(sent("java -javaagent:probe.jar=a=b Main").unwrap(), "java -javaagent:/there/probe.jar=a=b Main");
        assert_eq!(sent("java -agentpath:libprobe.so=x Main").unwrap(), "java -agentpath:/there/libprobe.so=x Main");
        for other in ["java -javaagent:no.jar=x @no.args Main", "curl -d @app.args"] {
            assert_eq!(sent(other).as_deref(), Ok(other));
        }
    }

    #[test]
    fn all_jars_of_a_folder_are_a_part_of_a_class_path() {
        assert_eq!(["lib/*", "lib", "a.jar"].map(split_all_jars), [("lib", "/*"), ("lib", ""), ("a.jar", "")]);
    }

    #[test]
    fn files_of_a_command_are_sent_and_the_systems_are_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("classes")).unwrap();
        for file in ["serve.sh", "a.jar", "java"] {
            std::fs::write(folder.path().join(file), "x").unwrap();
        }
        let own_java = folder.path().join("java").display().to_string();
        let sent = |at, word: &str, is_class_path| {
            let file = file_to_send(at, word, Some(folder.path()), is_class_path);
            file.map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string())
        };
        for (at, word, is_class_path, expected) in [
            (0, "./serve.sh", false, Some("serve.sh")),
            (1, "serve.sh", false, Some("serve.sh")),
            (0, "serve.sh", false, None),
            (0, &own_java, false, None),
            (3, &own_java, false, None),
            (0, "/bin/sh", false, None),
            (1, "--port", false, None),
            (1, "{port}", false, None),
            (2, "a.jar", true, Some("a.jar")),
            (2, "classes", true, Some("classes")),
            (2, "classes", false, None),
            (2, "", true, None),
        ] {
            assert_eq!(sent(at, word, is_class_path).as_deref(), expected, "{at} {word}");
        }
    }
}
