//! From a manifest to a command line: the Java, its options and classes, or a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_plan::plan::{CommandServer, jvm_words};
use tare_sys::child::{How, Program, run_to_end};

use crate::SutError;
use crate::catalog::{Built, Catalog, Manifest, Target};
use crate::jdk::Jdk;
use crate::server::{ADDRESS, Fillings, PORT, ServerSpec};

/// The Java release that introduced the warnings which the catalog's `options_java_24` silence.
const WARNS_FROM: u32 = 24;

/// How the lines begin that a JVM adds to each of its complaints.
const SAYS_NOTHING: [&str; 2] =
    ["Error: Could not create the Java Virtual Machine", "Error: A fatal exception has occurred"];

/// A JVM refuses an option sooner than this. Its agents may take longer to start, and are then not waited for.
const OPTIONS_TIMEOUT: Duration = Duration::from_secs(10);

/// The port of a JVM that only reads its options: one that is free.
const ANY_PORT: u16 = 0;

/// Placeholder of the number of processors in the command of a program.
const CPUS: &str = "{cpus}";

/// JVM settings, the same for all servers of a plan.
#[derive(Debug, Clone, Copy)]
pub struct JvmSettings<'a> {
    pub options: &'a [String],
    /// The number of processors that the JVM should use. A program without a JVM gets it too.
    pub processors: u32,
    /// The Java of the servers' machine that was found for those that run on one.
    pub java: Option<&'a Jdk>,
}

/// What is started, and what the record says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFacts {
    /// Program and arguments; those of a server contain `{port}`. Of one that runs already, its address.
    pub command: Vec<String>,
    /// The resolved versions of the important libraries.
    pub resolved: BTreeMap<String, String>,
}

impl Catalog {
    /// The command line of a server whose target has been built. Its only argument is the port.
    pub fn server_launch(&self, server: &str, target: &Target, jvm: JvmSettings<'_>) -> Result<ProgramFacts, SutError> {
        let mut plan = self.program_launch(server, target, jvm)?;
        plan.command.push(PORT.to_owned());
        Ok(plan)
    }

    /// The command line of any program of a built target, without its arguments. An error says what is missing.
    pub fn program_launch(
        &self,
        server: &str,
        target: &Target,
        jvm: JvmSettings<'_>,
    ) -> Result<ProgramFacts, SutError> {
        let wrong = SutError::Other;
        let manifest = match self.build_result(target)? {
            Built::Manifest(manifest) => manifest,
            Built::Nothing => return Err(wrong(format!("{target} has not been built; run servers/build {target}"))),
            Built::Unavailable(why) => return Err(wrong(format!("{server} is not available: {}", why.reason))),
        };
        if let Some(gone) = manifest.missing_file() {
            return Err(wrong(format!("{target}: {} is gone; run servers/build {target}", gone.display())));
        }
        let command = match manifest.java_release {
            None => {
                let processors = jvm.processors.to_string();
                let words = manifest.command.iter().map(|word| word.replace(CPUS, &processors));
                words.chain([server.to_owned()]).collect()
            }
            Some(release) => {
                let minimum = self.min_java(&target.family)?.max(release);
                let java =
                    jvm.java.ok_or_else(|| wrong(format!("{target} runs on a JVM; give its family min_java")))?;
                if java.major < minimum {
                    return Err(java.too_old_for(minimum, "the JDK of the servers' machine"));
                }
                self.java_command(server, target, &manifest, java, jvm)?
            }
        };
        Ok(ProgramFacts { command, resolved: manifest.resolved })
    }

    fn java_command(
        &self,
        server: &str,
        target: &Target,
        manifest: &Manifest,
        java: &Jdk,
        jvm: JvmSettings<'_>,
    ) -> Result<Vec<String>, SutError> {
        let unknown = format!("{target} has no server \"{server}\": its version of the library cannot have it");
        let main = manifest.main_class(server).ok_or(SutError::Other(unknown))?;
        let mut command = vec![java.java_program().display().to_string()];
        command.extend(self.options(java, jvm));
        let class_path: Vec<String> = manifest.classpath.iter().map(|path| path.display().to_string()).collect();
        command.extend(["-cp".to_owned(), class_path.join(":"), main.to_owned()]);
        Ok(command)
    }

    fn options(&self, java: &Jdk, jvm: JvmSettings<'_>) -> Vec<String> {
        let mut options = jvm.options.to_vec();
        if java.major >= WARNS_FROM {
            let silencing = &self.file.jvm.options_java_24;
            options.extend(silencing.iter().filter(|option| !jvm.options.contains(option)).cloned());
        }
        // An explicit option of the user wins.
        if !options.iter().any(|option| option.starts_with("-XX:ActiveProcessorCount=")) {
            options.push(format!("-XX:ActiveProcessorCount={}", jvm.processors));
        }
        options
    }
}

