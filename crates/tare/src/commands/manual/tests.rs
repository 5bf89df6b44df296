//! The documents say what the program does: its commands are understood, its suites can be read, the help is a page.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use clap::{Command, Parser};
use tare_plan::contract::UserSetup;
use tare_plan::suite::Suite;

use super::*;

#[test]
fn the_suite_to_start_with_names_this_program() {
    let suite = Suite::parse("first.toml", &first_suite(Path::new("/opt/my tools/tare"))).unwrap();
    assert_eq!(suite.servers["layer"].baseline.as_deref(), Some("bare"));
    assert!(suite.servers.values().all(|server| server.command[0] == "/opt/my tools/tare"));
}

#[test]
fn every_visible_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    man(folder.path()).unwrap();
    let page = fs::read_to_string(folder.path().join("tare-load.1")).unwrap();
    assert!(page.contains("\\-\\-connections") && page.contains("EXAMPLES") | page.contains("Examples"), "{page}");
    for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
        assert!(folder.path().join(format!("tare-{}.1", command.get_name())).exists(), "{}", command.get_name());
    }
}

#[test]
fn rare_flags_of_a_load_stand_in_its_whole_help_alone() {
    let mut cli = Cli::command();
    cli.build();
    let load = cli.find_subcommand_mut("load").unwrap();
    let (usual, all) = (load.render_help().to_string(), load.render_long_help().to_string());
    for flag in ["--connections", "--urls", "--fail-if", "--help-all"] {
        assert!(usual.contains(flag) && all.contains(flag), "{flag}");
    }
    for flag in ["--congestion", "--sni", "--k8s-image", "--hgrm"] {
        assert!(!usual.contains(flag) && all.contains(flag), "{flag}");
    }
    let printed = crate::args::parse(["tare", "load", "--help"]).unwrap_err().to_string();
    assert!(printed.contains("--help-all") && !printed.contains("--sni"), "{printed}");
    assert!(printed.lines().count() <= 150, "what is rare is in --help-all: {} lines", printed.lines().count());
}

/// The help of every command, as a page of the site.
fn commands_page() -> String {
    let mut page =
        "# Commands\n\nThis page is the help of the program (`tare COMMAND --help`; of a load, `--help-all`).\n"
            .to_owned();
    let mut add = |title: &str, command: &mut Command| {
        let help = command.clone().term_width(100).render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(page, "\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    };
    let mut cli = Cli::command();
    cli.build();
    add("tare", &mut cli);
    for command in cli.get_subcommands_mut().filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        let title = format!("tare {}", command.get_name());
        add(&title, command);
    }
    page
}

#[test]
fn the_page_of_commands_is_the_help() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/site/src/commands.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, commands_page()).unwrap();
    }
    let told = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        told == commands_page(),
        "docs/site/src/commands.md is not the help: UPDATE=1 cargo test -p tare --bin tare page"
    );
}

