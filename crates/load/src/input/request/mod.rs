//! Requests and the checks of their responses, as specified. Before any clock runs they become a [`RequestSet`].

mod body;
mod cursor;
mod cycle;
mod http1;
mod list;
mod pattern;
mod set;
mod setup;
#[cfg(test)]
mod tests;

use tare_wire::grpc;
use tare_wire::http::Method;

use crate::input::check::Check;
use crate::input::feed::Feed;
use crate::schedule::think::Think;

pub use self::body::{Body, FormPart};
pub(crate) use self::cursor::RequestCursor;
pub use self::list::{ListedBody, ListedRequest, RequestList, parse_request_list};
pub(crate) use self::pattern::Parts;
pub(crate) use self::set::Prepared;
pub use self::set::RequestSet;
pub use self::setup::SetupStep;
pub(crate) use self::setup::UserSetup;

/// All requests of a session, their order, and the values of their `{{variables}}`.
///
/// Paths, header values and bodies may contain variables: `{{column}}` of a feed; `{{counter}}` and `{{counter:1000}}`,
/// which count requests; `{{random:1..6}}`, `{{hex:16}}` and `{{uuid}}`, which the seed determines. A filter escapes
/// the value: `{{name|url}}` for a part of a URL, `{{name|json}}` for the inside of a JSON string.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// The requests. They alternate by weight.
    pub list: Vec<RequestSpec>,
    pub feeds: Vec<Feed>,
    /// Think time of the users, between a response and the next request.
    pub think: Think,
    /// The seed of random values, random rows and think times.
    pub seed: u64,
    /// How many redirects a request follows on the same server; 0 follows none. A status that a check allows is not followed.
    pub follow: u8,
    /// What each user sends once, before the load. A user is a connection.
    pub setup: Vec<SetupStep>,
}

impl Requests {
    /// These requests, without feeds and think time.
    pub fn of(list: impl Into<Vec<RequestSpec>>) -> Self {
        Self { list: list.into(), ..Self::default() }
    }

    pub fn feed(mut self, feed: Feed) -> Self {
        self.feeds.push(feed);
        self
    }
}

impl From<Vec<RequestSpec>> for Requests {
    fn from(list: Vec<RequestSpec>) -> Self {
        Self::of(list)
    }
}

impl From<RequestSpec> for Requests {
    fn from(request: RequestSpec) -> Self {
        Self::of([request])
    }
}

/// A request as specified.
///
/// ```
/// use tare_load::{Body, Check, RequestSpec};
/// let request = RequestSpec::post("/users/{{id}}", Body::Json(r#"{"name": "{{name|json}}"}"#.to_owned()))
///     .header("Accept", "application/json")
///     .expecting(Check::status(201))
///     .expecting("json $.id".parse()?);
/// # Ok::<(), tare_load::LoadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestSpec {
    pub method: Method,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// Header fields. `Host` and `Content-Length` are added if missing, and so is the `Content-Type` of some bodies.
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// Checks of the response. Without a check of its status, any from 200 to 299 is correct.
    pub checks: Vec<Check>,
    /// What reports call it; without a name, its method and its path.
    pub name: Option<String>,
    /// Its share of all requests, relative to the sum of all weights. A request of weight 0 is never sent.
    pub weight: u32,
}

impl RequestSpec {
    pub fn new(method: Method, path: &str) -> Self {
        Self {
            method,
            path: path.to_owned(),
            headers: Vec::new(),
            body: Body::default(),
            checks: Vec::new(),
            name: None,
            weight: 1,
        }
    }

    /// What reports call it.
    pub fn shown_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("{} {}", self.method, self.path))
    }

    pub fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn post(path: &str, body: impl Into<Body>) -> Self {
        Self::new(Method::POST, path).body(body)
    }

    /// A unary call of gRPC with the path `/package.Service/Method`. It must end with OK unless a check says otherwise.
    pub fn call(path: &str, message: &[u8]) -> Self {
        let request = Self::post(path, grpc::frame(message)).expecting(Check::grpc_status(grpc::Code::OK));
        grpc::HEADERS.iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    pub fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn expecting(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }
}
