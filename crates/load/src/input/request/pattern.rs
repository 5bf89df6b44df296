//! One request with unfilled variables, in parts. HTTP/1.1 and HTTP/2 requests are made from it.

use std::sync::{Arc, OnceLock};

use tare_sys::poll::Payload;
use tare_wire::http::grammar::is_field_byte;
use tare_wire::http::{EncodeError, Method, Request, announces_close};
use tare_wire::http2::EncodedHead;

use super::{Body, RequestSpec};
use crate::error::LoadError;
use crate::input::feed::Feed;
use crate::input::template::{Escaping, Scope, Template, UserColumns, Values, Variable};

#[derive(Debug)]
pub(crate) struct Pattern {
    pub(super) method: Method,
    pub(super) path: Template,
    pub(super) headers: Vec<(String, Template)>,
    pub(super) body: Template,
}

/// A request in parts, with all values filled in.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// Headers as given, with the `Content-Type` of the body, without `Host` and `Content-Length`.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<[u8]>,
    /// Encoded at the first use, for all connections.
    http1: OnceLock<Payload>,
    http2_head: OnceLock<EncodedHead>,
}

impl Clone for Parts {
    /// A copy may be changed before it is sent, so it is not encoded yet.
    fn clone(&self) -> Self {
        Self::new(self.method.clone(), self.path.clone(), self.headers.clone(), Arc::clone(&self.body))
    }
}

impl Parts {
    pub(crate) fn new(method: Method, path: String, headers: Vec<(String, String)>, body: Arc<[u8]>) -> Self {
        Self { method, path, headers, body, http1: OnceLock::new(), http2_head: OnceLock::new() }
    }

    /// `base` is scheme and authority of the server.
    pub(crate) fn http1(&self, base: &str) -> &Payload {
        // Values of variables and locations of redirects are such that a request can carry them.
        self.http1.get_or_init(|| self.request(base).1.encode().unwrap_or_default().into())
    }

    pub(crate) fn http2_head(&self, base: &str) -> &EncodedHead {
        self.http2_head.get_or_init(|| {
            let (scheme, request) = self.request(base);
            EncodedHead::of(&request, scheme)
        })
    }

    /// The scheme, and the request for this host.
    fn request<'a>(&'a self, base: &'a str) -> (&'a str, Request<'a>) {
        let Self { method, path, headers, body, .. } = self;
        let (scheme, host) = base.split_once("://").unwrap_or(("http", base));
        (scheme, Request { method, path, host, headers, body })
    }
}

impl Pattern {
    /// Fails when a variable is wrong, or would decide how the body is sent.
    pub(super) fn of(place: &str, spec: &RequestSpec, scope: &mut Scope<'_>) -> Result<Self, LoadError> {
        let path = Template::parse(&format!("{place}, path"), &spec.path, scope)?;
        let is_given = |wanted: &str| spec.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let content_type = spec.body.content_type().filter(|_| !is_given("content-type"));
        let content_type = content_type.map(|value| ("Content-Type".to_owned(), value.to_owned()));
        let header = |(name, value): &(String, String)| {
            let mut value = Template::parse(&format!("{place}, header {name}"), value, scope)?;
            if name.eq_ignore_ascii_case("content-type") {
                spec.body.add_boundary(&mut value);
            }
            Ok((name.clone(), value))
        };
        let mut headers: Vec<_> =
            spec.headers.iter().chain(&content_type).map(header).collect::<Result<_, LoadError>>()?;
        add_cookies(&mut headers, &scope.users);
        let pattern = Self {
            method: spec.method.clone(),
            path: path.map(<[u8]>::to_vec, target),
            headers,
            body: Body::template(&spec.body, &format!("{place}, body"), scope)?,
        };
        pattern.check_framing(place)?;
        Ok(pattern)
    }

    /// Refuses a length of the body that no header can state, because variables decide it.
    fn check_framing(&self, place: &str) -> Result<(), LoadError> {
        let is_length = |name: &str| name.eq_ignore_ascii_case("content-length");
        let is_framing = |name: &str| is_length(name) || name.eq_ignore_ascii_case("transfer-encoding");
        let is_fixed = |template: &Template| template.as_text().is_some();
        for (name, value) in self.headers.iter().filter(|(name, _)| is_framing(name)) {
            let what = match (is_fixed(value), is_length(name) && !is_fixed(&self.body)) {
                (false, _) => "a variable, which cannot say how the body is sent",
                (true, true) => "a fixed length, and the body has variables",
                (true, false) => continue,
            };
            return Err(LoadError::input(
                &format!("{place}, header {name}"),
                what,
                "leave it out: the length is added",
            ));
        }
        Ok(())
    }

