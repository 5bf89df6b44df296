//! A server that is like another one, with another Java, other options, variables or arguments.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a server of a suite changes of the one that it is like.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Changes {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub java: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jvm_options: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
}

impl Changes {
    #[must_use]
    pub fn after(self, earlier: Self) -> Self {
        let Self { java, jvm_options, env, args } = self;
        Self {
            java: java.or(earlier.java),
            jvm_options: merged_options(&earlier.jvm_options, &jvm_options),
            env: earlier.env.into_iter().chain(env).collect(),
            args: [earlier.args, args].concat(),
        }
    }

    /// Changes the words of a command. Errors: in words, where options are for a JVM and the command starts none.
    pub fn apply(&self, command: &mut Vec<String>) -> Result<(), String> {
        if self.java.is_some() || !self.jvm_options.is_empty() {
            let (at, end) = jvm_words(command).ok_or(
                "is for a JVM, and the command has no word java; give the options by env, such as JAVA_TOOL_OPTIONS or JAVA_OPTS",
            )?;
            if let Some(home) = &self.java {
                command[at] = format!("{home}/bin/java");
            }
            let merged = merged_options(&command[at + 1..end], &self.jvm_options);
            command.splice(at + 1..end, merged);
        }
        command.extend(self.args.iter().cloned());
        Ok(())
    }

    /// What is changed, in words, beside the options that the other server has.
    pub fn text(&self, options: &[String]) -> String {
        let option = |added: &String| {
            let key = option_key(added);
            match options.iter().find(|option| option_key(option) == key && *option != added) {
                Some(replaced) => format!("{added} instead of {replaced}"),
                None => added.clone(),
            }
        };
        let java = self.java.iter().map(|home| format!("the Java of {home}"));
        let env = self.env.iter().map(|(name, value)| format!("{name}={value}"));
        let all = java.chain(self.jvm_options.iter().map(option)).chain(env).chain(self.args.iter().cloned());
        all.collect::<Vec<_>>().join(", ")
    }
}

/// The place of the word `java` in a command, and the end of its options; `None` where the command starts no JVM.
pub fn jvm_words(command: &[String]) -> Option<(usize, usize)> {
    let at = command.iter().position(|word| word.rsplit('/').next() == Some("java"))?;
    let is_option = |word: &&String| word.starts_with('-') && !CLASS_PATH.contains(&word.as_str());
    Some((at, at + 1 + command[at + 1..].iter().take_while(is_option).count()))
}

/// Options whose value is the next word. The class path and the program come after the options that are changed.
const CLASS_PATH: [&str; 4] = ["-cp", "-classpath", "--class-path", "-jar"];

/// `options` and `added`, without those of `options` that set what an added one sets: of two collectors a JVM takes none.
pub fn merged_options(options: &[String], added: &[String]) -> Vec<String> {
    let is_replaced = |option: &&String| added.iter().any(|new| option_key(new) == option_key(option));
    options.iter().filter(|option| !is_replaced(option)).chain(added).cloned().collect()
}

/// What an option of a JVM sets: `-Xmx` of `-Xmx1g`, the name of `-XX:+Name` and `-XX:Name=1`, `-Dname` of `-Dname=1`. All
/// collectors have one key. Agents are told apart by the whole option: a JVM may have several.
fn option_key(option: &str) -> &str {
    const SIZES: [&str; 4] = ["-Xmx", "-Xms", "-Xmn", "-Xss"];
    if let Some(name) = option.strip_prefix("-XX:") {
        let name = name.trim_start_matches(['+', '-']);
        let name = name.split('=').next().unwrap_or(name);
        return if name.starts_with("Use") && name.ends_with("GC") { "collector" } else { name };
    }
    if let Some(size) = SIZES.iter().find(|size| option.starts_with(*size)) {
        return size;
    }
    if option.starts_with("-D") { option.split('=').next().unwrap_or(option) } else { option }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn an_option_replaces_those_that_set_the_same_thing() {
        let base = words("-XX:+UseG1GC -Xms1g -Xmx1g -XX:+AlwaysPreTouch -Da=1 -javaagent:a.jar");
        for (added, merged) in [
            ("-XX:+UseZGC", "-Xms1g -Xmx1g -XX:+AlwaysPreTouch -Da=1 -javaagent:a.jar -XX:+UseZGC"),
            ("-Xmx2g -Da=2", "-XX:+UseG1GC -Xms1g -XX:+AlwaysPreTouch -javaagent:a.jar -Xmx2g -Da=2"),
            ("-XX:-AlwaysPreTouch", "-XX:+UseG1GC -Xms1g -Xmx1g -Da=1 -javaagent:a.jar -XX:-AlwaysPreTouch"),
            ("-XX:MaxGCPauseMillis=5", &format!("{} -XX:MaxGCPauseMillis=5", base.join(" "))),
            ("-javaagent:b.jar=x", &format!("{} -javaagent:b.jar=x", base.join(" "))),
        ] {
            assert_eq!(merged_options(&base, &words(added)), words(merged), "{added}");
        }
    }

    #[test]
    fn a_command_gets_options_before_its_class_path_and_arguments_at_its_end() {
        let changes = Changes {
            java: Some("/jdk17".into()),
            jvm_options: words("-XX:+UseZGC -Xmx2g"),
            args: words("--fast"),
            ..Changes::default()
        };
        let mut command = words("taskset -c 1 java -Xmx1g -jar app.jar {port}");
        changes.apply(&mut command).unwrap();
        assert_eq!(command, words("taskset -c 1 /jdk17/bin/java -XX:+UseZGC -Xmx2g -jar app.jar {port} --fast"));
        let mut script = words("./run.sh");
        assert!(changes.apply(&mut script).unwrap_err().contains("no word java; give the options by env"));
        assert!(Changes { args: words("x"), ..Changes::default() }.apply(&mut script).is_ok());
        assert_eq!(script, words("./run.sh x"));
    }

    #[test]
    fn changes_of_changes_add_up() {
        let first = Changes { jvm_options: words("-XX:+UseZGC -Xmx1g"), args: words("a"), ..Changes::default() };
        let second =
            Changes { jvm_options: words("-Xmx2g"), args: words("b"), java: Some("/j".into()), ..Changes::default() };
        let both = second.after(first);
        assert_eq!((both.jvm_options, both.args), (words("-XX:+UseZGC -Xmx2g"), words("a b")));
        assert_eq!(both.java.as_deref(), Some("/j"));
    }

    #[test]
    fn the_difference_is_said_in_words() {
        let changes = Changes {
            jvm_options: words("-XX:+UseZGC -Xlog:gc"),
            env: [("A".to_owned(), "1".to_owned())].into(),
            ..Changes::default()
        };
        let text = changes.text(&words("-XX:+UseG1GC -Xmx1g"));
        assert_eq!(text, "-XX:+UseZGC instead of -XX:+UseG1GC, -Xlog:gc, A=1");
    }
}
