//! `tare init`: writes a suite for the project of a folder, with the bare and the wrapped server.

mod look;
mod project;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Context;
use dialoguer::Input;
use tare_plan::PlanError;
use tare_plan::plan::CommandServer;
use tare_plan::suite::Suite;

use crate::args::{Global, InitArgs};
use crate::command_words::command_words;
use crate::failure::{Outcome, error_text};
use crate::git::Checkout;
use crate::load_job::parse_header;
use crate::session::is_failed_build;
use crate::workspace::SUITE_FILE;
use crate::{console, interrupt};
use look::{expectation, look_at_answers};
use project::{KNOWN_FILES, Project, detect_project};

const SCENARIO: &str = "Home";

/// What is expected before the server was asked.
const UNKNOWN: &str = "expect = { status = 200 }                      # body = \"…\" states the response\n";

/// On two busy cores two starts of a framework, side by side, take longer than the usual 30 s.
const RUN_OF_JVM: &str = "[run]\n\
                          budget = \"10m\"                              # a JVM takes longer to warm up\n\
                          warmup_cap = \"2m\"                           # less where it is steady earlier\n\
                          startup_timeout = \"2m\"                      # and it starts for longer\n\n";

struct Answers {
    build: Option<String>,
    bare: ServerAnswer,
    wrapped: ServerAnswer,
    path: String,
    headers: Vec<(String, String)>,
    /// The git branch that a change is compared with; `None` outside of a repository.
    branch: Option<String>,
}

struct ServerAnswer {
    command: Vec<String>,
    env: Vec<(String, String)>,
}

/// Writes the suite, and states in it what the bare server answers. One that does not start here is an answer unknown.
pub fn init(args: &InitArgs, global: &Global) -> anyhow::Result<Outcome> {
    anyhow::ensure!(args.folder.is_dir(), "{} is no folder", args.folder.display());
    let is_here = args.folder == Path::new(".");
    let file = if is_here { PathBuf::from(SUITE_FILE) } else { args.folder.join(SUITE_FILE) };
    anyhow::ensure!(args.force || !file.exists(), "{} exists; --force overwrites it", file.display());
    let project = detect_project(&args.folder)?;
    let answers = Answers::gather(args, project.as_ref())?;
    write_suite(&file, &suite_text(&answers, project.as_ref(), UNKNOWN))?;
    let asked = match look_at_answers(&file, global) {
        Ok(looked) => {
            write_suite(&file, &suite_text(&answers, project.as_ref(), &expectation(&looked.bare)))?;
            let is_one_command = answers.bare.command == answers.wrapped.command;
            let of_bare = answered_text(&answers.path, looked.bare.status, &args.folder);
            let lines =
                [Some(of_bare), looked.of_rest(), Some(looked.of_wrapped(is_one_command, &init_again(&args.folder)))];
            lines.into_iter().flatten().collect::<Vec<_>>().join("\n  ")
        }
        Err(_) if interrupt::is_raised(&*interrupt::flag()?) => {
            console::print_text(&format!("  wrote {}, which does not state what bare answers\n", file.display()));
            return Ok(Outcome::Interrupted);
        }
        Err(error) => {
            let remedy = match is_failed_build(&error) {
                true => format!(
                    "correct what it says, or give another command: {} --build 'COMMAND'\n  ",
                    init_again(&args.folder)
                ),
                false => answers.bare.port_as_argument(&args.folder),
            };
            format!(
                "what bare answers is not known, and the file does not state it: {}\n  {remedy}tare verify says whether \
                 both servers answer alike",
                error_text(&error)
            )
        }
    };
    console::print_text(&written_text(project.as_ref(), &file, is_here, answers.branch.is_some(), &asked));
    Ok(if interrupt::is_raised(&*interrupt::flag()?) { Outcome::Interrupted } else { Outcome::Done })
}

