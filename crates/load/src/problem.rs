//! Why a request or a connection failed.

use tare_sample::ErrorClass;

/// Bytes of a server's text that an error's example quotes.
pub(crate) const EXAMPLE_BYTES: usize = 80;

/// Why one request failed: the class, and a text. The report shows the first text of each class.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) class: ErrorClass,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }
}

/// The first bytes as printable ASCII. Text of a server is never shown unescaped.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(EXAMPLE_BYTES)];
    let ellipsis = if shown.len() < bytes.len() { "…" } else { "" };
    format!("{}{ellipsis}", shown.escape_ascii())
}
