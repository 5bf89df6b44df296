//! What is sent and what must come back, as its author writes it. Before any clock runs it becomes a [`RequestSet`].

mod body;
mod cursor;
mod http1;
mod list;
mod pattern;
mod set;
#[cfg(test)]
mod tests;
mod turns;

use tare_wire::http::Method;

use crate::check::Check;
use crate::feed::Feed;
use crate::think::Think;

pub use self::body::Body;
pub(crate) use self::cursor::RequestCursor;
pub use self::list::{ListedUrl, url_list};
pub(crate) use self::pattern::Parts;
pub use self::set::RequestSet;

/// All requests of a session, how they take turns, and the values that their `{{variables}}` stand for.
///
/// Variables may be used in paths, in values of headers and in bodies: `{{column}}` of a feed; `{{counter}}` and
/// `{{counter:1000}}`, which count requests; `{{random:1..6}}`, `{{hex:16}}` and `{{uuid}}`, which follow from the seed.
/// With `|url` or `|json` behind the name a value is escaped for a part of a URL or for the inside of a JSON string.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// The requests, which take turns by their weights.
    pub list: Vec<RequestSpec>,
    /// Tables whose rows fill the columns' variables.
    pub feeds: Vec<Feed>,
    /// What users do between an answer and their next request.
    pub think: Think,
    /// From which random values, random rows and pauses follow.
    pub seed: u64,
}

impl Requests {
    /// These requests, without feeds and without pauses.
    pub fn of(list: impl Into<Vec<RequestSpec>>) -> Self {
        Self { list: list.into(), ..Self::default() }
    }

    /// With the columns of a further table.
    pub fn feed(mut self, feed: Feed) -> Self {
        self.feeds.push(feed);
        self
    }

    /// With pauses between an answer and the next request, in the closed loop.
    pub fn think(mut self, think: Think) -> Self {
        self.think = think;
        self
    }

    /// With other random values.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
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

/// A request as its author writes it.
///
/// ```
/// use tare_load::{Body, Check, RequestSpec};
/// let request = RequestSpec::post("/users/{{id}}", Body::json(r#"{"name": "{{name|json}}"}"#))
///     .header("Accept", "application/json")
///     .expecting(Check::status(201))
///     .expecting(Check::json("$.id")?);
/// # Ok::<(), tare_load::LoadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestSpec {
    /// The method.
    pub method: Method,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// Header fields; `Host` and `Content-Length` are added where missing, and a body may bring its `Content-Type`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// What the answer must be; without a check of its status, any of 200 to 299 will do.
    pub checks: Vec<Check>,
    /// Its share of all requests, as a part of the sum of all weights. 0 is never sent.
    pub weight: u32,
}

impl RequestSpec {
    /// A request without a body.
    pub fn new(method: Method, path: &str) -> Self {
        Self {
            method,
            path: path.to_owned(),
            headers: Vec::new(),
            body: Body::default(),
            checks: Vec::new(),
            weight: 1,
        }
    }

    /// A GET.
    pub fn get(path: &str) -> Self {
        Self::new(Method::get(), path)
    }

    /// A POST.
    pub fn post(path: &str, body: impl Into<Body>) -> Self {
        Self::new(Method::post(), path).body(body)
    }

    /// With this body.
    pub fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    /// With a further header field.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a further check of the answer.
    pub fn expecting(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// Sent so many times as often as a request of weight 1.
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }
}