    /// The request with a stand-in for each variable, and its bytes as HTTP/1.1. Fails when they cannot be sent.
    pub(super) fn with_stand_ins(&self, host: &str, place: &str) -> Result<(Parts, Vec<u8>), LoadError> {
        let text = |template: &Template| String::from_utf8_lossy(&template.with_stand_ins()).into_owned();
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        let parts = Parts::new(self.method.clone(), text(&self.path), headers, self.body.with_stand_ins().into());
        let Parts { method, path, headers, body, .. } = &parts;
        let encoded = Request { method, path, host, headers, body }.encode().map_err(|error| refused(place, &error))?;
        Ok((parts, encoded))
    }

    pub(super) fn check_header_values(&self, feeds: &[Feed]) -> Result<(), LoadError> {
        for (name, value) in &self.headers {
            for value in value.values() {
                if let (Variable::Column { feed, column }, Escaping::None | Escaping::Json) = value {
                    check_column(name, &feeds[feed], column)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the connection ends with the response. Fails when only the value of a variable could say it.
    pub(super) fn announces_close(&self, place: &str) -> Result<bool, LoadError> {
        let mut closes = false;
        for (name, value) in self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection")) {
            let Some(text) = value.as_text() else {
                let remedy = "write close or keep-alive: tare must know whether the connection ends";
                return Err(LoadError::input(&format!("{place}, header {name}"), "a variable", remedy));
            };
            closes |= announces_close(name, &String::from_utf8_lossy(text));
        }
        Ok(closes)
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = Variable> {
        let headers = self.headers.iter().flat_map(|(_, value)| value.variables());
        self.path.variables().chain(headers).chain(self.body.variables())
    }

    /// Path and headers, if they are the same for all requests of a user.
    pub(super) fn opening(&self) -> Option<OpeningParts> {
        let parts = std::iter::once(&self.path).chain(self.headers.iter().map(|(_, value)| value));
        let is_fixed = parts.flat_map(Template::variables).all(|variable| matches!(variable, Variable::OfUser(_)));
        is_fixed.then(|| (self.path.clone(), self.headers.clone()))
    }

    pub(super) fn fill(&self, values: &mut Values) -> Parts {
        let mut bytes = |template: &Template| {
            let mut out = Vec::new();
            template.fill(values, &mut out);
            out
        };
        // Path and headers come from text, so the conversion loses nothing.
        let lossless = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let path = lossless(bytes(&self.path));
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), lossless(bytes(value)))).collect();
        Parts::new(self.method.clone(), path, headers, bytes(&self.body).into())
    }
}

pub(super) type OpeningParts = (Template, Vec<(String, Template)>);

/// Adds the cookies of users to the headers, behind those that a request has of its own.
fn add_cookies(headers: &mut Vec<(String, Template)>, users: &UserColumns) {
    if !users.has_cookies {
        return;
    }
    let of_user = Variable::OfUser(users.names.len());
    if let Some((_, own)) = headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
        own.push_text(b"; ");
        return own.push_value(of_user, Escaping::None);
    }
    let mut value = Template::default();
    value.push_value(of_user, Escaping::None);
    headers.push(("Cookie".to_owned(), value));
}

/// In a path, a value is percent-encoded where necessary, even without a filter.
const fn target(given: Escaping) -> Escaping {
    match given {
        Escaping::None => Escaping::Target,
        Escaping::Json => Escaping::JsonInTarget,
        other => other,
    }
}

pub(super) fn refused(place: &str, error: &EncodeError) -> LoadError {
    let text = error.to_string();
    let (what, remedy) = text.split_once("; ").unwrap_or((&text, "change it"));
    LoadError::input(place, what, remedy)
}

fn check_column(header: &str, feed: &Feed, column: usize) -> Result<(), LoadError> {
    let table = &feed.table;
    (0..table.rows()).find(|row| !table.cell(*row, column).bytes().all(is_field_byte)).map_or(Ok(()), |row| {
        let what = format!("a control character, which header {header} cannot carry");
        Err(LoadError::input(&table.place(row, column), &what, "take it out, or encode it with |url"))
    })
}
