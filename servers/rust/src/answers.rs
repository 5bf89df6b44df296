//! The answers of the endpoints, as in contract.toml: the application's work, the same on both sides of a comparison.

/// The number of routes of a server named `Multi`: `/path0` to `/path127`.
pub const MULTI_ROUTES: i32 = 128;

/// A longer body is refused with 413.
pub const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

/// The text of `/text`, and of `/json` as a JSON document.
pub const TEXT: &str = "Hello, World!";

/// The content type of every text.
pub const PLAIN: &str = "text/plain; charset=UTF-8";

/// A sum beyond 32 bits wraps, as it does on the JVM.
pub fn get(n: i32, id: i32) -> String {
    n.wrapping_add(id).to_string()
}

/// Counts characters as the servers on the JVM do, in units of UTF-16.
pub fn post_string(n: i32, body: &str) -> String {
    format!("Ok [{n}], string length = {}", body.encode_utf16().count())
}

pub fn post_bytes(n: i32, body: &[u8]) -> String {
    format!("Ok [{n}], bytes length = {}", body.len())
}

pub fn upload(saved_bytes: u64) -> String {
    format!("Ok, file length = {saved_bytes}")
}
