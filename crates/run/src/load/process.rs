//! The process of a server: which one a user means, and whether it listens there or shares cores with the generator.

use std::collections::HashSet;

use tare_load::Target;
use tare_plan::PlanError;
use tare_plan::load_plan::ServerProcess;
use tare_sys::affinity::{CpuSet, cpus_of_task};
use tare_sys::procfs::net::{listeners_on, socket_owner, sockets_of};
use tare_sys::procfs::process::{Command, commands};
use tare_sys::procfs::tree::process_tree;

/// Beyond these, candidates are counted.
const MOST_LISTED: usize = 8;
const MOST_SHOWN: usize = 70;

/// The process with this number, or the only one whose command line contains this text. The processes that a match has started,
/// this process, and those that started it are no candidates.
pub fn find_process(wanted: &str) -> Result<ServerProcess, PlanError> {
    let refused = |message: String| PlanError::value("--server", message);
    let all = commands().map_err(|error| refused(error.to_string()))?;
    let command = choose(&all, wanted, std::process::id()).map_err(refused)?;
    // Its arguments may have secrets, which a record must not hold.
    let program = command.line.split(' ').next().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    Ok(ServerProcess { name, pid: command.pid })
}

fn choose(all: &[Command], wanted: &str, own: u32) -> Result<Command, String> {
    if let Ok(pid) = wanted.parse::<u32>() {
        let found = all.iter().find(|command| command.pid == pid).cloned();
        return found.ok_or_else(|| format!("there is no process {pid}; ps -e lists those that run"));
    }
    let own_line = ancestors(all, own);
    let matches = |command: &&Command| command.line.contains(wanted) && !own_line.contains(&command.pid);
    let matching: Vec<&Command> = all.iter().filter(matches).collect();
    let is_started_by_another = |command: &Command| {
        ancestors(all, command.parent).iter().any(|pid| matching.iter().any(|other| other.pid == *pid))
    };
    let found: Vec<&Command> = matching.iter().copied().filter(|command| !is_started_by_another(command)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(format!("no command line contains \"{wanted}\"; give the number of the process")),
        several => {
            let listed: Vec<String> = several.iter().take(MOST_LISTED).map(|command| shown(command)).collect();
            let more = several.len().saturating_sub(MOST_LISTED);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            Err(format!(
                "several command lines contain \"{wanted}\"; give the number of one: {}{more}",
                listed.join(", ")
            ))
        }
    }
}

/// `4711 (java -jar app.jar)`.
fn shown(command: &Command) -> String {
    let short: String = command.line.chars().filter(|c| !c.is_control()).take(MOST_SHOWN).collect();
    format!("{} ({short}{})", command.pid, if command.line.chars().count() > MOST_SHOWN { "…" } else { "" })
}

fn ancestors(all: &[Command], of: u32) -> Vec<u32> {
    let mut line = vec![of];
    while let Some(command) = all.iter().find(|command| line.last() == Some(&command.pid)) {
        // A table that changes while it is read may have a circle.
        if line.contains(&command.parent) {
            break;
        }
        line.push(command.parent);
    }
    line
}

/// Whether the server is on another machine, or may not use these cores. False if that is not known.
pub fn server_is_elsewhere(target: &Target, cpus: &CpuSet) -> bool {
    let server = || cpus_of_server(target.tcp_address()?.port());
    !target.is_on_this_machine() || server().is_some_and(|server| !server.overlaps(cpus))
}

/// Whether a process, or one that it started, listens on the port of the target. True also if that is not known.
pub fn may_answer(pid: u32, target: &Target) -> bool {
    let known = target.tcp_address().zip(process_tree(pid).ok());
    let Some((address, processes)) = known else { return true };
    let inodes = listening_on(address.port());
    inodes.is_empty() || processes.into_iter().any(|pid| !sockets_of(pid).is_disjoint(&inodes))
}

/// The cores that the process which listens on this port may use; `None` also if it is another user's.
fn cpus_of_server(port: u16) -> Option<CpuSet> {
    cpus_of_task(socket_owner(&listening_on(port))?.pid).ok()
}

fn listening_on(port: u16) -> HashSet<u64> {
    listeners_on(port).unwrap_or_default().into_iter().map(|listener| listener.inode).collect()
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;
    use std::net::TcpListener;
    use std::process::Stdio;

    use super::*;

    fn table() -> Vec<Command> {
        [
            (1, 0, "init"),
            (10, 1, "sh -c exec java -jar shop.jar"),
            (11, 10, "java -jar shop.jar"),
            (20, 1, "node server.js"),
            (21, 20, "node worker.js"),
            (22, 20, "node worker.js"),
            (30, 1, "bash -c tare load --server shop.jar"),
            (31, 30, "tare load --server shop.jar"),
            (40, 41, "circle"),
            (41, 40, "circle"),
        ]
        .map(|(pid, parent, line)| Command { pid, parent, line: line.to_owned() })
        .to_vec()
    }

    fn chosen(wanted: &str) -> Result<u32, String> {
        choose(&table(), wanted, 31).map(|command| command.pid)
    }

    #[test]
    fn a_number_or_a_part_of_one_command_line_names_a_process() {
        assert_eq!(chosen("11"), Ok(11));
        assert_eq!(chosen("shop.jar"), Ok(10), "with the JVM that it started, and not this command");
        assert_eq!(chosen("server.js"), Ok(20));
        assert_eq!(chosen("node"), Ok(20), "a cluster is one server");
    }

    #[test]
    fn none_and_several_are_refused_and_listed() {
        assert_eq!(chosen("12").unwrap_err(), "there is no process 12; ps -e lists those that run");
        assert!(chosen("nginx").unwrap_err().contains("no command line contains \"nginx\""));
        let several = chosen("worker.js").unwrap_err();
        assert!(several.ends_with("give the number of one: 21 (node worker.js), 22 (node worker.js)"), "{several}");
        assert!(chosen("circle").is_err(), "each has started the other");
    }

    #[test]
    fn long_lists_and_lines_are_cut() {
        let long = |pid| Command { pid, parent: 1, line: format!("app \u{1b}{}", "ä".repeat(200)) };
        let all: Vec<Command> = (100..120).map(long).collect();
        let error = choose(&all, "app", 1).unwrap_err();
        assert!(
            error.contains("107 (app ä") && error.ends_with("…), and 12 more") && !error.contains('\u{1b}'),
            "{error}"
        );
    }

    #[test]
    fn a_server_is_elsewhere_if_it_may_not_use_the_cores() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = Target::Tcp(socket.local_addr().unwrap());
        let own = tare_sys::affinity::allowed_cpus().unwrap();
        assert!(!server_is_elsewhere(&here, &own), "this process listens, on the cores that it may use");
        assert!(server_is_elsewhere(&here, &CpuSet::from_indices([100_000])));
        // An address for documentation: of no machine, and so not of this one.
        assert!(server_is_elsewhere(&Target::Tcp("192.0.2.1:80".parse().unwrap()), &own));
    }
    #[test]
    fn who_listens_is_asked_of_the_whole_process() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = Target::Tcp(socket.local_addr().unwrap());
        assert!(may_answer(std::process::id(), &here));
        let mut other = std::process::Command::new("sh");
        other.args(["-c", "echo runs; read x"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut other = other.spawn().unwrap();
        // `spawn` returns before the kernel has closed this process's socket in the child.
        std::io::BufReader::new(other.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        assert!(!may_answer(other.id(), &here));
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(may_answer(1, &Target::Unix("/run/any".into())), "not known");
    }
}
