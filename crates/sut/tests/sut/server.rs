//! Real servers, in every way in which a start can succeed or fail.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::spec::{TIMEOUT, announcing};
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Pid, Signal, kill_process};
use tare_sut::SutError;
use tare_sut::probe::cpu::CpuProbe;
use tare_sut::server::{Server, ServerSpec, Status};
use tare_sys::affinity::{CpuSet, allowed_cpus, cpus_of_task};
use tare_sys::child::How;
use tare_sys::clock;
use tare_sys::procfs::process::Stat;
use tare_sys::procfs::tree::process_tree;

/// Whether a start that nobody cancels is cancelled.
static NEVER: AtomicBool = AtomicBool::new(false);
/// The program that plays a server: `tests/helper/server.rs`.
pub const HELPER: &str = env!("CARGO_BIN_EXE_tare-test-server");

fn spec(directory: &Path, role: &str, argument: &str) -> ServerSpec {
    announcing([HELPER, role, argument], directory.join("server.log"))
}

/// Starts it where it cannot work. Returns the error and its text.
fn start_error(change: impl Fn(&mut ServerSpec), role: &str, argument: &str) -> (SutError, String) {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = spec(directory.path(), role, argument);
    change(&mut spec);
    let error = Server::start(&spec, &NEVER).unwrap_err();
    let text = error.to_string();
    (error, text)
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

#[test]
fn a_server_is_ready_at_the_announced_port_and_gone_after_its_stop() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(&spec(directory.path(), "announces", "{port}"), &NEVER).unwrap();
    assert_eq!(server.base_url(), format!("http://{}", server.address()));
    let mut answer = String::new();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("hi") && server.status() == Status::Running);
    let pids = process_tree(server.pid()).unwrap();
    // The 41st field of proc_pid_stat(5) is the policy, and 3 is SCHED_BATCH.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    assert_eq!(stat.rsplit_once(')').unwrap().1.split_whitespace().nth(38), Some("3"));
    let report = server.stop().unwrap();
    assert!(report.starts_with("ended after SIGTERM: killed by signal 15"), "{report}");
    assert!(pids.into_iter().all(|pid| !is_alive(pid)));
    assert!(std::fs::read_to_string(directory.path().join("server.log")).unwrap().contains("listening on"));
}

#[test]
fn a_worker_that_lost_its_parent_is_the_servers_own() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(&spec(directory.path(), "leaves its worker alone", "{port}"), &NEVER).unwrap();
    let first = CpuSet::from_indices(allowed_cpus().unwrap().iter().take(1));
    server.set_cpus(&first).unwrap();
    let probe = CpuProbe::new(server.pid()).unwrap();
    let [worker] = probe.processes().filter(|pid| *pid != server.pid()).collect::<Vec<_>>()[..] else {
        panic!("its CPU is not counted: {probe:?}");
    };
    assert_eq!(cpus_of_task(worker).unwrap(), first);
    server.stop().unwrap();
    assert!(!is_alive(worker));
}

#[test]
fn without_a_line_a_port_is_chosen_or_found() {
    let directory = tempfile::tempdir().unwrap();
    for (argument, url) in [("{port}", Some("http://127.0.0.1:{port}/api")), ("{port}", None), ("0", None)] {
        let mut spec = spec(directory.path(), "listens", argument);
        spec.ready = None;
        spec.base_url = url.map(str::to_owned);
        let server = Server::start(&spec, &NEVER).unwrap();
        assert!(server.base_url().contains(&server.address().port().to_string()), "{}", server.base_url());
        assert_eq!(server.base_url().ends_with("/api"), url.is_some());
    }
}

#[test]
fn several_servers_start_at_the_same_time() {
    let starts: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                let directory = tempfile::tempdir().unwrap();
                Server::start(&spec(directory.path(), "announces", "{port}"), &NEVER).unwrap()
            })
        })
        .collect();
    let servers: Vec<_> = starts.into_iter().map(|start| start.join().unwrap()).collect();
    let pids: Vec<_> = servers.iter().map(Server::pid).collect();
    drop(servers);
    assert!(pids.iter().all(|&pid| !is_alive(pid)));
}

