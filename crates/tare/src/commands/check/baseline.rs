//! What a build is compared with: a git revision, a folder, a program file, a command line or a library version.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tare_plan::PlanError;
use tare_plan::plan::CommandServer;
use tare_plan::suite::{GroupSpec, Suite};
use tare_sut::catalog::Catalog;

use super::paths_into::{names_folder, shared_configuration, shared_target};
use super::submodules::check_out_submodules;
use crate::command_words::command_words;
use crate::git::{Changes, Checkout, WorkTree};
use crate::workspace::Workspace;

/// What names a baseline: a flag or a suite.
#[derive(Debug)]
pub struct Given<'a> {
    pub text: &'a str,
    /// The flag, or file and key.
    pub origin: String,
    /// The folder from which its paths count.
    pub folder: PathBuf,
}

impl Given<'_> {
    /// The folder or file that it names, in full; `None` where there is no such one.
    fn path(&self, checkout: Option<&Checkout>) -> anyhow::Result<Option<PathBuf>> {
        let path = self.folder.join(self.text);
        if self.text.is_empty() || !path.exists() {
            return Ok(None);
        }
        if let Some(revision) = checkout.and_then(|checkout| checkout.full_name(self.text)) {
            let kind = if path.is_dir() { "a folder" } else { "a file" };
            let (text, of_path) = (self.text, Path::new(".").join(self.text));
            let message = format!(
                "\"{text}\" is {kind} and a git revision; write {} for {kind}, or {revision} for the revision",
                of_path.display()
            );
            return Err(self.wrong(message));
        }
        Ok(Some(path.canonicalize()?))
    }

    /// The command that it is; `None` where it is none. `folders` are those from which its program may count.
    fn command(&self, folders: &[PathBuf]) -> anyhow::Result<Option<BaselineKind>> {
        let has_several_words = self.text.contains(' ') || self.text.contains("{port}");
        let words = if has_several_words { command_words(&self.origin, self.text)? } else { Vec::new() };
        let is_path = ["./", "../", "/"].iter().any(|start| self.text.starts_with(start));
        let has_program = || words.first().is_some_and(|word| folders.iter().any(|folder| folder.join(word).is_file()));
        if is_path && !has_program() {
            let first = words.first().map_or(self.text, String::as_str);
            let (text, base) = (self.text, self.folder.canonicalize()?.display().to_string());
            let message = format!("there is no folder \"{text}\" and no program \"{first}\"; paths count from {base}");
            return Err(self.wrong(message));
        }
        Ok(has_several_words.then(|| BaselineKind::Command { given: self.text.to_owned(), words }))
    }

    fn wrong(&self, message: String) -> anyhow::Error {
        PlanError::value(&self.origin, message).into()
    }

    fn no_checkout(&self, folder: &Path) -> anyhow::Error {
        self.wrong(format!(
            "\"{}\" is no folder and no file here, and {} is in no git checkout that could have such a revision; \
             give a folder, a program file or a command with {{port}}",
            self.text,
            folder.display()
        ))
    }
}

#[derive(Debug)]
pub struct Baseline {
    kind: BaselineKind,
    /// The folder of the suite, in full; for servers of the catalog that of the project.
    own_folder: PathBuf,
    checkout: Option<Checkout>,
    /// Holds the work tree of a revision while this process uses it.
    work_tree: Option<WorkTree>,
}

#[derive(Debug)]
enum BaselineKind {
    /// The commit of a revision, in a work tree of its own.
    Revision { given: String, commit: String, worktree: PathBuf },
    /// Another copy of the project.
    Folder(PathBuf),
    /// The server's command with another program.
    Program(PathBuf),
    /// Another command: as given, and its words.
    Command { given: String, words: Vec<String> },
    /// Another library version of a server of the catalog.
    Version(String),
}