fn write_suite(file: &Path, text: &str) -> anyhow::Result<()> {
    // What is written must be readable.
    Suite::parse(SUITE_FILE, text)?;
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// `tare init services/a --force`.
fn init_again(folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    let place = if folder == "." { String::new() } else { format!("{} ", shell_words::quote(&folder)) };
    format!("tare init {place}--force")
}

fn answered_text(path: &str, status: u16, folder: &Path) -> String {
    let again = init_again(folder);
    let doubt = match status {
        200..=299 => String::new(),
        300..=399 => format!("; redirects are not followed; to name the page that you mean: {again} --path /PATH"),
        401 | 403 => format!(", an error page; to send the header that it asks for: {again} -H 'NAME: value'"),
        _ => format!(", so the suite measures an error page; to name a path of yours: {again} --path /PATH"),
    };
    format!("bare answers {path} with status {status}{doubt}")
}

impl Answers {
    /// From the flags, from questions on a terminal, and from the project.
    fn gather(args: &InitArgs, project: Option<&Project>) -> anyhow::Result<Self> {
        let asks = !args.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let known = project.and_then(|project| project.command.as_ref().ok()).map(shell_words::join);
        let bare = answer(args.bare.as_ref(), asks, "Command of the bare server", known)?;
        let Some(bare) = bare else { return Err(no_program(&args.folder, project).into()) };
        let same = Some(bare.clone());
        let wrapped = answer(args.wrapped.as_ref(), asks, "Command of the server with the layer", same)?;
        let wrapped = wrapped.unwrap_or_else(|| bare.clone());
        let known = project.and_then(|project| project.build.clone());
        let build = answer(args.build.as_ref(), asks, "Command that builds it (empty for none)", known)?;
        let path = answer(args.path.as_ref(), asks, "Path of the request", Some("/".to_owned()))?;
        let path = path.unwrap_or_else(|| "/".to_owned());
        let headers = args.header.iter().map(|line| parse_header(line)).collect::<anyhow::Result<Vec<_>>>()?;
        let is_one_command = bare == wrapped;
        Ok(Self {
            build: build.filter(|build| !build.is_empty()),
            bare: ServerAnswer::new("--bare", &bare, project, false)?,
            wrapped: ServerAnswer::new("--wrapped", &wrapped, project, is_one_command)?,
            path,
            headers,
            branch: default_branch(&args.folder),
        })
    }
}

/// The branch that the folder's repository has for it, `main` where no branch is checked out; `None` outside of one.
fn default_branch(folder: &Path) -> Option<String> {
    let checkout = Checkout::containing(folder).ok().flatten()?;
    Some(checkout.default_branch().unwrap_or_else(|| "main".to_owned()))
}

/// The flag, or the answer on a terminal, or what is known.
fn answer(flag: Option<&String>, asks: bool, question: &str, known: Option<String>) -> anyhow::Result<Option<String>> {
    if flag.is_some() || !asks {
        return Ok(flag.cloned().or(known));
    }
    let input = Input::<String>::new().with_prompt(question).allow_empty(true);
    let input = input.with_initial_text(known.unwrap_or_default());
    let text = input.interact_text().context("the question was not answered")?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

fn no_program(folder: &Path, project: Option<&Project>) -> PlanError {
    let why = match project.map(|project| &project.command) {
        None => format!("there is no project that tare knows ({KNOWN_FILES})"),
        Some(Err(doubt)) => doubt.clone(),
        // On a terminal it was deleted.
        Some(Ok(_)) => "no command was given".to_owned(),
    };
    let origin = if folder == Path::new(".") { "this folder".to_owned() } else { folder.display().to_string() };
    PlanError::value(origin, format!("{why}; give --bare './my-server --port {{port}}' and --wrapped"))
}

impl ServerAnswer {
    fn starts_jvm(&self) -> bool {
        CommandServer { command: self.command.clone(), ..CommandServer::default() }.starts_jvm()
    }

    /// A command without `{port}` gets its port by the environment. `has_layer_variable`: the layer is switched on there too.
    fn new(flag: &str, command: &str, project: Option<&Project>, has_layer_variable: bool) -> Result<Self, PlanError> {
        let words = command_words(flag, command)?;
        let variables = project.map_or(&["PORT"][..], |project| project.port_variables);
        let names = variables.iter().filter(|_| !command.contains("{port}"));
        let mut env: Vec<(String, String)> = names.map(|name| ((*name).to_owned(), "{port}".to_owned())).collect();
        let further = project.into_iter().flat_map(|project| project.env);
        env.extend(further.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        if has_layer_variable {
            env.push(("LAYER".to_owned(), "1".to_owned()));
        }
        Ok(Self { command: words, env })
    }

    /// What to do if the program does not read its port from the environment; empty where the command has the port.
    fn port_as_argument(&self, folder: &Path) -> String {
        let named: Vec<&str> =
            self.env.iter().filter(|(_, value)| value == "{port}").map(|(name, _)| name.as_str()).collect();
        if named.is_empty() {
            return String::new();
        }
        let command = format!("{} {{port}}", shell_words::join(&self.command));
        format!(
            "its port was in {}; if it takes an argument instead: {} --bare {}\n  ",
            named.join(", "),
            init_again(folder),
            shell_words::quote(&command)
        )
    }
}

fn suite_text(answers: &Answers, project: Option<&Project>, expectation: &str) -> String {
    let kind = project.map_or(String::new(), |project| format!(" ({} project)", project.tool));
    let counters = project.and_then(Project::counters);
    let bare = server_table("bare", answers, &answers.bare, &[("counters", counters)]);
    let wrapped =
        server_table("wrapped", answers, &answers.wrapped, &[("baseline", Some("bare")), ("counters", counters)]);
    let is_on_jvm = [&answers.bare, &answers.wrapped].iter().any(|server| server.starts_jvm());
    let run = if is_on_jvm { RUN_OF_JVM } else { "" };
    let headers = match answers.headers.as_slice() {
        [] => String::new(),
        headers => format!(", headers = {}", inline_table(headers)),
    };
    let (check, baseline) = match &answers.branch {
        None => ("", String::new()),
        Some(branch) => (
            "#   tare check     did a change make the server slower?\n",
            format!("baseline = {:<34}# a git revision, a folder or a command\n", quoted(branch)),
        ),
    };
    format!(
        "# Written by tare init{kind}. {{port}} becomes a free port.\n\
         #   tare verify    do both servers answer alike?\n\
         #   tare run       what does the layer cost?\n\
         {check}\
         {run}\
         [suite]\n\
         question = \"What does the layer cost?\"\n\
         \n\
         {bare}\n\
         # The server with the layer.\n\
         {wrapped}\n\
         [scenarios.{SCENARIO}]\n\
         request = {{ path = {}{headers} }}\n\
         {expectation}\
         \n\
         [check]\n\
         {baseline}\
         fail_if = [\"cpu > +5%\"]                      # p99, allocated and throughput can be limited too\n",
        quoted(&answers.path)
    )
}

/// One server; `others` are further keys, as far as they have values.
fn server_table(name: &str, answers: &Answers, server: &ServerAnswer, others: &[(&str, Option<&str>)]) -> String {
    let words: Vec<String> = server.command.iter().map(|word| quoted(word)).collect();
    let mut text = format!("[servers.{name}]\n");
    if let Some(build) = &answers.build {
        text += &format!("build = {}\n", quoted(build));
    }
    text += &format!("command = [{}]\n", words.join(", "));
    if !server.env.is_empty() {
        text += &format!("env = {}\n", inline_table(&server.env));
    }
    let others = others.iter().filter_map(|(key, value)| Some(format!("{key} = {}\n", quoted((*value)?))));
    text + &others.collect::<String>()
}

/// `{ PORT = "{port}", "X.Key" = "a" }`.
fn inline_table(pairs: &[(String, String)]) -> String {
    let is_bare =
        |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let key = |key: &str| if is_bare(key) { key.to_owned() } else { quoted(key) };
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{} = {}", key(name), quoted(value))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn written_text(project: Option<&Project>, file: &Path, is_here: bool, has_git: bool, asked: &str) -> String {
    let found = project.map_or_else(
        || "no project file was found; the commands are as you gave them".to_owned(),
        |project| format!("{} project, by {}", project.tool, project.file),
    );
    let path = file.display().to_string();
    // The file of this folder need not be named.
    let named = |before: &str| if is_here { String::new() } else { format!("{before}{}", shell_words::quote(&path)) };
    let next = [
        (format!("tare verify{}", named(" --suite ")), "do both servers answer alike?"),
        (format!("tare run{}", named(" ")), "what does the layer cost?"),
        (format!("tare check{}", named(" ")), "did a change cost more?"),
    ];
    // Without git there is nothing yet to compare with.
    let next = &next[..if has_git { 3 } else { 2 }];
    let width = next.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let lines: String = next.iter().map(|(command, why)| format!("    {command:<width$}    {why}\n")).collect();
    format!("  {found}\n  {asked}\n  wrote {path}\n\n  next\n{lines}")
}

#[cfg(test)]
mod tests {
    use tare_units::Span;

    use super::*;

    fn text_of(bare: &str, wrapped: &str, project: Option<&Project>) -> String {
        let is_one = bare == wrapped;
        let answers = Answers {
            build: project.and_then(|project| project.build.clone()),
            bare: ServerAnswer::new("--bare", bare, project, false).unwrap(),
            wrapped: ServerAnswer::new("--wrapped", wrapped, project, is_one).unwrap(),
            path: "/a\"b".to_owned(),
            headers: vec![("X.Key".to_owned(), "a \"b\"".to_owned())],
            branch: Some("trunk".to_owned()),
        };
        suite_text(&answers, project, UNKNOWN)
    }

    #[test]
    fn commands_without_a_port_get_it_by_the_environment() {
        let suite = Suite::parse(SUITE_FILE, &text_of("./own", "./own", None)).unwrap();
        let env = |name: &str| suite.servers[name].env.clone().into_iter().collect::<Vec<_>>();
        let port = ("PORT".to_owned(), "{port}".to_owned());
        assert_eq!(env("bare"), std::slice::from_ref(&port));
        assert_eq!(env("wrapped"), [("LAYER".to_owned(), "1".to_owned()), port]);
        assert_eq!(suite.servers["wrapped"].baseline.as_deref(), Some("bare"));
        assert_eq!(suite.scenarios["Home"].request.path, "/a\"b");
        assert_eq!(suite.scenarios["Home"].request.headers["X.Key"], "a \"b\"");
        assert_eq!(suite.check.fail_if[0].text, "cpu > +5%");
        assert_eq!(suite.check.baseline.as_deref(), Some("trunk"));
    }

    #[test]
    fn a_server_that_did_not_start_may_want_its_port_as_an_argument() {
        let remedy = |command: &str, folder: &str| {
            ServerAnswer::new("--bare", command, None, false).unwrap().port_as_argument(Path::new(folder))
        };
        let text = "its port was in PORT; if it takes an argument instead: tare init --force --bare './own {port}'\n  ";
        assert_eq!(remedy("./own", "."), text);
        assert_eq!(remedy("./own", "services/a"), text.replace("init", "init services/a"));
        assert_eq!(remedy("./own {port}", "."), "");
    }

    #[test]
    fn an_error_page_is_said_with_the_command_that_names_another_path() {
        let said = |status: u16, folder: &str| answered_text("/", status, Path::new(folder));
        assert_eq!(said(200, "."), "bare answers / with status 200");
        assert!(said(404, ".").ends_with(": tare init --force --path /PATH"), "{}", said(404, "."));
        assert!(said(401, ".").ends_with(": tare init --force -H 'NAME: value'"), "{}", said(401, "."));
        assert!(said(301, "services/a").ends_with(": tare init services/a --force --path /PATH"));
    }

    #[test]
    fn a_folder_without_a_project_is_named_in_words() {
        let said = |folder: &str| no_program(Path::new(folder), None).to_string();
        assert!(said(".").starts_with("this folder: there is no project that tare knows"), "{}", said("."));
        assert!(said("services").starts_with("services: there is no project"), "{}", said("services"));
    }

    #[test]
    fn a_jvm_has_more_time() {
        let times = |command: &str| {
            let run = Suite::parse(SUITE_FILE, &text_of(command, command, None)).unwrap().run;
            (run.budget, run.warmup_cap, run.startup_timeout)
        };
        let of_jvm = (Some(Span::from_secs(600)), Some(Span::from_secs(120)), Some(Span::from_secs(120)));
        assert_eq!(times("java -jar own.jar --port {port}"), of_jvm);
        assert_eq!(times("./own --port {port}"), (None, None, None));
    }

    #[test]
    fn commands_of_the_user_stay_as_they_are() {
        let suite = Suite::parse(SUITE_FILE, &text_of("./own -p {port}", "./own -p {port} --layer", None)).unwrap();
        assert_eq!(suite.servers["wrapped"].command, ["./own", "-p", "{port}", "--layer"]);
        assert!(suite.servers.values().all(|server| server.env.is_empty() && server.build.is_none()));
        let quoted = Suite::parse(SUITE_FILE, &text_of("'./my own' -p {port}", "sh -c 'exec x'", None)).unwrap();
        assert_eq!(quoted.servers["bare"].command, ["./my own", "-p", "{port}"]);
        assert_eq!(quoted.servers["wrapped"].command, ["sh", "-c", "exec x"]);
    }
}
