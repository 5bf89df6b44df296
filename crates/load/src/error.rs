//! Errors that keep tare itself from making load. Failures of the server under test are data and not here.

use std::io;

use thiserror::Error;

/// Why a session could not be opened or a slice could not be run.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The specification contradicts itself.
    #[error("{what}; {remedy}")]
    Spec { what: String, remedy: String },
    /// Something written for the requests cannot be used: a template, a feed, a check, a header.
    #[error("{place}: {what}; {remedy}")]
    Input {
        /// The file with line and field, or the request with its part and character.
        place: String,
        what: String,
        remedy: String,
    },
    /// This machine cannot give what the session asks for: an algorithm, TLS, open files.
    #[error("{what}; {remedy}")]
    Unavailable { what: String, remedy: String },
    /// A worker thread could not be started, pinned or given its poller.
    #[error("cannot start the load worker on CPU {cpu}: {reason}")]
    Worker { cpu: usize, reason: String },
    /// The kernel refused to wait for events.
    #[error("cannot wait for socket events: {0}; is a seccomp filter in place?")]
    Wait(#[source] io::Error),
    /// A worker thread has ended; its panic message is on stderr.
    #[error("a load worker has died; this is a defect of tare, please report it with the message above")]
    WorkerDied,
}

impl LoadError {
    pub(crate) fn input(place: &str, what: &str, remedy: &str) -> Self {
        Self::Input { place: place.to_owned(), what: what.to_owned(), remedy: remedy.to_owned() }
    }

    pub(crate) fn unavailable(what: String, remedy: &str) -> Self {
        Self::Unavailable { what, remedy: remedy.to_owned() }
    }
}
