//! Lists of requests, in the forms that people have.

mod har;
mod lines;
mod vegeta;

use std::path::PathBuf;

use tare_wire::http::Method;
use tare_wire::http2::OF_A_CONNECTION;

use crate::error::LoadError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRequest {
    /// Where it stands, for errors: `urls.txt, line 3`.
    pub place: String,
    /// Its weight; 1 by default.
    pub weight: u32,
    pub method: Option<Method>,
    /// A URL or a path, as written.
    pub url: String,
    /// Header fields of its own.
    pub headers: Vec<(String, String)>,
    pub body: ListedBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedBody {
    None,
    Bytes(Vec<u8>),
    File(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestList {
    pub requests: Vec<ListedRequest>,
    /// Whether it is a recording, which has requests to several servers.
    pub is_recording: bool,
}

/// Reads a list in one of these forms, which its text shows:
///
/// - lines with a URL or a path, after an optional weight and method: `3 POST /path0`. Lines below may have header fields
///   (`Name: value`) and the file of a body (`@file`), as vegeta has them. Lines that begin with `#` are skipped;
/// - objects of JSON, one per line, as vegeta has them;
/// - HAR, the recording of a browser.
///
/// `name` names the list in errors.
///
/// # Errors
/// When it has another form, with the place; when it is empty.
pub fn parse_request_list(name: &str, text: &str) -> Result<RequestList, LoadError> {
    let text = text.trim_start_matches('\u{feff}');
    let is_recording = har::is_it(text);
    let (requests, remedy) = if is_recording {
        (har::read(name, text)?, "record at least one request over HTTP; WebSockets are not sent again")
    } else if vegeta::is_it(text) {
        (vegeta::read(name, text)?, "write an object with method and url on each line")
    } else {
        (lines::read(name, text)?, "write a URL or a path on each line")
    };
    if requests.is_empty() {
        return Err(LoadError::input(name, "the list is empty", remedy));
    }
    Ok(RequestList { requests, is_recording })
}

/// Text of a form that knows no variables, so that its braces mean themselves.
fn literal(text: &str) -> String {
    text.replace("{{", "\\{{")
}

/// Whether a header is written by tare itself, or is about the connection of the recorded client.
fn is_of_connection(name: &str) -> bool {
    let mut others = OF_A_CONNECTION.iter().chain(&["host", "content-length", "te"]);
    // HTTP/2 has method, scheme, authority and path among its headers, with a colon.
    name.starts_with(':') || others.any(|other| name.eq_ignore_ascii_case(other))
}
