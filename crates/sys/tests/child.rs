//! Real programs under the supervisor: none of their processes may outlive them, or tare.
#![allow(clippy::unwrap_used)] // a helper of tests may unwrap as they do

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::child::{Child, ChildError, How, Program};
use tare_sys::clock;
use tare_sys::procfs::process::Stat;

const TIMEOUT: Duration = Duration::from_secs(20);

fn sh(script: &str) -> Program {
    Program::new("sh").args(["-c", script])
}

fn is_alive(pid: u32) -> bool {
    Stat::of_process(pid).is_ok_and(|stat| stat.is_alive())
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = clock::now() + TIMEOUT;
    while !condition() {
        assert!(clock::now() < deadline, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.take_output().unwrap()).lines().map(Result::unwrap)
}

fn three_numbers(child: &mut Child) -> [u32; 3] {
    let numbers: Vec<u32> = lines(child).take(3).map(|line| line.trim().parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Writes a program from another process. A child that another test starts meanwhile would keep a file open that this
/// process writes, and what is open for writing cannot be executed (ETXTBSY).
fn write_program(file: &Path, text: &str) {
    let write = ["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""];
    assert!(Command::new("sh").args(write).arg(file).arg(text).status().unwrap().success());
}

#[test]
fn output_and_exit_code_come_back() {
    let mut child = Child::spawn(sh("echo out; echo err >&2; exit 7")).unwrap();
    let mut text = String::new();
    child.take_output().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "out\nerr\n");
    assert_eq!(child.wait(TIMEOUT), Some(How::Code(7)));
    let ended = child.terminate(TIMEOUT).unwrap();
    assert!(!ended.forced && ended.how == How::Code(7));
}

#[test]
fn a_missing_command_is_named() {
    for name in ["tare-no-such-program", "./no/such/program"] {
        let error = Child::spawn(Program::new(name)).unwrap_err();
        assert!(matches!(error, ChildError::NotFound { .. }) && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_missing_directory_a_plain_file_and_an_absent_cpu_say_what_failed() {
    let mut elsewhere = sh("true");
    elsewhere.directory = Some("/no/such/directory".into());
    let mut pinned = sh("true");
    pinned.cpus = Some(CpuSet::from_indices([CpuSet::LIMIT - 1]));
    let file = tempfile::NamedTempFile::new().unwrap();
    let cases = [(elsewhere, "directory /no/such/directory"), (pinned, "CPUs"), (Program::new(file.path()), "execute")];
    for (program, says) in cases {
        let error = Child::spawn(program).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_script_that_cannot_be_executed_says_what_is_wrong_with_its_first_line() {
    let folder = tempfile::tempdir().unwrap();
    for (text, says) in [
        (
            "#!/bin/sh\r\necho up\r\n",
            "\"/bin/sh\\r\" of its first line, which ends in CR LF; end its lines in LF: No such",
        ),
        ("#! /no/such/venv/python -u\n", "cannot execute \"/no/such/venv/python\" of its first line: No such file"),
        ("echo up\n", "no script with a first line such as #!/bin/sh: Exec format error"),
    ] {
        let file = folder.path().join("run.sh");
        write_program(&file, text);
        let of_path = std::env::join_paths([folder.path()]).unwrap();
        let found = Program { env: vec![("PATH".into(), of_path)], ..Program::new("run.sh") };
        let relative = Program { directory: Some(folder.path().to_owned()), ..Program::new("./run.sh") };
        for program in [Program::new(&file), relative, found] {
            let error = Child::spawn(program).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}

#[test]
fn environment_directory_and_cpus_reach_the_program() {
    let mut program = sh("echo $GREETING; pwd; grep Cpus_allowed_list /proc/self/status");
    let first = CpuSet::from_indices(allowed_cpus().unwrap().iter().take(1));
    program.env = vec![("GREETING".into(), "hello".into())];
    program.directory = Some("/".into());
    program.cpus = Some(first.clone());
    let mut child = Child::spawn(program).unwrap();
    let got: Vec<_> = lines(&mut child).collect();
    assert_eq!(got[..2], ["hello", "/"]);
    assert_eq!(got[2].rsplit('\t').next().unwrap(), first.to_string());
}

#[test]
fn a_relative_entry_of_path_is_looked_up_in_the_directory_of_the_program() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("bin")).unwrap();
    std::os::unix::fs::symlink("/bin/true", directory.path().join("bin/tare-test-program")).unwrap();
    let mut program = Program::new("tare-test-program");
    program.env = vec![("PATH".into(), "bin".into())];
    program.directory = Some(directory.path().to_owned());
    assert_eq!(Child::spawn(program).unwrap().wait(TIMEOUT), Some(How::Code(0)));
}

#[test]
fn sigterm_is_tried_first() {
    let mut child = Child::spawn(sh("trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done")).unwrap();
    let mut output = lines(&mut child);
    output.next();
    let ended = child.terminate(TIMEOUT).unwrap();
    assert_eq!((ended.how, ended.forced), (How::Code(3), false));
}

#[test]
fn what_a_wrapper_has_started_has_time_to_end_too() {
    // The inner shell cleans up for longer than the outer one, which ends at once.
    let server = "trap 'sleep 0.3; echo clean; exit' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = Child::spawn(sh(&format!("sh -c \"{server}\"; true"))).unwrap();
    let mut output = lines(&mut child);
    output.next();
    let ended = child.terminate(TIMEOUT).unwrap();
    assert_eq!((ended.how, ended.forced), (How::Signal(15), false));
    assert!(output.any(|line| line == "clean"));
}

#[test]
fn a_program_that_ends_by_itself_leaves_nothing_behind() {
    let mut child = Child::spawn(sh("sleep 1000 & echo $!")).unwrap();
    let pid: u32 = lines(&mut child).next().unwrap().parse().unwrap();
    assert_eq!(child.wait(TIMEOUT), Some(How::Code(0)));
    wait_until("its child is gone", || !is_alive(pid));
}

#[test]
fn what_ignores_sigterm_is_killed() {
    let mut child = Child::spawn(sh("trap '' TERM; echo ready; while :; do sleep 0.05; done")).unwrap();
    let mut output = lines(&mut child);
    output.next();
    let ended = child.terminate(Duration::from_millis(50)).unwrap();
    assert_eq!((ended.how, ended.forced), (How::Signal(9), true));
}

#[test]
fn a_stopped_program_ends_all_the_same() {
    let mut child = Child::spawn(Program::new("sleep").args(["1000"])).unwrap();
    signal(child.program_pid(), Signal::STOP);
    let ended = child.terminate(TIMEOUT).unwrap();
    assert_eq!((ended.how, ended.forced), (How::Signal(15), false));
}

/// Two grandchildren that have forked twice and left session and group, and a child that stays in the group. The program
/// goes on when all of them run.
const DAEMON: &str = "setsid sh -c 'setsid sleep 1000 & echo $!; setsid sleep 1000 & echo $!' & shell=$!; \
    sleep 1000 & echo $!; wait $shell;";

#[test]
fn a_double_forked_grandchild_dies_with_the_program() {
    for end in ["exit 0", "wait; sleep 1000"] {
        let mut child = Child::spawn(sh(&format!("{DAEMON} {end}"))).unwrap();
        let pids = three_numbers(&mut child);
        let supervisor = child.supervisor_pid();
        child.kill_tree().unwrap();
        assert!(!is_alive(supervisor) && !is_alive(child.program_pid()));
        assert!(pids.iter().all(|&pid| !is_alive(pid)), "{pids:?}");
    }
}

#[test]
fn leftovers_of_a_program_that_has_ended_are_killed_without_being_asked() {
    let mut child = Child::spawn(sh(&format!("{DAEMON} exit 0"))).unwrap();
    let pids = three_numbers(&mut child);
    assert_eq!(child.wait(TIMEOUT), Some(How::Code(0)));
    wait_until("the grandchildren to go", || pids.iter().all(|&pid| !is_alive(pid)));
}

#[test]
fn a_program_with_many_children_is_not_unkillable() {
    let many = "i=0; while [ $i -lt 1500 ]; do sleep 1000 & i=$((i+1)); done; echo ready; wait";
    let mut child = Child::spawn(sh(many)).unwrap();
    assert_eq!(lines(&mut child).next().as_deref(), Some("ready"));
    // A look through all processes for each of them would take longer than tare waits.
    child.kill_tree().unwrap();
}

#[test]
fn killing_the_supervisor_kills_the_program() {
    let mut child = Child::spawn(Program::new("sleep").args(["1000"])).unwrap();
    let pid = child.program_pid();
    signal(child.supervisor_pid(), Signal::KILL);
    assert_eq!(child.wait(TIMEOUT), Some(How::SupervisorKilled));
    wait_until("the program to go", || !is_alive(pid));
}

#[test]
fn many_programs_start_and_end_at_once() {
    let threads = (0..8).map(|n| {
        std::thread::spawn(move || {
            let mut child = Child::spawn(sh(&format!("echo {n}; exit {n}"))).unwrap();
            assert_eq!(lines(&mut child).collect::<Vec<_>>(), [n.to_string()]);
            assert_eq!(child.wait(TIMEOUT), Some(How::Code(n)));
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_parent_without_a_free_descriptor_is_told_so() {
    let few = "ulimit -n 17; exec \"$0\"";
    let output = Command::new("sh").args(["-c", few, env!("CARGO_BIN_EXE_holds-a-child")]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("code: 24"), "{said}");
}

#[test]
fn kill_9_of_the_parent_leaves_nothing_running() {
    let mut holder = Command::new(env!("CARGO_BIN_EXE_holds-a-child")).stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut text).unwrap();
    let pids: Vec<u32> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() == 5 && pids.iter().all(|&pid| is_alive(pid)));
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_until("all five to go", || pids.iter().all(|&pid| !is_alive(pid)));
}