#[test]
fn a_missing_command_and_an_empty_one_are_different_errors() {
    let (_, text) = start_error(|spec| spec.command = vec!["tare-no-such-program".into()], "", "");
    assert!(text.contains("command not found: tare-no-such-program"), "{text}");
    assert!(matches!(start_error(|spec| spec.command.clear(), "", "").0, SutError::NoCommand { .. }));
    let (_, text) = start_error(|spec| spec.ready = Some("(".into()), "announces", "{port}");
    assert!(text.starts_with("the server: its readiness line cannot be used"), "{text}");
}

#[test]
fn a_server_that_dies_at_once_is_shown_with_its_code_and_last_lines() {
    let (error, text) = start_error(|_| (), "dies", "");
    assert!(matches!(error, SutError::ExitedBeforeReady { how: How::Code(3), .. }), "{text}");
    assert!(text.contains("exit code 3") && text.contains("| line 29") && text.contains("| line 10"), "{text}");
    assert!(!text.contains("| line 9\n"), "{text}");
    let fixed = |spec: &mut ServerSpec| spec.ready = None;
    let told =
        "(exit code 3); it is given no {port}, and two servers of one fixed port cannot run side by side; the end";
    assert!(start_error(fixed, "dies", "").1.contains(told), "{}", start_error(fixed, "dies", "").1);
    assert!(!text.contains("fixed port") && !start_error(fixed, "dies", "{port}").1.contains("fixed port"), "{text}");
}

#[test]
fn a_server_that_never_gets_ready_is_given_up_with_what_was_waited_for() {
    let (error, text) = start_error(|spec| spec.startup_timeout = Duration::from_secs(1), "is silent", "");
    assert!(matches!(error, SutError::NotReady { .. }) && text.contains("no line matched"), "{text}");
    assert!(text.contains("| silent"), "{text}");
    let soon = |spec: &mut ServerSpec| {
        spec.startup_timeout = Duration::from_millis(300);
        spec.ready = None;
    };
    assert!(start_error(soon, "is silent", "").1.contains("it listens nowhere"));
}

#[test]
fn a_server_that_is_given_up_may_end_what_it_has_begun_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = spec(directory.path(), "is silent", "");
    let script = "trap 'echo ended >ended; exit' TERM; while :; do sleep 0.05; done";
    spec.command = ["sh", "-c", script].map(str::to_owned).to_vec();
    spec.directory = Some(directory.path().to_owned());
    spec.startup_timeout = Duration::from_secs(1);
    let error = Server::start(&spec, &NEVER).unwrap_err();
    assert!(matches!(error, SutError::NotReady { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(directory.path().join("ended")).unwrap(), "ended\n");
}

#[test]
fn a_port_that_somebody_holds_is_refused_by_name() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = holder.local_addr().unwrap().port();
    let fixed = |spec: &mut ServerSpec| {
        spec.ready = None;
        spec.base_url = Some(format!("http://127.0.0.1:{port}"));
    };
    let (error, text) = start_error(fixed, "listens", &port.to_string());
    assert!(matches!(error, SutError::PortTaken { .. }), "{text}");
    let held = format!("port {port} is held by PID {}", std::process::id());
    assert!(text.contains(&held), "{text}");
    let with_a_second_port = |spec: &mut ServerSpec| {
        fixed(spec);
        spec.env.insert("METRICS_PORT".to_owned(), "{port}".to_owned());
    };
    let (error, text) = start_error(with_a_second_port, "listens", &port.to_string());
    assert!(matches!(error, SutError::PortTaken { .. }) && text.contains(&held), "tare did not choose it: {text}");
}

#[test]
fn a_server_that_announces_another_processes_port_is_refused() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = holder.local_addr().unwrap().port();
    let (error, text) = start_error(|_| (), "lies", &port.to_string());
    assert!(matches!(error, SutError::NotReady { .. }) && text.contains("but no process of it does"), "{text}");
    assert!(text.contains(&format!("PID {}", std::process::id())), "{text}");
    let (_, text) = start_error(|_| (), "lies", "0");
    assert!(text.starts_with("the server: its ready line matched, but its (?<port>…) is not a port number;"), "{text}");
}

/// An address on which nobody listens, and its socket, which keeps others from it.
pub fn kept_address() -> (OwnedFd, SocketAddr) {
    let keeper = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&keeper, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = tare_sys::socket::local_address(keeper.as_fd()).unwrap();
    (keeper, address)
}

