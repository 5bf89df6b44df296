//! Makes the inputs of the supervisor before the fork: paths, C strings, descriptors, the signal mask.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::{env, io, iter, mem, ptr};

use rustix::fs::{Access, Mode, OFlags};
use rustix::process::Pid;

use super::message::step;
use super::supervisor::{self, CStrings, Orders, supervise};
use super::{Child, ChildError, Program};

/// The most bytes of a file in which its first line is looked for. The kernel reads 256.
const FIRST_LINE_BYTES: u64 = 256;
/// What git sets for a hook. It names the repository of the hook, whatever folder a program works in. Source:
/// githooks(5), "DESCRIPTION".
pub const GIT_HOOK_VARIABLES: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// A step of the child that failed with this error number, as text for an error.
pub(super) fn describe(number: u64, errno: i32, program: &Program) -> String {
    let words = match (number, errno) {
        (step::DIRECTORY, _) => {
            let directory = program.directory.as_deref().unwrap_or(Path::new("."));
            return format!("cannot change to its working directory {}", directory.display());
        }
        (step::AFFINITY, _) => "cannot pin it to its CPUs",
        (step::SCHEDULING, _) => "cannot set its scheduling policy",
        // The file is there.
        (step::EXECUTE, libc::ENOENT) => match interpreter(program) {
            Some(name) if name.ends_with('\r') => {
                return format!("cannot execute {name:?} of its first line, which ends in CR LF; end its lines in LF");
            }
            Some(name) => return format!("cannot execute {name:?} of its first line"),
            None => "cannot execute it or the loader that it names, which may be that of another C library",
        },
        (step::EXECUTE, libc::ENOEXEC) => {
            "cannot execute it, which is no program for this machine and no script with a first line such as #!/bin/sh"
        }
        (step::EXECUTE, _) => "cannot execute it",
        _ => "cannot fork",
    };
    words.to_owned()
}

/// The program that the first line of a script names; `None` where it is no such script.
fn interpreter(program: &Program) -> Option<String> {
    let (name, directory) = (Path::new(&program.program), program.directory.as_deref());
    let file = find_program(name, directory, environment(env::vars_os(), &program.env).get(OsStr::new("PATH"))).ok()?;
    let file = File::open(directory.unwrap_or(Path::new("")).join(file)).ok()?;
    let mut start = Vec::new();
    file.take(FIRST_LINE_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let words = String::from_utf8_lossy(line);
    words.split([' ', '\t']).find(|word| !word.is_empty()).map(str::to_owned)
}

/// Forks the supervisor; the caller reads its first message.
pub(super) fn spawn(program: &Program) -> Result<Child, ChildError> {
    let failed = |source: io::Error| ChildError::Start {
        program: program.program.to_string_lossy().into_owned(),
        doing: "cannot make its pipes".into(),
        source,
    };
    let environment = environment(env::vars_os(), &program.env);
    let path =
        find_program(Path::new(&program.program), program.directory.as_deref(), environment.get(OsStr::new("PATH")))?;
    let null =
        rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(|e| failed(e.into()))?;
    let (supervisors_end, lifeline) = std::os::unix::net::UnixStream::pair().map_err(&failed)?;
    let (report, reports_in) = io::pipe().map_err(&failed)?;
    let (output, outputs_in) = io::pipe().map_err(&failed)?;
    let orders = Orders {
        program: c_string(path.as_os_str())?,
        argv: c_strings(iter::once(&program.program).chain(&program.args).cloned())?,
        envp: c_strings(environment.iter().map(pair))?,
        directory: program.directory.as_ref().map(|directory| c_string(directory.as_os_str())).transpose()?,
        affinity: program.cpus.as_ref().map(crate::affinity::kernel_mask),
        scheduling: program.scheduling,
        null: null.as_raw_fd(),
        output: outputs_in.as_raw_fd(),
        lifeline: supervisors_end.as_raw_fd(),
        report: reports_in.as_raw_fd(),
    };
    let supervisor = fork_supervisor(&orders).map_err(&failed)?;
    Ok(Child {
        pid: 0,
        supervisor,
        lifeline: Some(lifeline.into()),
        report: report.into(),
        output: Some(OwnedFd::from(output).into()),
        exited: None,
        ended: None,
        killing: false,
    })
}

/// Forks with all signals blocked, so that no handler of tare ever runs in the supervisor.
fn fork_supervisor(orders: &Orders) -> io::Result<Pid> {
    // SAFETY: the signal sets live on this stack; the child side calls `supervise` at once, as `clone` demands.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let pid = supervisor::clone(0);
        let error = io::Error::last_os_error();
        if pid == 0 {
            supervise(orders);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        Pid::from_raw(pid.max(0)).ok_or(error)
    }
}

/// Finds a program as `execvp` does in its directory: in `PATH`, unless its name contains a slash. The result may be
/// relative to that directory.
pub fn find_program(name: &Path, directory: Option<&Path>, path: Option<&OsString>) -> Result<PathBuf, ChildError> {
    let from_here = |file: &Path| directory.map_or_else(|| file.to_owned(), |directory| directory.join(file));
    let executable = |file: &Path| file.is_file() && rustix::fs::access(file, Access::EXEC_OK).is_ok();
    let not_found = || ChildError::NotFound { program: name.display().to_string() };
    if name.as_os_str().as_bytes().contains(&b'/') {
        // If the file exists but is not executable, the kernel says why.
        return if from_here(name).exists() { Ok(name.to_owned()) } else { Err(not_found()) };
    }
    let places = path.cloned().unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let mut files = env::split_paths(&places).map(|place| place.join(name));
    files.find(|file| executable(&from_here(file))).ok_or_else(not_found)
}

/// The environment of a program: what tare has of its `own`, and the changes.
fn environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    changes: &[(OsString, OsString)],
) -> BTreeMap<OsString, OsString> {
    let is_of_hook = |name: &OsString| GIT_HOOK_VARIABLES.iter().any(|variable| name == *variable);
    own.filter(|(name, _)| !is_of_hook(name)).chain(changes.iter().cloned()).collect()
}

/// `NAME=VALUE`.
fn pair((name, value): (&OsString, &OsString)) -> OsString {
    OsString::from_vec([name.as_bytes(), b"=", value.as_bytes()].concat())
}

fn c_strings(texts: impl Iterator<Item = OsString>) -> Result<CStrings, ChildError> {
    Ok(CStrings::new(texts.map(|text| c_string(&text)).collect::<Result<_, _>>()?))
}

fn c_string(text: &OsStr) -> Result<CString, ChildError> {
    CString::new(text.as_bytes()).map_err(|_| ChildError::ZeroByte { what: text.to_string_lossy().into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_no_variables_of_a_git_hook_but_its_own() {
        let pair = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        let of_hook = GIT_HOOK_VARIABLES.map(|name| (name, "/hook"));
        let own = of_hook.into_iter().chain([("PATH", "/bin"), ("GIT_SSH", "ssh")]).map(pair);
        let found = environment(own, &[("GIT_DIR", "/own"), ("PATH", "/sbin")].map(pair));
        assert_eq!(found, BTreeMap::from([("GIT_DIR", "/own"), ("GIT_SSH", "ssh"), ("PATH", "/sbin")].map(pair)));
    }
}
