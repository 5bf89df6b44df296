//! The CPU of a server that does nothing else. The unit tests' own process has threads of other tests.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::server::HELPER;
use tare_sut::probe::cpu::CpuProbe;
use tare_sut::probe::kind;

#[test]
fn threads_that_nobody_saw_are_in_the_remainder_and_all_adds_up() {
    let mut server = Command::new(HELPER);
    server.arg("burns in a thread").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut orders = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let mut probe = CpuProbe::new(server.id()).unwrap();
    let before = probe.take_sample().unwrap();
    orders.write_all(b"\n").unwrap();
    lines.next().unwrap().unwrap();
    let used = probe.take_sample().unwrap().since(&before);
    assert!(used.total_ns >= 30_000_000 && used.by_kind[kind::EXITED] >= 20_000_000, "{used:?}");
    drop(orders);
    server.wait().unwrap();
}
