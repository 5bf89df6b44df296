//! What the endpoints answer, as contract.toml has it: the work proper, the same on both sides of a comparison.

/// How many routes a server named `Multi` has: `/path0` to `/path127`.
pub const MULTI_ROUTES: i32 = 128;

/// A body beyond this is refused with 413.
pub const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

/// What `/text` and, as a JSON document, `/json` say.
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
