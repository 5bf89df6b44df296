//! A reference server on a thread of this process, for tests and the self-test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use tare_sys::threads;

use crate::ledger::Served;
use crate::options::Options;
use crate::server::{ReferenceError, serve_until_stopped};

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Vec<Served>, ReferenceError>>>,
}

impl Running {
    /// Starts a server and waits until it listens. `prepare` runs first on its thread, for example to pin it.
    ///
    /// Do not plant a crash: it ends this process. If the server never becomes ready, this never returns.
    pub fn start(options: Options, prepare: impl FnOnce() + Send + 'static) -> Result<Self, ReferenceError> {
        let stop = Arc::new(AtomicBool::new(false));
        let its_stop = Arc::clone(&stop);
        let (announce, announced) = channel();
        let begun = threads::spawn("tare-reference", move || {
            prepare();
            serve_until_stopped(&options, &its_stop, |address| {
                // The receiver waits below until this arrives or the thread ends.
                let _ = announce.send(address);
            })
        });
        let thread = begun.map_err(ReferenceError::SetUp)?;
        match announced.recv() {
            Ok(address) => Ok(Self { address, stop, thread: Some(thread) }),
            Err(_) => Err(match thread.join() {
                Ok(Err(error)) => error,
                _ => ReferenceError::SetUp(std::io::Error::other("it ended before it was ready")),
            }),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it and returns the list of answers, if [`Options::keeps_ledger`] asks for one.
    pub fn finish(mut self) -> Result<Vec<Served>, ReferenceError> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ledger)) => ledger,
            _ => Err(ReferenceError::SetUp(std::io::Error::other("it has panicked"))),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
