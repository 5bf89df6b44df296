//! The planted faults of a reference server.

/// The effect of a fault on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FaultKind {
    /// The process aborts.
    Crash,
    /// The process exits with status 3.
    Exit,
    /// No answer; the connection stays open.
    Hang,
    /// The connection is closed without an answer.
    Close,
    /// The connection is closed half-way through the body.
    CloseMidBody,
    /// The body has the right length and one wrong byte.
    WrongBody,
    /// Status 500.
    #[value(name = "status-500")]
    Status500,
    /// Bytes that are not HTTP.
    Garbage,
    /// The connection is closed inside the headers.
    TruncatedHeaders,
    /// A body that never ends.
    Flood,
    /// The correct answer, one byte at a time, ten per second.
    SlowLoris,
}