/// Lets a JVM read the options of a command, and nothing else. A wrong one is named once, before anything is measured.
pub fn check_jvm_options(server: &str, command: &CommandServer) -> Result<(), SutError> {
    check_within(server, command, OPTIONS_TIMEOUT)
}

fn check_within(server: &str, command: &CommandServer, timeout: Duration) -> Result<(), SutError> {
    let Some((at, end)) = jvm_words(&command.command) else { return Ok(()) };
    // It would fill the whole heap.
    let is_quick = |option: &&String| *option != "-XX:+AlwaysPreTouch";
    let words = command.command[..end].iter().filter(is_quick).cloned().collect();
    let (env, files) = (command.env.clone(), command.files.clone());
    let spec = ServerSpec { command: words, env, files, ..ServerSpec::default() };
    let fillings = Fillings::prepare(&spec, Some(ANY_PORT), None)?;
    let fill = |text: &String| fillings.fill(text).replace(ADDRESS, "127.0.0.1");
    let words = spec.command[1..].iter().map(fill).chain(["-version".to_owned()]);
    let mut program = Program::new(fill(&spec.command[0])).args(words);
    program.directory = command.cwd.as_ref().map(PathBuf::from);
    program.env.extend(spec.env.iter().map(|(name, value)| (name.into(), fill(value).into())));
    let said = match run_to_end(program, timeout, &AtomicBool::new(false)) {
        // After the timeout the JVM has taken its options, and waits for an agent.
        Ok((None | Some(How::Code(0)), _)) => return Ok(()),
        Ok((Some(how), said)) if said.trim().is_empty() => how.to_string(),
        Ok((_, said)) => said,
        Err(error) => error.to_string(),
    };
    let lines: Vec<&str> =
        said.trim().lines().filter(|line| !SAYS_NOTHING.iter().any(|start| line.starts_with(start))).collect();
    let (java, said) = (&command.command[at], lines.join("; "));
    let message = match command.java.is_some() && !Path::new(java).exists() {
        true => format!("[servers.{server}] java: {said}"),
        false => format!("[servers.{server}] jvm_options: {java} says: {said}"),
    };
    Err(SutError::Other(message))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tool::tests::write_program;

    /// A servers' folder with one family, and a JDK in the same place.
    fn folder(java: &str, classpath_entries: usize) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for directory in ["target/manifests", "jdk/bin"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        fs::write(at("jdk/bin/java"), "").unwrap();
        fs::write(at("jdk/release"), format!("JAVA_VERSION=\"{java}\"\n")).unwrap();
        fs::write(at("a.jar"), "").unwrap();
        let catalog = "schema = 1\n[jvm]\noptions = [\"-Xmx1g\"]\noptions_java_24 = [\"--quiet\"]\n[families.f]\n\
            title = \"F\"\ndefault_version = \"1\"\nmin_java = 17\n\
            [[families.f.servers]]\nname = \"f.Tapir\"\nroutes = 1\nkind = \"tapir\"\n";
        fs::write(at("catalog.toml"), catalog).unwrap();
        let jars = vec![format!("\"{}\"", at("a.jar").display()); classpath_entries].join(",");
        let manifest = format!(
            r#"{{"schema": 1, "family": "f", "version": "1", "sources_sha256": "00", "java_release": 17,
            "resolved": {{"tapir": "1"}}, "classpath": [{jars}],
            "servers": [{{"name": "f.Tapir", "main": "tare.Main"}}]}}"#
        );
        fs::write(at("target/manifests/f@1.json"), manifest).unwrap();
        root
    }

    fn launch(root: &Path, options: &[String]) -> Result<ProgramFacts, SutError> {
        let catalog = Catalog::load(root)?;
        let java = Jdk::from_home(&root.join("jdk"));
        let target = catalog.resolve_target("f.Tapir", None)?;
        catalog.server_launch("f.Tapir", &target, JvmSettings { options, processors: 1, java: java.as_ref() })
    }

    #[test]
    fn the_command_line_has_java_options_classes_and_port() {
        let root = folder("25.0.1", 1);
        let plan = launch(root.path(), &["-Xmx1g".to_owned()]).unwrap();
        let jar = root.path().join("a.jar").display().to_string();
        let expected = ["-Xmx1g", "--quiet", "-XX:ActiveProcessorCount=1", "-cp", &jar, "tare.Main", "{port}"];
        assert_eq!(plan.command[1..], expected);
        assert!(plan.command[0].ends_with("jdk/bin/java") && plan.resolved["tapir"] == "1");
    }

    #[test]
    fn an_older_java_gets_no_newer_options_and_a_given_processor_count_is_kept() {
        let root = folder("17.0.1", 1);
        let plan = launch(root.path(), &["-XX:ActiveProcessorCount=3".to_owned()]).unwrap();
        assert_eq!(plan.command[1..3], ["-XX:ActiveProcessorCount=3", "-cp"]);
        assert!(launch(folder("11", 1).path(), &[]).unwrap_err().to_string().contains("Java 17 or later"));
    }

    #[test]
    fn a_program_gets_its_processors_its_server_and_its_port() {
        let root = folder("21", 1);
        let program = root.path().join("a.jar").display().to_string();
        let manifest = format!(
            r#"{{"schema": 1, "family": "f", "version": "1", "sources_sha256": "00", "resolved": {{"axum": "1"}},
            "command": ["{program}", "--threads", "{{cpus}}"]}}"#
        );
        fs::write(root.path().join("target/manifests/f@1.json"), manifest).unwrap();
        let plan = launch(root.path(), &["-Xmx1g".to_owned()]).unwrap();
        assert_eq!(plan.command, [&program, "--threads", "1", "f.Tapir", "{port}"]);
    }

    #[test]
    fn a_wrong_option_is_refused_in_the_words_of_the_jvm() {
        let root = tempfile::tempdir().unwrap();
        let java = root.path().join("java");
        let script = "#!/bin/sh\ncase \"$*\" in *Touch*) exit 9;; *UseZZGC*) echo \"Unrecognized VM option 'UseZZGC'\" >&2\n\
            echo 'Error: Could not create the Java Virtual Machine.' >&2; exit 1;; esac\n";
        write_program(&java, script);
        let check = |options: &str| {
            let words = format!("{} {options} -jar a.jar", java.display());
            let command = words.split_whitespace().map(str::to_owned).collect();
            check_jvm_options("zgc", &CommandServer { command, ..CommandServer::default() })
        };
        check("-XX:+UseZGC -XX:+AlwaysPreTouch").unwrap();
        let error = check("-XX:+UseZZGC").unwrap_err().to_string();
        assert!(
            error.starts_with("[servers.zgc] jvm_options: ")
                && error.ends_with("says: Unrecognized VM option 'UseZZGC'"),
            "{error}"
        );
        assert!(
            check_jvm_options("x", &CommandServer { command: vec!["./run".into()], ..CommandServer::default() })
                .is_ok()
        );
    }

    #[test]
    fn what_only_a_start_fills_in_is_no_wrong_option() {
        let root = tempfile::tempdir().unwrap();
        let java = root.path().join("java");
        let script = "#!/bin/sh\n[ \"$*\" = '-Da=127.0.0.1:0 -version' ] && [ \"$(cat $FLAGS)\" = +UseZGC ]\n";
        write_program(&java, script);
        let command = vec![java.display().to_string(), "-Da={address}:{port}".into(), "-jar".into(), "a.jar".into()];
        let own = |name: &str, text: &str| [(name.to_owned(), text.to_owned())].into();
        let (files, env) = (own("flags", "+UseZGC"), own("FLAGS", "{files}/flags"));
        check_jvm_options("zgc", &CommandServer { command, files, env, ..CommandServer::default() }).unwrap();
    }

    #[test]
    fn an_agent_that_starts_slowly_is_no_wrong_option_and_a_jdk_that_is_not_there_is_named() {
        let root = tempfile::tempdir().unwrap();
        let java = root.path().join("java");
        write_program(&java, "#!/bin/sh\nexec sleep 1000\n");
        let command = vec![java.display().to_string(), "-javaagent:slow.jar".into(), "-jar".into(), "a.jar".into()];
        let server = CommandServer { command, java: Some("a home".into()), ..CommandServer::default() };
        check_within("agent", &server, Duration::from_millis(50)).unwrap();
        fs::remove_file(&java).unwrap();
        let error = check_jvm_options("agent", &server).unwrap_err().to_string();
        assert!(error.starts_with("[servers.agent] java: command not found: "), "{error}");
    }

    #[test]
    fn a_command_has_its_whole_class_path_so_that_all_files_can_be_sent_and_compared() {
        let plan = launch(folder("21", 5000).path(), &[]).unwrap();
        let at = plan.command.iter().position(|word| word == "-cp").unwrap();
        assert_eq!(plan.command[at + 1].split(':').count(), 5000);
    }

    #[test]
    fn a_server_that_cannot_be_launched_has_a_reason() {
        let root = folder("21", 1);
        fs::remove_file(root.path().join("a.jar")).unwrap();
        assert!(launch(root.path(), &[]).unwrap_err().to_string().contains("is gone; run servers/build f@1"));
        let catalog = Catalog::load(root.path()).unwrap();
        let other = Target { family: "f".into(), version: "2".into() };
        let jvm = JvmSettings { options: &[], processors: 1, java: None };
        assert!(catalog.server_launch("f.Tapir", &other, jvm).unwrap_err().to_string().contains("has not been built"));
    }
}
