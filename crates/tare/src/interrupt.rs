//! Ctrl-C: once, the run ends and reports what is there; twice, out at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

/// A flag that SIGINT, SIGTERM and SIGHUP raise. The second signal ends the process and everything that it started,
/// since every server's supervisor watches for that.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn install_flag() -> anyhow::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&raised))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&raised)))
            .context("cannot watch for Ctrl-C")?;
    }
    Ok(raised)
}

/// Whether it has been raised.
pub fn is_raised(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}