impl BaselineKind {
    fn revision(given: &Given, checkout: &Checkout, cache: &Path) -> anyhow::Result<Self> {
        let commit = checkout.commit(given.text, &given.origin)?;
        let worktree = checkout.worktree_folder(&commit, cache);
        Ok(Self::Revision { given: given.text.to_owned(), commit, worktree })
    }
}

impl Baseline {
    /// What `given` names, for the servers of this suite. A folder or file wins over a command, and what is neither is a
    /// revision; a text with a blank or with `{port}` is a command. A suite without servers has those of the catalog. For
    /// them it names a version of one, another copy of the project, or a revision, whose work tree is made at once,
    /// because its catalog belongs to the plan.
    pub fn find(given: &Given, suite: &Suite, workspace: &Workspace, cache: &Path) -> anyhow::Result<Self> {
        let is_of_catalog = suite.servers.is_empty();
        let own_folder = match &workspace.home {
            _ if !is_of_catalog => folder_of(suite),
            Some(home) => home.canonicalize().unwrap_or_else(|_| home.clone()),
            None => return Err(no_servers().into()),
        };
        let known_servers = workspace.inventory.servers.iter().filter(|_| is_of_catalog);
        let versions: BTreeSet<&str> = known_servers.flat_map(|server| &server.versions).map(String::as_str).collect();
        if versions.contains(given.text) {
            let kind = BaselineKind::Version(given.text.to_owned());
            return Ok(Self { kind, own_folder, checkout: None, work_tree: None });
        }
        let checkout = Checkout::containing(&own_folder);
        let path = given.path(checkout.as_ref().ok().and_then(Option::as_ref))?;
        let of_servers = suite.servers.values().map(|server| own_folder.join(server.cwd.as_deref().unwrap_or(".")));
        let kind = match path {
            Some(path) if path.is_dir() => Some(BaselineKind::Folder(path)),
            _ if is_of_catalog => None,
            Some(path) => Some(BaselineKind::Program(path)),
            None => given.command(&of_servers.collect::<Vec<_>>())?,
        };
        let (kind, checkout) = match kind {
            Some(kind) => (kind, checkout.ok().flatten()),
            None => {
                let checkout = checkout?.ok_or_else(|| given.no_checkout(&own_folder))?;
                let kind = BaselineKind::revision(given, &checkout, cache);
                (kind.map_err(|error| with_versions(error, versions))?, Some(checkout))
            }
        };
        let mut baseline = Self { kind, own_folder, checkout, work_tree: None }.of_another_folder(given)?;
        if is_of_catalog {
            baseline.check_out(cache)?;
        }
        Ok(baseline)
    }

    /// Refuses the folder that is checked itself.
    fn of_another_folder(self, given: &Given) -> anyhow::Result<Self> {
        if let BaselineKind::Folder(folder) = &self.kind
            && self.root(folder) == folder.as_path()
        {
            let folder = folder.display();
            let message =
                format!("{folder} is what is checked, so both builds would be the same; name another copy of it");
            return Err(given.wrong(message));
        }
        Ok(self)
    }

    pub fn is_version(&self, version: &str) -> bool {
        matches!(&self.kind, BaselineKind::Version(own) if own == version)
    }

    /// In words: `main (1a2b3c4)`, or the folder or the command.
    pub fn describe(&self) -> String {
        match &self.kind {
            BaselineKind::Revision { given, commit, .. } => {
                let short: String = commit.chars().take(7).collect();
                if commit.starts_with(given) { short } else { format!("{given} ({short})") }
            }
            BaselineKind::Folder(path) | BaselineKind::Program(path) => path.display().to_string(),
            BaselineKind::Command { given, .. } => format!("'{given}'"),
            BaselineKind::Version(version) => version.clone(),
        }
    }

    /// What a reader must know of the two builds before the run.
    pub fn notes(&self) -> Vec<String> {
        let of_work_tree = self.of_work_tree().map(|(note, _)| note);
        of_work_tree.into_iter().chain(self.changes_of_others()).collect()
    }

