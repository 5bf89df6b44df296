//! wrk: a closed loop. A script says what to send and how to print the figures.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_plan::Engine;
use tare_record::cross_check::ToolFigures;
use tare_sys::child::{Program, find_program, run_to_end};

use super::{Cell, Tool};
use crate::error::RunError;

const SCRIPT: &str = include_str!("wrk.lua");
/// The lowest status that wrk counts as an error.
const LEAST_WRONG_STATUS: u16 = 400;
const MICROSECOND_NS: u64 = 1_000;

/// Finds wrk on the PATH.
pub(super) fn find(cancelled: &AtomicBool) -> Result<Tool, RunError> {
    let program =
        find_program(Path::new("wrk"), None, std::env::var_os("PATH").as_ref()).map_err(|_| RunError::Engine {
            engine: Engine::Wrk,
            message: "wrk is not on the PATH; install it (on Debian: apt install wrk) or leave it out".to_owned(),
        })?;
    let program = program.display().to_string();
    Ok(Tool { engine: Engine::Wrk, version: version(&program, cancelled), start: vec![program], arguments, figures })
}

/// The word after its name in what `wrk -v` says, which wrk calls a failure; empty where it says something else.
fn version(program: &str, cancelled: &AtomicBool) -> String {
    let asked = run_to_end(Program::new(program).args(["-v"]), Duration::from_secs(5), cancelled);
    let Ok((Some(_), output)) = asked else { return String::new() };
    let mut words = output.split_whitespace().skip_while(|word| *word != "wrk").skip(1);
    words.next().unwrap_or_default().to_owned()
}

fn arguments(cell: &Cell<'_>) -> Result<Vec<String>, String> {
    if cell.status >= LEAST_WRONG_STATUS {
        return Err(format!("wrk takes every answer with status {} for an error", cell.status));
    }
    let script = cell.folder.join("wrk.lua");
    fs::write(&script, SCRIPT).map_err(|error| format!("cannot write {}: {error}", script.display()))?;
    let threads = threads(cell.users, cell.cpus.len());
    let mut arguments: Vec<String> = ["-t", &threads.to_string(), "-c", &cell.users.to_string()].map(Into::into).into();
    arguments.extend(["-d".to_owned(), format!("{}s", cell.seconds())]);
    arguments.extend(["--timeout".to_owned(), format!("{}s", cell.timeout.as_secs().max(1))]);
    arguments.extend(["-s".to_owned(), script.display().to_string(), cell.url.clone(), "--".to_owned()]);
    let request = &cell.named.scenario.request;
    arguments.push(request.method.clone());
    arguments.push(cell.body_file().unwrap_or_else(|| "-".to_owned()));
    arguments.extend(request.headers.iter().flat_map(|(name, value)| [name.clone(), value.clone()]));
    Ok(arguments)
}

/// The most threads on so many cores that share the users evenly. wrk rounds down: 3 threads for 16 users would open 15 connections.
fn threads(users: u32, cores: usize) -> u32 {
    let most = (cores as u32).min(users);
    (1..=most).rev().find(|threads| users.is_multiple_of(*threads)).unwrap_or(1)
}

/// Reads the lines that the script has wrk print.
fn figures(output: &str) -> Result<ToolFigures, String> {
    // A mean of nothing is printed as `nan`.
    let number = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite());
    let numbers = |line: &str| line.split_whitespace().skip(2).map_while(number).collect::<Vec<f64>>();
    let of = |kind: &'static str| output.lines().filter(move |line| line.starts_with(&format!("tare {kind} ")));
    let first = |kind| of(kind).next().map(numbers).unwrap_or_default();
    let [window_us, requests, connect, read, write, status, timeout] = first("counts")[..] else {
        return Err(not_understood(output));
    };
    let [mean_us, max_us] = first("latency")[..] else { return Err(not_understood(output)) };
    let percentile = |line| match numbers(line)[..] {
        [percentile, value_us] => Some((percentile, value_us as u64 * MICROSECOND_NS)),
        _ => None,
    };
    Ok(ToolFigures {
        window_ns: window_us as u64 * MICROSECOND_NS,
        ok: (requests - status).max(0.0) as u64,
        failed: (connect + read + write + status + timeout) as u64,
        mean_ns: mean_us * MICROSECOND_NS as f64,
        max_ns: max_us as u64 * MICROSECOND_NS,
        percentiles: of("percentile").filter_map(percentile).collect(),
        resolution_ns: MICROSECOND_NS,
    })
}

fn not_understood(output: &str) -> String {
    format!("its output was not understood: {}", output.lines().last().unwrap_or("it printed nothing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "Running 2s test @ http://127.0.0.1:1/path0/4\n  1 threads and 8 connections\n\
        Requests/sec:  10.00\ntare counts 2000100 1010 1 2 0 10 3\ntare latency 812.500 9000\n\
        tare percentile 50 700\ntare percentile 99.9 8500\n";

    #[test]
    fn all_users_have_a_connection_however_many_cores_there_are() {
        let cases = [(16, 3, 2), (16, 4, 4), (15, 4, 3), (12, 8, 6), (7, 3, 1), (2, 8, 2), (1, 1, 1), (1, 0, 1)];
        for (users, cores, expected) in cases {
            assert_eq!(threads(users, cores), expected, "{users} users on {cores} cores");
        }
    }

    #[test]
    fn figures_are_read_from_what_the_script_prints() {
        let read = figures(OUTPUT).unwrap();
        assert_eq!((read.window_ns, read.ok, read.failed), (2_000_100_000, 1000, 16));
        assert_eq!((read.mean_ns, read.max_ns), (812_500.0, 9_000_000));
        assert_eq!(read.percentiles, [(50.0, 700_000), (99.9, 8_500_000)]);
    }

    #[test]
    fn what_is_no_number_is_no_figure() {
        for mean in ["nan", "-nan", "inf"] {
            assert!(figures(&OUTPUT.replace("812.500", mean)).unwrap_err().starts_with("its output was not"), "{mean}");
        }
        let read = figures(&OUTPUT.replace("percentile 50", "percentile nan")).unwrap();
        assert_eq!(read.percentiles, [(99.9, 8_500_000)]);
    }

    #[test]
    fn what_is_cut_short_anywhere_is_no_figure_and_no_panic() {
        let needed = OUTPUT.find("tare percentile").unwrap();
        for end in (0..needed - 1).filter(|end| OUTPUT.is_char_boundary(*end)) {
            assert!(figures(&OUTPUT[..end]).is_err() || end > OUTPUT.find("tare latency 812.500 9").unwrap() + 21);
        }
    }
}
