//! Commands for readers: without class paths and without the folders of the machine, which the record keeps.

use std::sync::LazyLock;

use regex::Regex;

use crate::format::count;

/// Flags whose next word is a class path or a module path.
const PATH_FLAGS: [&str; 5] = ["-cp", "-classpath", "--class-path", "-p", "--module-path"];
/// An absolute path of three parts or more, and what it stands behind. A shorter one may be an argument such as `/health`.
static LONG_PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(^|[\s=:,;@"'])(?:/[^/\s=:,;@"']+){2,}(/[^/\s=:,;@"']+)/*"#).expect("a regular expression")
});

/// The words of a command with each class path replaced by its number of entries, and each long absolute path by its last part:
/// `…/java -Xmx1g -cp <61 files> Main --port 0`.
pub(crate) fn shortened(command: &[String]) -> Vec<String> {
    let mut words: Vec<String> = Vec::with_capacity(command.len());
    for word in command {
        let is_class_path = words.last().is_some_and(|flag| PATH_FLAGS.contains(&flag.as_str())) && word.contains('/');
        words.push(if is_class_path { entries(word) } else { LONG_PATH.replace_all(word, "$1…$2").into_owned() });
    }
    words
}

fn entries(class_path: &str) -> String {
    format!("<{}>", count(class_path.split(':').filter(|entry| !entry.is_empty()).count() as u64, "file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(command: &str) -> String {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        shortened(&words).join(" ")
    }

    #[test]
    fn class_paths_are_counted_and_folders_left_out() {
        let jars = "/home/u/.cache/coursier/v1/https/repo1.maven.org/a.jar:/home/u/.cache/b.jar:classes";
        assert_eq!(
            short(&format!("/usr/lib/jvm/25/bin/java -Xmx1g -cp {jars} tare.Main --port 0")),
            "…/java -Xmx1g -cp <3 files> tare.Main --port 0"
        );
        assert_eq!(
            short("java -javaagent:/opt/tare/lib/agent.jar=/run/user/0/sock -cp /a/b.jar Main"),
            "java -javaagent:…/agent.jar=…/sock -cp <1 file> Main"
        );
    }

    #[test]
    fn what_is_no_path_of_the_machine_stays() {
        for same in ["node server.js", "./server --health /health -p 80", "curl http://127.0.0.1:80/a/b/c", "/bin/true"]
        {
            assert_eq!(short(same), same);
        }
    }
}