    /// That both builds have the same sources, where they have: the comparison then says nothing of a change.
    pub fn nothing_differs(&self) -> Option<String> {
        self.of_work_tree().filter(|(_, is_same)| *is_same).map(|(note, _)| note)
    }

    /// The revision as it was given, and its commit in this checkout, where the baseline is one.
    fn revision(&self) -> Option<(&Checkout, &str, &str)> {
        match (&self.checkout, &self.kind) {
            (Some(checkout), BaselineKind::Revision { given, commit, .. }) => Some((checkout, given, commit)),
            _ => None,
        }
    }

    /// What the changes of the work tree mean for this check, and whether they leave both builds the same.
    fn of_work_tree(&self) -> Option<(String, bool)> {
        let changes = self.checkout.as_ref()?.changes();
        let is_head = |(checkout, _, commit): &(&Checkout, &str, &str)| {
            checkout.commit("HEAD", "").is_ok_and(|head| head == *commit)
        };
        let Some((_, given, _)) = self.revision().filter(is_head) else {
            let note = "the work tree has changes that are not committed: it is measured as it is";
            return (changes != Changes::None).then(|| (note.to_owned(), false));
        };
        let (what, is_same) = match changes {
            Changes::None => (": both builds are the same; for its last commit alone: --baseline HEAD~1", true),
            Changes::NewFiles => {
                (" but for files that git does not know: both builds are the same unless they use them", true)
            }
            Changes::Some => (": this check compares its changes that are not committed", false),
        };
        Some((format!("the work tree is at {given}{what}"), is_same))
    }

    /// That the baseline went on since the work tree parted from it: what it gained or lost counts too, the other way round.
    fn changes_of_others(&self) -> Option<String> {
        let (checkout, given, commit) = self.revision()?;
        let parting: String = checkout.parting_from(commit)?.chars().take(12).collect();
        Some(format!(
            "{given} has changes that the work tree lacks, and they count too; for the work tree's own changes alone: \
             --baseline {parting}"
        ))
    }

    /// The classes of a JVM that differ from a revision; `None` where the sources do not tell.
    pub fn changed_classes(&self) -> Option<BTreeSet<String>> {
        let (checkout, _, commit) = self.revision()?;
        checkout.classes_changed_since(commit)
    }

    /// Makes the work tree of a revision with its submodules, where there is none yet.
    pub fn check_out(&mut self, cache: &Path) -> anyhow::Result<()> {
        if let Some((checkout, _, commit)) = self.revision() {
            let work_tree = checkout.worktree(commit, cache)?;
            check_out_submodules(&checkout.top, &work_tree.folder)?;
            self.work_tree = Some(work_tree);
        }
        Ok(())
    }