#[test]
fn a_server_that_announces_a_port_on_which_nobody_listens_is_refused() {
    let (_keeper, address) = kept_address();
    assert!(start_error(|_| (), "lies", &address.port().to_string()).1.contains("it listens on no port"));
}

/// Starts a server whose first port this process takes before it does.
fn start_without_first_port(role: &str) -> (u16, Server) {
    let directory = tempfile::tempdir().unwrap();
    let seen = directory.path().join("port");
    let mut spec = spec(directory.path(), role, &seen.display().to_string());
    spec.command.push("{port}".to_owned());
    spec.ready = None;
    spec.base_url = Some("http://127.0.0.1:{port}".to_owned());
    std::thread::scope(|scope| {
        let start = scope.spawn(|| Server::start(&spec, &NEVER).unwrap());
        wait_until("the server to get a port", || seen.exists());
        let port: u16 = std::fs::read_to_string(&seen).unwrap().parse().unwrap();
        let _thief = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        std::fs::write(seen.with_extension("taken"), "").unwrap();
        (port, start.join().unwrap())
    })
}

#[test]
fn a_server_whose_port_another_process_took_starts_again_with_another_one() {
    for role in ["needs a port", "waits for its port"] {
        let (lost, server) = start_without_first_port(role);
        assert_ne!(server.address().port(), lost, "{role}");
        assert_eq!(server.base_url(), format!("http://127.0.0.1:{}", server.address().port()));
    }
}

#[test]
fn a_server_that_loses_every_port_says_who_has_the_last_one() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = spec(directory.path(), "lets this process take its port", &std::process::id().to_string());
    spec.command.push("{port}".to_owned());
    spec.ready = None;
    spec.base_url = Some("http://127.0.0.1:{port}".to_owned());
    let taken = directory.path().join("taken");
    spec.env.insert("TAKEN".to_owned(), taken.display().to_string());
    // This process listens on every port that the server gets, until the start has failed.
    std::thread::scope(|scope| {
        let start = scope.spawn(|| Server::start(&spec, &NEVER).unwrap_err());
        let mut thieves: Vec<TcpListener> = Vec::new();
        while !start.is_finished() {
            let asked = std::fs::read_to_string(&taken).ok().and_then(|port| port.parse::<u16>().ok());
            let is_new = |port: &u16| thieves.iter().all(|thief| thief.local_addr().unwrap().port() != *port);
            if let Some(port) = asked.filter(is_new) {
                thieves.push(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
            }
            std::thread::yield_now();
        }
        let error = start.join().unwrap();
        let text = error.to_string();
        assert!(matches!(error, SutError::PortLost { tries: 5, .. }), "{text}");
        let holder = format!("then held by PID {}", std::process::id());
        assert!(text.contains(&holder) && text.contains("so were 4 ports before it"), "{text}");
    });
}

#[test]
fn a_server_with_two_ports_must_say_which() {
    let both_open = |spec: &mut ServerSpec| spec.ready = Some("both are open".into());
    let (_, text) = start_error(both_open, "listens twice", "");
    assert!(text.starts_with("the server listens on 2 ports ("), "{text}");
}

#[test]
fn a_start_can_be_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let spec = spec(directory.path(), "is silent", "");
    let cancelled = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let start = scope.spawn(|| Server::start(&spec, &cancelled));
        wait_until("the server to run", || std::fs::metadata(&spec.log_path).is_ok_and(|log| log.len() > 0));
        cancelled.store(true, Ordering::Relaxed);
        assert!(matches!(start.join().unwrap(), Err(SutError::Cancelled { .. })));
    });
}

#[test]
fn a_flood_of_output_fills_neither_disk_nor_memory() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = spec(directory.path(), "floods", "");
    spec.startup_timeout = Duration::from_secs(1);
    Server::start(&spec, &NEVER).unwrap_err();
    assert!(std::fs::metadata(&spec.log_path).unwrap().len() <= (2 << 20) + 100);
}

#[test]
fn a_stopped_server_is_seen_and_stopped_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(&spec(directory.path(), "announces", "{port}"), &NEVER).unwrap();
    let pid = server.pid();
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::STOP).unwrap();
    wait_until("the server to be stopped", || server.status() == Status::Stopped);
    server.stop().unwrap();
    assert!(!is_alive(pid));
}

