//! A program for tests: starts a child that ignores signals and whose descendants leave its group, prints the ids of all, and
//! waits to be killed.

use std::io::{BufRead, BufReader};

use tare_sys::child::{Child, Program};

/// The program, and two descendants that have left its session.
const SCRIPT: &str = "trap '' TERM HUP INT; setsid sh -c 'setsid sleep 1000 & echo $!; setsid sleep 1000 & echo $!' & \
    sleep 1000 & echo $!; wait";

#[allow(clippy::print_stdout, reason = "a program of tests")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut child = Child::spawn(Program::new("sh").args(["-c", SCRIPT]))?;
    let output = BufReader::new(child.take_output().ok_or("no output")?);
    let descendants: Vec<String> = output.lines().take(3).collect::<Result<_, _>>()?;
    println!("{} {} {}", descendants.join(" "), child.program_pid(), child.supervisor_pid());
    loop {
        std::thread::park();
    }
}
