//! Converts requests, answers and errors between the types of the `h2` crate and ours.

use std::sync::Arc;

use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use tare_sample::ErrorClass;
use tare_wire::http::{Field, Head, Sink};

use crate::input::check::is_redirect;
use crate::input::request::Parts;
use crate::problem::Problem;
use crate::protocol::answer::AnswerChecker;

/// Header fields of an HTTP/1.1 connection. They must not be sent over HTTP/2.
///
/// # Source
/// RFC 9113, section 8.2.2.
const OF_A_CONNECTION: [&str; 6] =
    ["host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// Requests as types of the crate, kept until their parts change.
#[derive(Debug, Default)]
pub(super) struct TranslatedRequests(Vec<Option<(Arc<Parts>, Request<()>)>>);

impl TranslatedRequests {
    /// The request at this index of the set, for the site at `base` (`https://127.0.0.1:8443`).
    pub(super) fn get(&mut self, base: &str, request: usize, parts: &Arc<Parts>) -> Result<Request<()>, http::Error> {
        if self.0.len() <= request {
            self.0.resize_with(request + 1, || None);
        }
        match &self.0[request] {
            Some((known, translated)) if Arc::ptr_eq(known, parts) => Ok(translated.clone()),
            _ => {
                let translated = translate(base, parts)?;
                self.0[request] = Some((Arc::clone(parts), translated.clone()));
                Ok(translated)
            }
        }
    }
}

fn translate(base: &str, parts: &Parts) -> Result<Request<()>, http::Error> {
    let given = |wanted: &str| parts.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let authority = given("host").map(|(_, host)| host.as_str());
    let base = match (authority, base.split_once("://")) {
        (Some(authority), Some((scheme, _))) => format!("{scheme}://{authority}"),
        _ => base.to_owned(),
    };
    let mut request = Request::builder().method(parts.method.clone()).uri(format!("{base}{}", parts.path)).body(())?;
    *request.headers_mut() = fields(parts)?;
    Ok(request)
}

fn fields(parts: &Parts) -> Result<HeaderMap, http::Error> {
    let mut fields = HeaderMap::new();
    for (name, value) in &parts.headers {
        let name = HeaderName::from_bytes(name.as_bytes())?;
        if !OF_A_CONNECTION.contains(&name.as_str()) {
            fields.append(name, HeaderValue::from_str(value)?);
        }
    }
    let announces_body = !parts.body.is_empty() || !matches!(parts.method, Method::GET | Method::HEAD);
    if announces_body && !fields.contains_key(CONTENT_LENGTH) {
        fields.insert(CONTENT_LENGTH, parts.body.len().into());
    }
    Ok(fields)
}

/// Passes the head of an answer to its checks, with the fields if a check reads them.
pub(super) fn pass_head(answer: &http::response::Parts, check: &mut AnswerChecker<'_>) {
    let mut fields = Vec::new();
    if check.expectation.reads_headers() || is_redirect(answer.status.as_u16()) {
        fields
            .extend(answer.headers.iter().map(|(name, value)| Field { name: name.as_str(), value: value.as_bytes() }));
    }
    check.head(&Head::new(answer.status.as_u16(), &fields));
}

/// Whether a GOAWAY of the server says that it will not process this stream.
///
/// # Source
/// RFC 9113, section 6.8: streams above the last one that a GOAWAY names may be sent again elsewhere.
pub(super) fn is_unprocessed(error: &h2::Error) -> bool {
    error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR)
}

/// The problem of an exchange or a connection for an error of the crate.
pub(super) fn problem(error: &h2::Error) -> Problem {
    let who = if error.is_remote() { "the server" } else { "this side" };
    let reason = error.reason().map_or_else(|| error.to_string(), |reason| reason.description().to_owned());
    if error.is_io() {
        return Problem::new(ErrorClass::Read, error.to_string());
    }
    let what = match (error.is_go_away(), error.is_reset()) {
        (true, _) => "connection ended (GOAWAY)",
        (_, true) => "stream reset (RST_STREAM)",
        _ => return Problem::new(ErrorClass::Protocol, error.to_string()),
    };
    if is_unprocessed(error) {
        let text = "connection ended (GOAWAY) with this request unprocessed, also when it was asked again; does the server take any?";
        return Problem::new(ErrorClass::Read, text);
    }
    // An end by the server is like a closed connection. This side ends a connection only because of bytes that it
    // received.
    let class = if error.is_remote() { ErrorClass::Read } else { ErrorClass::Protocol };
    Problem::new(class, format!("{what} by {who}: {reason}"))
}