#[test]
fn a_server_that_dies_later_is_seen() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(&spec(directory.path(), "announces", "{port}"), &NEVER).unwrap();
    kill_process(Pid::from_raw(server.pid().cast_signed()).unwrap(), Signal::KILL).unwrap();
    wait_until("the server to be dead", || server.status() == Status::Exited(How::Signal(9)));
    assert!(server.stop().unwrap().starts_with("had ended by itself: killed by signal 9"));
}

/// A proxy, started as `role`, in front of a server.
fn chain(directory: &Path, role: &str) -> ServerSpec {
    let behind = ServerSpec {
        name: "app".into(),
        log_path: directory.join("app.log"),
        ..spec(directory, "announces", "{port}")
    };
    let files = [("own.conf".to_owned(), "{port} {upstream}".to_owned())].into();
    ServerSpec { files, upstream: Some(Box::new(behind)), ..spec(directory, role, "{files}/own.conf") }
}

fn command_line(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap()
}

#[test]
fn a_proxy_learns_where_the_server_behind_it_listens_and_both_end_together() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(&chain(directory.path(), "reads its file"), &NEVER).unwrap();
    let all: Vec<&Server> = server.chain().collect();
    assert_eq!(all.iter().map(|one| one.name()).collect::<Vec<_>>(), ["the server", "app"]);
    let said = server.last_lines().pop().unwrap_or_default();
    assert!(said.ends_with(&format!("in front of {}", all[1].address())), "{said}");
    let (pids, behind) = ([server.pid(), all[1].pid()], all[1].pid());
    let conf = command_line(pids[0]).split('\0').find(|word| word.ends_with("own.conf")).unwrap().to_owned();
    assert!(Path::new(&conf).exists() && server.status() == Status::Running);
    assert!(server.command_line().ends_with(&conf), "{}", server.command_line());
    kill_process(Pid::from_raw(behind.cast_signed()).unwrap(), Signal::KILL).unwrap();
    let ended = Status::UpstreamExited { server: "app".to_owned(), how: How::Signal(9) };
    wait_until("the server behind it to be dead", || server.status() == ended);
    let report = server.stop().unwrap();
    assert!(report.starts_with("ended after SIGTERM: killed by signal 15"), "{report}");
    assert!(report.contains("; app behind it had ended by itself: killed by signal 9"), "{report}");
    assert!(pids.into_iter().all(|pid| !is_alive(pid)) && !Path::new(&conf).exists());
}

#[test]
fn a_proxy_that_does_not_start_leaves_nothing_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let error = Server::start(&chain(directory.path(), "dies"), &NEVER).unwrap_err();
    assert!(matches!(error, SutError::ExitedBeforeReady { ref server, .. } if server == "the server"), "{error}");
    let log = std::fs::read_to_string(directory.path().join("app.log")).unwrap();
    let port = log.trim().rsplit(' ').next().unwrap();
    assert!(TcpStream::connect(format!("127.0.0.1:{port}")).is_err(), "the app has ended");
}

#[test]
fn a_server_behind_a_proxy_that_does_not_start_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = chain(directory.path(), "reads its file");
    spec.upstream.as_mut().unwrap().command[1] = "dies".into();
    let error = Server::start(&spec, &NEVER).unwrap_err().to_string();
    assert!(error.starts_with("app ended before it was ready"), "{error}");
}

#[test]
fn all_threads_of_a_server_move_to_other_cpus() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(&spec(directory.path(), "announces", "{port}"), &NEVER).unwrap();
    let first = CpuSet::from_indices(allowed_cpus().unwrap().iter().take(1));
    server.set_cpus(&first).unwrap();
    let tasks = tare_sys::procfs::process::thread_ids(server.pid()).unwrap();
    assert!(tasks.len() > 1 && tasks.into_iter().all(|tid| cpus_of_task(tid).unwrap() == first));
}

#[test]
fn kill_9_of_tare_leaves_no_server() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("pid");
    let mut helper = std::process::Command::new(HELPER).arg("starts a server").arg(&report).spawn().unwrap();
    wait_until("the server to be ready", || report.exists());
    let pid = std::fs::read_to_string(&report).unwrap().parse().unwrap();
    assert!(is_alive(pid));
    helper.kill().unwrap();
    helper.wait().unwrap();
    wait_until("the server to go", || !is_alive(pid));
}
