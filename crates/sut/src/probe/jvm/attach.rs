//! Diagnostic commands of a running HotSpot JVM, as by `jcmd`. A file `.attach_pidN` and a SIGQUIT make it listen on
//! `/tmp/.java_pidN`. A request is a version, a command and three arguments, each closed by a zero byte; the answer is
//! a line with a code (0: success), then text (OpenJDK, `src/hotspot/os/posix/attachListener_posix.cpp`).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tare_sys::clock;
use tare_sys::procfs::process;
use tare_sys::signal::send_quit;

use super::JvmProbe;

/// The longest time in which a JVM opens its socket, and the longest in which it answers.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time between two looks for the socket.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Much more than a list of all log outputs.
const MOST_BYTES: u64 = 1024 * 1024;

/// Lets a JVM carry out a diagnostic command, such as `VM.log list`. Returns what it says.
pub fn diagnostic_command(pid: u32, command: &str) -> Result<String, String> {
    let mut stream = connect(pid)?;
    let said = |error: io::Error| format!("it does not answer ({error})");
    let exchange = |stream: &mut UnixStream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(format!("1\0jcmd\0{command}\0\0\0").as_bytes())?;
        let mut answer = Vec::new();
        stream.take(MOST_BYTES).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    parse_answer(&exchange(&mut stream).map_err(said)?)
}

/// The text of an answer with the code 0.
fn parse_answer(answer: &str) -> Result<String, String> {
    match answer.split_once('\n') {
        Some(("0", text)) => Ok(text.to_owned()),
        _ => Err(format!("it answers \"{}\"", answer.trim().replace('\n', " "))),
    }
}

fn connect(pid: u32) -> Result<UnixStream, String> {
    let socket = PathBuf::from(format!("/tmp/.java_pid{pid}"));
    if let Ok(stream) = UnixStream::connect(&socket) {
        return Ok(stream);
    }
    // Otherwise the signal would end it, or print its threads into its own output.
    if !JvmProbe::find_counters(pid).is_some_and(|probe| probe.takes_commands()) || !process::catches_quit(pid) {
        return Err(
            "it takes no commands: it was started with -XX:+DisableAttachMechanism, -XX:-UsePerfData or -Xrs, runs in \
                    another container, or is no HotSpot"
                .to_owned(),
        );
    }
    let failed = |error: io::Error| format!("it cannot be asked to listen ({error})");
    let wish = PathBuf::from(format!("/tmp/.attach_pid{pid}"));
    make_wish(&wish).map_err(failed)?;
    let listening = send_quit(pid).map_err(failed).and_then(|()| wait_for(&socket));
    let _ = fs::remove_file(wish);
    listening
}

/// Makes the file that asks a JVM to listen, in a folder of all users: what another one has put there is not written to. A tare
/// that was killed may have left its own.
fn make_wish(wish: &Path) -> io::Result<()> {
    let _ = fs::remove_file(wish);
    File::create_new(wish).map(drop)
}

fn wait_for(socket: &PathBuf) -> Result<UnixStream, String> {
    let until = clock::now() + PATIENCE;
    while clock::now() < until {
        if let Ok(stream) = UnixStream::connect(socket) {
            return Ok(stream);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Err(format!("it does not listen within {} s; it may be stopped, or busy", PATIENCE.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_code_before_its_text() {
        assert_eq!(parse_answer("0\nLog output: #0\n"), Ok("Log output: #0\n".to_owned()));
        assert_eq!(parse_answer("0\n"), Ok(String::new()));
        for (answer, words) in [("1\nUnknown command\n", "\"1 Unknown command\""), ("", "\"\""), ("0", "\"0\"")] {
            assert!(parse_answer(answer).unwrap_err().contains(words), "{answer}");
        }
    }

    #[test]
    fn a_link_that_is_there_already_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [wish, other] = ["wish", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "theirs").unwrap();
        std::os::unix::fs::symlink(&other, &wish).unwrap();
        make_wish(&wish).unwrap();
        assert_eq!((fs::read(&wish).unwrap(), fs::read(&other).unwrap()), (Vec::new(), b"theirs".to_vec()));
        make_wish(&wish).unwrap();
    }

    #[test]
    fn a_process_that_is_no_jvm_gets_no_signal() {
        // This test would end with it.
        let refused = diagnostic_command(std::process::id(), "VM.log list").unwrap_err();
        assert!(refused.contains("it takes no commands"), "{refused}");
    }
}