    /// The server `name` of the suite, as the baseline has it. What would be the same file for both builds is refused.
    pub fn server(&self, name: &str, server: &CommandServer) -> anyhow::Result<CommandServer> {
        let own = self.own_folder.join(server.cwd.as_deref().unwrap_or("."));
        let own = own.canonicalize().unwrap_or(own);
        let wrong = |key: &str, message: String| PlanError::value(format!("[servers.{name}] {key}"), message);
        let folder = match &self.kind {
            // Another program or command is that of the server behind the proxy.
            BaselineKind::Program(_) | BaselineKind::Command { .. } if server.in_front_of.is_some() => {
                return Ok(server.clone());
            }
            BaselineKind::Program(program) => {
                let own = server.command.first().and_then(|word| own.join(word).canonicalize().ok());
                if own.as_ref() == Some(program) {
                    let program = program.display();
                    let message =
                        format!("{program} is the baseline too, so both builds would be the same; name another");
                    return Err(wrong("command", message).into());
                }
                let words =
                    std::iter::once(program.display().to_string()).chain(server.command.iter().skip(1).cloned());
                return Ok(CommandServer { command: words.collect(), build: None, ..server.clone() });
            }
            BaselineKind::Command { words, .. } => {
                return Ok(CommandServer { command: words.clone(), build: None, ..server.clone() });
            }
            BaselineKind::Revision { worktree, .. } => worktree,
            BaselineKind::Folder(folder) => folder,
            BaselineKind::Version(_) => return Ok(server.clone()),
        };
        let root = self.root(folder);
        let Ok(below) = own.strip_prefix(root) else {
            let message =
                format!("{} lies outside {}, so both builds would be the same", own.display(), root.display());
            return Err(wrong("cwd", message).into());
        };
        let words = server.command.iter().map(|word| ("command".to_owned(), word));
        let build = server.build.iter().map(|build| ("build".to_owned(), build));
        let env = server.env.iter().map(|(variable, value)| (format!("env.{variable}"), value));
        for (key, text) in words.chain(build).chain(env) {
            if names_folder(text, &own, root) {
                let message =
                    format!("\"{text}\" is the same file for both builds; write it relative to {}", own.display());
                return Err(wrong(&key, message).into());
            }
        }
        let build = server.build.as_deref().unwrap_or_default();
        if let Some((name, place)) = shared_target(build, |name| std::env::var(name).ok()) {
            let message = format!("{name}={place} is the same folder for both builds; write \"env -u {name} {build}\"");
            return Err(wrong("build", message).into());
        }
        let other = folder.join(below);
        if let Some((file, place)) = shared_configuration(build, (&own, &other), |name| std::env::var(name).ok()) {
            let message = format!(
                "target-dir = \"{place}\" of {} is the same folder for both builds; write \"export \
                 CARGO_TARGET_DIR=target; {build}\"",
                file.display()
            );
            return Err(wrong("build", message).into());
        }
        Ok(CommandServer { cwd: Some(other.display().to_string()), ..server.clone() })
    }

    /// The group of a server of the catalog: it is compared with itself in the baseline's build.
    pub fn catalog_group(&self, name: &str) -> anyhow::Result<GroupSpec> {
        let group = GroupSpec { baseline: name.to_owned(), ..GroupSpec::default() };
        let folder = match &self.kind {
            BaselineKind::Revision { worktree, .. } => worktree,
            BaselineKind::Folder(folder) => folder,
            _ => return Ok(GroupSpec { baseline_version: Some(self.describe()), ..group }),
        };
        let below = self.own_folder.strip_prefix(self.root(folder)).unwrap_or(Path::new(""));
        let home = folder.join(below);
        let target = Catalog::load(&home.join("servers"))?.resolve_target(name, None)?;
        let baseline_home = Some(home.display().to_string());
        Ok(GroupSpec { baseline_version: Some(target.version), baseline_home, ..group })
    }

    /// The folder whose place the baseline's takes: that of the suite, or for a checkout the top of the suite's own.
    fn root(&self, folder: &Path) -> &Path {
        let is_checkout = matches!(self.kind, BaselineKind::Revision { .. }) || folder.join(".git").exists();
        self.checkout.as_ref().filter(|_| is_checkout).map_or(&self.own_folder, |checkout| &checkout.top)
    }
}

pub fn folder_of(suite: &Suite) -> PathBuf {
    let folder = Path::new(&suite.file).parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn no_servers() -> PlanError {
    let message = "the suite has no servers of its own, and the folder of the project (with servers/) is not found; \
                   write [servers.NAME] with a command, or give the folder with --home";
    PlanError::value("tare check", message)
}

/// An unknown revision of the project could have been meant as a version of its servers.
fn with_versions(error: anyhow::Error, versions: BTreeSet<&str>) -> anyhow::Error {
    match error.downcast() {
        Ok(PlanError::NoMatch { origin, pattern, suggestion, known, .. }) if !versions.is_empty() => {
            let versions: Vec<&str> = versions.into_iter().collect();
            let known = format!("the versions {}; the revisions {known}", versions.join(", "));
            let kind = "library version and no git revision";
            PlanError::NoMatch { origin, kind, pattern, suggestion, known }.into()
        }
        Ok(other) => other.into(),
        Err(other) => other,
    }
}
