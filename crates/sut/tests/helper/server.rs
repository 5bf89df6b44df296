//! The program that the tests of `tests/sut/server.rs` start as a server: `tare-test-server ROLE ARGUMENT [PORT]`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program of tests unwraps and prints as they do")]

mod spec;

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use spec::announcing;
use tare_sut::server::Server;
use tare_sys::clock;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize| arguments.get(at).cloned().unwrap_or_default();
    let (argument, port) = (argument(1), argument(2));
    match arguments[0].as_str() {
        "announces" => {
            // A server has several threads.
            std::thread::spawn(|| -> () { park() });
            announce(&argument);
        }
        "leaves its worker alone" => {
            // The shell ends before its child does.
            let me = std::env::current_exe().unwrap();
            let shell = ["-c", "\"$0\" 'is left alone' \"$1\" &"].map(OsStr::new);
            Command::new("sh").args(shell).args([me.as_os_str(), OsStr::new(&argument)]).status().unwrap();
        }
        "is left alone" => {
            let parent = || std::fs::read_to_string(format!("/proc/{}/comm", parent_id())).unwrap_or_default();
            while parent() != "supervisor\n" {
                std::thread::yield_now();
            }
            announce(&argument);
        }
        "reads its file" => {
            let text = std::fs::read_to_string(&argument).unwrap();
            let (port, upstream) = text.split_once(' ').unwrap();
            let listener = bind(port);
            println!("listening on {}, in front of {upstream}", listener.local_addr().unwrap().port());
            answer(&listener);
        }
        "listens" => answer(&bind(&argument)),
        "listens twice" => {
            let (_second, first) = (bind("0"), bind("0"));
            println!("both are open");
            answer(&first);
        }
        "lies" => println!("listening on {argument}"),
        "dies" => {
            (0..30).for_each(|n| println!("line {n}"));
            std::process::exit(3);
        }
        "floods" => loop {
            println!("listening on nothing at all, and saying so over and over again");
        },
        "needs a port" => {
            tell_port_and_wait_until_it_is_taken(Path::new(&argument), &port);
            answer(&bind(&port));
        }
        "waits for its port" => {
            tell_port_and_wait_until_it_is_taken(Path::new(&argument), &port);
            // As a program that tries again without an end.
            if let Ok(listener) = TcpListener::bind(format!("127.0.0.1:{port}")) {
                answer(&listener);
            }
        }
        "lets this process take its port" => write_at_once(Path::new(&std::env::var("TAKEN").unwrap()), &port),
        "starts a server" => start_a_server_and_write_its_pid(Path::new(&argument)),
        "burns in a thread" => burn_in_a_thread_for_each_line(),
        _ => println!("silent"),
    }
    park();
}

/// Uses 30 ms of CPU in a thread that is gone when it says so.
fn burn_in_a_thread_for_each_line() -> ! {
    let burn = || {
        let begun = clock::thread_cpu_ns();
        while clock::thread_cpu_ns() < begun + 30_000_000 {}
    };
    println!("runs");
    for _line in std::io::stdin().lines() {
        std::thread::spawn(burn).join().unwrap();
        // A thread that was waited for may still be in the kernel's list for a moment.
        while std::fs::read_dir("/proc/self/task").unwrap().count() > 1 {
            std::thread::yield_now();
        }
        println!("burnt");
    }
    std::process::exit(0);
}

fn announce(port: &str) {
    let listener = bind(port);
    println!("listening on {}", listener.local_addr().unwrap().port());
    answer(&listener);
}

fn bind(port: &str) -> TcpListener {
    TcpListener::bind(format!("127.0.0.1:{port}")).unwrap()
}

fn answer(listener: &TcpListener) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let _closed = stream.read(&mut [0; 1024]);
        let _closed = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
    }
}

/// The first start writes its port to the file, and waits until the test has taken it. Later starts find that it was.
fn tell_port_and_wait_until_it_is_taken(file: &Path, port: &str) {
    if !file.exists() {
        write_at_once(file, port);
    }
    while !file.with_extension("taken").exists() {
        std::thread::yield_now();
    }
}

/// Writes a file that a reader sees whole or not at all.
fn write_at_once(file: &Path, text: &str) {
    let part = PathBuf::from(format!("{}.part", file.display()));
    std::fs::write(&part, text).unwrap();
    std::fs::rename(part, file).unwrap();
}

fn start_a_server_and_write_its_pid(report: &Path) {
    let me = std::env::current_exe().unwrap().display().to_string();
    let spec = announcing([&me, "announces", "{port}"], report.with_extension("log"));
    let server = Server::start(&spec, &AtomicBool::new(false)).unwrap();
    write_at_once(report, &server.pid().to_string());
    park();
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}