#[test]
fn help_is_laid_out_for_every_width() {
    let mut cli = Cli::command();
    let commands = std::iter::once(cli.clone()).chain(cli.get_subcommands_mut().map(|command| command.clone()));
    let mut examples = 0;
    for (command, help) in commands.filter_map(|command| Some((command.clone(), command.get_after_help()?.to_string())))
    {
        let name = command.get_name();
        for line in help.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with("tare ")) {
            examples += 1;
            assert!(!line.contains("  "), "{name}: what an example does stands on the next line: {line}");
            let misunderstood = Cli::try_parse_from(words_of(line)).err().filter(|error| error.use_stderr());
            assert!(misunderstood.is_none(), "{line}\n{}", misunderstood.unwrap());
        }
        let explained = help.lines().filter(|line| line.starts_with("   "));
        explained.for_each(|line| assert!(line.chars().count() <= 80, "{name}: {line}"));
        for paragraph in help.split("\n\n").filter(|paragraph| !paragraph.starts_with("Examples:")) {
            assert!(!paragraph.contains('\n'), "{name}: the terminal breaks lines, not the text: {paragraph}");
        }
    }
    assert!(examples > 50, "the help has examples: {examples}");
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The documents that a user copies from.
fn documents() -> Vec<PathBuf> {
    let in_folder = |folder: &str| fs::read_dir(project().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let pages = in_folder("docs/site/src").chain(in_folder("docs/site/src/compare")).filter(|page| page.is_file());
    let others = ["README.md", "docs/LOAD.md"].map(|file| project().join(file));
    // The page of commands is made from the flags.
    pages.filter(|page| !page.ends_with("commands.md")).chain(others).collect()
}

/// The code blocks of a document, each with its language.
fn code_blocks(text: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = text.split("\n```").collect();
    let block = |part: &&str| part.split_once('\n').map(|(language, code)| (language.to_owned(), code.to_owned()));
    parts.iter().skip(1).step_by(2).filter_map(block).collect()
}

/// The words of a command line up to a comment, a pipe or a redirection.
fn words_of(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            '#' | '|' | '>' if !quoted && word.is_empty() => return words,
            c => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let mut told = 0;
    for document in documents() {
        let blocks = code_blocks(&fs::read_to_string(&document).unwrap());
        // A block of text is the output of a command.
        for (_, code) in blocks.iter().filter(|(language, _)| language != "text") {
            for line in code.lines().filter(|line| line.starts_with("tare ")) {
                told += 1;
                let misunderstood = Cli::try_parse_from(words_of(line)).err().filter(|error| error.use_stderr());
                assert!(misunderstood.is_none(), "{}: {line}\n{}", document.display(), misunderstood.unwrap());
            }
        }
    }
    assert!(told > 20, "the documents have commands: {told}");
}

#[test]
fn every_suite_in_the_documents_can_be_read() {
    let mut told = 0;
    for document in documents() {
        let blocks = code_blocks(&fs::read_to_string(&document).unwrap());
        for (_, code) in blocks.iter().filter(|(language, _)| language == "toml") {
            told += 1;
            let file = document.display().to_string();
            let is_understood = match code.contains("[[setup]]") {
                true => UserSetup::parse(&file, code).is_ok(),
                false => Suite::parse(&file, code).is_ok_and(|suite| !suite.servers.is_empty()),
            };
            assert!(is_understood, "{file}:\n{code}");
        }
    }
    assert!(told > 8, "the documents have suites: {told}");
}

/// What reads a program from its input and fails if it cannot be parsed; `None` for what no program is written in.
fn parser_of(language: &str) -> Option<(&'static str, &'static [&'static str])> {
    Some(match language {
        "js" => ("node", &["--input-type=module", "--check", "-"]),
        "python" => ("python3", &["-c", "import ast, sys; ast.parse(sys.stdin.read())"]),
        "go" => ("gofmt", &[]),
        "rust" => ("rustfmt", &["--edition", "2024"]),
        _ => return None,
    })
}

/// What the parser says of a program that it cannot parse; `None` also where the parser is not installed.
fn complaint(parser: &str, arguments: &[&str], code: &str) -> Option<String> {
    let mut parser = std::process::Command::new(parser);
    parser.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = parser.spawn().ok()?;
    running.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_program_in_the_documents_can_be_parsed() {
    let mut told = 0;
    for document in documents() {
        for (language, code) in code_blocks(&fs::read_to_string(&document).unwrap()) {
            let Some((parser, arguments)) = parser_of(&language) else { continue };
            told += 1;
            let complaint = complaint(parser, arguments, &code);
            assert!(complaint.is_none(), "{}: {}\n{code}", document.display(), complaint.unwrap());
        }
    }
    assert!(told >= 4, "the documents have programs: {told}");
}

#[test]
fn a_command_ends_before_a_comment_or_a_pipe() {
    assert_eq!(words_of("tare load 'http://a/?b c' -c 4   # as wrk"), ["tare", "load", "http://a/?b c", "-c", "4"]);
    assert_eq!(words_of("tare example > first.toml"), ["tare", "example"]);
}
