//! Ctrl-C: once, the run ends and reports what is there; twice, out at once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tare_sys::clock;
use tare_sys::procfs::process;

/// Signals within this time come from one press of Ctrl-C: `timeout` signals its child and then the child's group.
const SAME_PRESS: Duration = Duration::from_millis(500);
/// What shells report of a process that SIGINT has ended.
const EXIT_CODE: i32 = 130;
static PRIVATE_FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Lets a second signal remove this folder before it ends the process.
pub fn remove_at_exit(folder: &Path) {
    *PRIVATE_FOLDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_owned());
}

/// The flag of this process that SIGINT, SIGTERM and SIGHUP raise; not SIGHUP under `nohup`, which lets a run outlive its
/// terminal. It stays raised. A later signal ends the process, and with it every server: supervisors watch for that.
pub fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    static FLAG: LazyLock<std::io::Result<Arc<AtomicBool>>> = LazyLock::new(watch_for_signals);
    FLAG.as_ref().map(Arc::clone).map_err(|error| {
        anyhow!("cannot watch for Ctrl-C: {error}; if no thread is left, raise the limit of processes (ulimit -u)")
    })
}

fn watch_for_signals() -> std::io::Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    let mut watched = vec![SIGINT, SIGTERM];
    watched.extend(Some(SIGHUP).filter(|signal| !process::ignores(*signal)));
    for signal in &watched {
        signal_hook::flag::register(*signal, Arc::clone(&raised))?;
    }
    let mut signals = Signals::new(watched)?;
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || exit_at_second_press(&mut signals))?;
    Ok(raised)
}

fn exit_at_second_press(signals: &mut Signals) {
    let mut first = None;
    for _ in signals.forever() {
        let now = clock::now();
        let since_first = now.since(*first.get_or_insert(now));
        if Duration::from_nanos(since_first) > SAME_PRESS {
            let folder = PRIVATE_FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody is told of a failure any more.
            folder.iter().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
            signal_hook::low_level::exit(EXIT_CODE);
        }
    }
}

pub fn is_raised(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_between_two_runs_ends_the_second_one() {
        let first = flag().unwrap();
        assert!(!is_raised(&first));
        drop(first);
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert!(is_raised(&flag().unwrap()));
    }
}
