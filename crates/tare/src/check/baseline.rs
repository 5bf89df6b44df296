//! What a build is compared with: a git revision, a folder, a program file or a command line.

use std::path::{Path, PathBuf};

use tare_plan::PlanError;
use tare_plan::plan::CommandServer;
use tare_plan::suite::Suite;

use super::git::Checkout;

/// What a build is compared with.
#[derive(Debug)]
pub struct Baseline {
    kind: BaselineKind,
    /// The folder of the suite, in full.
    suite_folder: PathBuf,
    checkout: Option<Checkout>,
}

#[derive(Debug)]
enum BaselineKind {
    /// The commit of a revision, in a work tree of its own.
    Revision { given: String, commit: String, worktree: PathBuf },
    /// Another copy of the project.
    Folder(PathBuf),
    /// The server's command with another program.
    Program(PathBuf),
    /// Another command.
    Command(Vec<String>),
    /// Another library version of a server of the catalog.
    Version(String),
}

impl Baseline {
    /// What `given` names, for the servers of this suite. A folder wins over a file, and both over a revision; a text with a
    /// blank or with `{port}` is a command. Without servers of its own, the suite has those of the catalog, which have
    /// versions.
    ///
    /// # Errors
    /// There is no such revision, or the suite lies in no git checkout.
    pub fn find(given: &str, suite: &Suite, cache: &Path) -> anyhow::Result<Self> {
        let suite_folder = folder_of(suite);
        if suite.servers.is_empty() {
            return Ok(Self { kind: BaselineKind::Version(given.to_owned()), suite_folder, checkout: None });
        }
        let checkout = Checkout::containing(&suite_folder);
        let path = Path::new(given);
        let (kind, checkout) = if path.is_dir() {
            (BaselineKind::Folder(path.canonicalize()?), checkout.ok().flatten())
        } else if path.is_file() {
            (BaselineKind::Program(path.canonicalize()?), checkout.ok().flatten())
        } else if given.contains(' ') || given.contains("{port}") {
            let words = given.split_whitespace().map(str::to_owned).collect();
            (BaselineKind::Command(words), checkout.ok().flatten())
        } else {
            let checkout = checkout?.ok_or_else(|| no_checkout(given, &suite_folder))?;
            let commit = checkout.commit(given)?;
            let worktree = checkout.worktree_folder(&commit, cache);
            (BaselineKind::Revision { given: given.to_owned(), commit, worktree }, Some(checkout))
        };
        Ok(Self { kind, suite_folder, checkout })
    }

    /// In words: `main (1a2b3c4)`, or the folder or the command.
    pub fn describe(&self) -> String {
        match &self.kind {
            BaselineKind::Revision { given, commit, .. } => {
                let short: String = commit.chars().take(7).collect();
                if commit.starts_with(given) { short } else { format!("{given} ({short})") }
            }
            BaselineKind::Folder(path) | BaselineKind::Program(path) => path.display().to_string(),
            BaselineKind::Command(words) => format!("'{}'", words.join(" ")),
            BaselineKind::Version(version) => version.clone(),
        }
    }

    /// What a reader must know of the two builds before the run.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let Some(checkout) = &self.checkout else { return notes };
        let is_dirty = checkout.is_dirty();
        if is_dirty {
            notes.push("the work tree has changes that are not committed: it is measured as it is".to_owned());
        }
        if let BaselineKind::Revision { given, commit, .. } = &self.kind {
            let is_head = checkout.commit("HEAD").is_ok_and(|head| head == *commit);
            if is_head && !is_dirty {
                notes.push(format!("the work tree is at {given}: both builds are the same"));
            }
        }
        notes
    }

    /// Makes the work tree of a revision, where there is none yet.
    ///
    /// # Errors
    /// When git cannot make it.
    pub fn check_out(&self, cache: &Path) -> anyhow::Result<()> {
        if let (BaselineKind::Revision { commit, .. }, Some(checkout)) = (&self.kind, &self.checkout) {
            checkout.worktree(commit, cache)?;
        }
        Ok(())
    }

    /// The server `name` of the suite, as the baseline has it.
    ///
    /// # Errors
    /// Its folder or its program would be the same for both builds.
    pub fn server(&self, name: &str, server: &CommandServer) -> anyhow::Result<CommandServer> {
        let folder = match &self.kind {
            BaselineKind::Program(program) => {
                let words =
                    std::iter::once(program.display().to_string()).chain(server.command.iter().skip(1).cloned());
                return Ok(CommandServer { command: words.collect(), build: None, ..server.clone() });
            }
            BaselineKind::Command(command) => {
                return Ok(CommandServer { command: command.clone(), build: None, ..server.clone() });
            }
            BaselineKind::Revision { worktree, .. } => worktree,
            BaselineKind::Folder(folder) => folder,
            BaselineKind::Version(_) => return Ok(server.clone()),
        };
        let root = self.root(folder);
        let own = self.suite_folder.join(server.cwd.as_deref().unwrap_or("."));
        let own = own.canonicalize().unwrap_or(own);
        let wrong =
            |key: &str, message: String| PlanError::Value { origin: format!("[servers.{name}] {key}"), message };
        let Ok(below) = own.strip_prefix(root) else {
            let message =
                format!("{} lies outside {}, so both builds would be the same", own.display(), root.display());
            return Err(wrong("cwd", message).into());
        };
        if let Some(word) =
            server.command.iter().find(|word| Path::new(word).is_absolute() && Path::new(word).starts_with(root))
        {
            let message =
                format!("\"{word}\" is the same file for both builds; write it relative to {}", own.display());
            return Err(wrong("command", message).into());
        }
        Ok(CommandServer { cwd: Some(folder.join(below).display().to_string()), ..server.clone() })
    }

    /// The folder whose place the baseline's takes: the top of the checkout for a revision or another checkout, else the
    /// suite's own.
    fn root(&self, folder: &Path) -> &Path {
        let is_checkout = matches!(self.kind, BaselineKind::Revision { .. }) || folder.join(".git").exists();
        self.checkout.as_ref().filter(|_| is_checkout).map_or(self.suite_folder.as_path(), Checkout::top)
    }
}

/// The folder of a suite file, in full.
fn folder_of(suite: &Suite) -> PathBuf {
    let folder = Path::new(&suite.file).parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn no_checkout(given: &str, folder: &Path) -> anyhow::Error {
    let message = format!(
        "\"{given}\" is no folder and no file here, and {} is in no git checkout that could have such a revision; \
         give a folder, a program file or a command with {{port}}",
        folder.display()
    );
    PlanError::Value { origin: "--baseline".to_owned(), message }.into()
}
