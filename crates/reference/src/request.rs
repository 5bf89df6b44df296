//! A request as the server acts on it.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body_bytes: u64,
    pub(crate) persistence: Persistence,
    pub(crate) websocket_key: Option<String>,
}

/// Whether the connection stays open after the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It stays open, which is the default of HTTP/1.1.
    #[default]
    Stays,
    /// It stays open because a client of HTTP/1.0 asked for it, and the answer must say so.
    Kept,
    Closes,
}
