//! What is sent and what must come back: encoded and laid down once, before any clock runs.

use std::sync::Arc;

use tare_sys::payload::Payload;
use tare_wire::http::{EncodeError, Method, Request};

/// A request as its author writes it.
#[derive(Clone, Debug)]
pub struct RequestSpec {
    /// The method.
    pub method: Method,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// Header fields; `Host` and `Content-Length` are added where missing.
    pub headers: Vec<(String, String)>,
    /// The body, shared and not copied when it is sent.
    pub body: Arc<[u8]>,
    /// What the answer must be.
    pub expectation: Expectation,
}

impl RequestSpec {
    /// A GET that expects status 200 and looks no further.
    pub fn get(path: &str) -> Self {
        let expectation = Expectation { status: 200, headers: Vec::new(), body: BodyExpectation::Any };
        Self { method: Method::get(), path: path.to_owned(), headers: Vec::new(), body: Arc::from([]), expectation }
    }

    /// A POST of `body` that expects status 200 and looks no further.
    pub fn post(path: &str, body: Arc<[u8]>) -> Self {
        Self { method: Method::post(), body, ..Self::get(path) }
    }

    /// The same request with an expectation of the answer's body.
    pub fn expecting(mut self, body: BodyExpectation) -> Self {
        self.expectation.body = body;
        self
    }
}

/// What an answer must be in order to count as a success.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The status code; any other is an error of class `status`.
    pub status: u16,
    /// Header fields that must be there with exactly these values, else the error's class is `validation`.
    pub headers: Vec<(String, String)>,
    /// The body, else the error's class is `validation`.
    pub body: BodyExpectation,
}

/// What the body of an answer must be.
#[derive(Clone, Debug)]
pub enum BodyExpectation {
    /// Anything.
    Any,
    /// So many bytes.
    Length(u64),
    /// These bytes.
    Exact(Arc<[u8]>),
}

impl BodyExpectation {
    /// The length that it demands.
    pub fn length_bytes(&self) -> Option<u64> {
        match self {
            Self::Any => None,
            Self::Length(length) => Some(*length),
            Self::Exact(bytes) => Some(bytes.len() as u64),
        }
    }
}

/// One or several requests, sent in turn.
#[derive(Clone, Debug)]
pub struct RequestSet(Arc<[Prepared]>);

/// A request ready to leave.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) bytes: Payload,
    /// The same request in parts, for HTTP/2.
    pub(crate) parts: Arc<Parts>,
    pub(crate) is_head: bool,
    pub(crate) expectation: Expectation,
}

/// A request in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<[u8]>,
}

impl RequestSet {
    /// Encodes the requests for a server that is addressed as `host` (`127.0.0.1:8080`).
    ///
    /// # Errors
    /// With the index of the first request that HTTP/1.1 cannot carry.
    pub fn encode(host: &str, specs: &[RequestSpec]) -> Result<Self, (usize, EncodeError)> {
        let prepare = |(index, spec): (usize, &RequestSpec)| prepare(host, spec).map_err(|error| (index, error));
        specs.iter().enumerate().map(prepare).collect::<Result<Vec<_>, _>>().map(|all| Self(all.into()))
    }

    /// How many requests take turns.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, index: usize) -> &Prepared {
        &self.0[index]
    }
}

fn prepare(host: &str, spec: &RequestSpec) -> Result<Prepared, EncodeError> {
    let request = Request { method: &spec.method, path: &spec.path, host, headers: &spec.headers, body: &spec.body };
    Ok(Prepared {
        bytes: request.encode()?.into(),
        parts: Arc::new(Parts {
            method: spec.method.clone(),
            path: spec.path.clone(),
            headers: spec.headers.clone(),
            body: Arc::clone(&spec.body),
        }),
        is_head: spec.method.is_head(),
        expectation: spec.expectation.clone(),
    })
}
