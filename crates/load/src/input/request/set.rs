//! The requests of a session, encoded before any clock runs. Workers share them and change nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use tare_sys::poll::Payload;
use tare_wire::grpc;
use tare_wire::http::{Method, Request};

use super::cursor::RequestCursor;
use super::cycle::request_cycle;
use super::http1::Http1Pattern;
use super::pattern::{Parts, Pattern, refused};
use super::{RequestSpec, Requests, SetupStep};
use crate::error::LoadError;
use crate::input::check::Expectation;
use crate::input::feed::Feed;
use crate::input::template::{Scope, Template, UserColumns, Uses, Values};
use crate::schedule::Share;
use crate::schedule::think::Think;

/// Requests that are encoded and ready to send. Clones share them.
#[derive(Clone, Debug)]
pub struct RequestSet(pub(super) Arc<RequestSetInner>);

#[derive(Debug)]
pub(super) struct RequestSetInner {
    requests: Vec<Prepared>,
    pub(super) cycle: Arc<[u32]>,
    feeds: Vec<Feed>,
    counters: Vec<u64>,
    /// Values of users that a request contains.
    pub(super) used: BTreeSet<usize>,
    pub(super) think: Think,
    seed: u64,
    follow: u8,
}

/// A request that is ready to send, and the checks of its response.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) is_head: bool,
    /// What reports call it.
    name: String,
    /// The connection ends with the response.
    pub(crate) announces_close: bool,
    /// The same one for all requests without checks, so that a long list reads little of itself for each answer.
    pub(crate) expectation: Arc<Expectation>,
    pub(super) uses: Uses,
    pub(super) form: Form,
}

/// How a request becomes bytes.
#[derive(Debug)]
pub(super) enum Form {
    /// Encoded once, and sent unchanged each time.
    Fixed { encoded: Payload, parts: Arc<Parts> },
    /// Encoded before each send.
    Filled { http1: Http1Pattern, pattern: Pattern },
}

impl RequestSet {
    /// Encodes requests for a server with this `Host` (`127.0.0.1:8080`). Fails when a request cannot be sent, a
    /// variable is unknown, a file cannot be read, or all weights are 0. The error names the place.
    pub fn encode(host: &str, requests: &Requests) -> Result<Self, LoadError> {
        let set = Self::encode_for_users(host, requests, UserColumns::default(), &[])?;
        check_feeds(&requests.feeds, &set)?;
        Ok(set)
    }

    /// The same, for users who have values of their own. `setup` has the step of each request, whose answer fills
    /// variables for those after it; it is empty if the requests are no set-up.
    pub(super) fn encode_for_users(
        host: &str,
        requests: &Requests,
        users: UserColumns,
        setup: &[SetupStep],
    ) -> Result<Self, LoadError> {
        let bare = Request { method: &Method::GET, path: "/", host, headers: &[], body: b"" };
        bare.encode().map_err(|error| refused("the host", &error))?;
        let mut scope = Scope::of(&requests.feeds, users);
        let kind = if setup.is_empty() { "request" } else { "set-up request" };
        let mut prepared = Vec::with_capacity(requests.list.len());
        let mut unchecked = None;
        for (index, spec) in requests.list.iter().enumerate() {
            let place = format!("{kind} {} ({} {})", index + 1, spec.method, spec.path);
            let mut request = prepare(host, &place, spec, &mut scope)?;
            let expectation = Arc::make_mut(&mut request.expectation);
            expectation.follows = requests.follow > 0;
            if let Some(step) = setup.get(index) {
                (expectation.keeps_answer, expectation.decodes) = (true, true);
                scope.users.names.extend(step.names().cloned());
            } else if spec.checks.is_empty() {
                request.expectation = Arc::clone(unchecked.get_or_insert(request.expectation));
            }
            prepared.push(request);
        }
        Ok(Self(Arc::new(RequestSetInner {
            requests: prepared,
            cycle: request_cycle(&requests.list.iter().map(|spec| spec.weight).collect::<Vec<_>>())?,
            used: std::mem::take(&mut scope.used),
            counters: scope.counters,
            feeds: requests.feeds.clone(),
            think: requests.think,
            seed: requests.seed,
            follow: requests.follow,
        })))
    }

    /// The first `count` requests as HTTP/1.1, as a single worker would send them.
    pub fn first_requests(&self, count: usize) -> Vec<Payload> {
        let mut cursor = self.cursor(Share { worker: 0, workers: 1 });
        std::iter::from_fn(|| cursor.next().map(|request| cursor.encoded(request).clone())).take(count).collect()
    }

    pub fn len(&self) -> usize {
        self.0.requests.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.requests.iter().map(|request| &*request.name)
    }

    pub(crate) fn follow(&self) -> u8 {
        self.0.follow
    }

    pub fn is_empty(&self) -> bool {
        self.0.cycle.is_empty()
    }

    /// Whether all requests have the same path and headers, and those no variables but the values of the user. Then one
    /// connection can serve them all.
    pub(crate) fn opens_alike(&self) -> bool {
        let opening = |request: &Prepared| match &request.form {
            Form::Fixed { parts, .. } => {
                let literal = |text: &String| Template::literal(text.clone());
                let headers = parts.headers.iter().map(|(name, value)| (name.clone(), literal(value)));
                Some((literal(&parts.path), headers.collect()))
            }
            Form::Filled { pattern, .. } => pattern.opening(),
        };
        let mut openings = self.0.requests.iter().map(opening);
        let first = openings.next().flatten();
        first.is_some() && openings.all(|opening| opening == first)
    }

    pub(super) fn uses_feed(&self, feed: usize) -> bool {
        self.0.requests.iter().any(|request| request.uses.feeds.contains(&feed))
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.0.requests.iter().any(|request| request.expectation.grpc.is_some())
    }

    pub(crate) fn checks_bodies(&self) -> bool {
        self.0.requests.iter().any(|request| request.expectation.reads_body())
    }

    pub(crate) fn get(&self, index: usize) -> &Prepared {
        &self.0.requests[index]
    }

    /// A cursor at the start of one worker's part of the cycle.
    pub(crate) fn cursor(&self, share: Share) -> RequestCursor {
        let values = Values::new(&self.0.feeds, &self.0.counters, self.0.seed, share);
        RequestCursor::new(self.clone(), values, share)
    }
}

/// Refuses a feed that no request uses: the load would not be what its user wanted.
pub(super) fn check_feeds(feeds: &[Feed], set: &RequestSet) -> Result<(), LoadError> {
    let is_unused = |feed: &usize| !set.uses_feed(*feed);
    let Some(unused) = (0..feeds.len()).find(is_unused) else { return Ok(()) };
    let table = &feeds[unused].table;
    let column = table.columns.first().map_or("", String::as_str);
    let remedy =
        format!("write a variable such as {{{{{column}}}}} into the URL, a header or the body, or leave it out");
    Err(LoadError::input(&table.name, "no request uses a column of this feed", &remedy))
}

fn prepare(host: &str, place: &str, spec: &RequestSpec, scope: &mut Scope<'_>) -> Result<Prepared, LoadError> {
    let pattern = Pattern::of(place, spec, scope)?;
    let (parts, encoded) = pattern.with_stand_ins(host, place)?;
    pattern.check_header_values(scope.feeds)?;
    let (uses, announces_close) = (Uses::of(pattern.variables()), pattern.announces_close(place)?);
    let form = if pattern.variables().next().is_some() {
        Form::Filled { http1: Http1Pattern::of(host, &pattern), pattern }
    } else {
        Form::Fixed { encoded: encoded.into(), parts: Arc::new(parts) }
    };
    let accepts_coding = spec.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"));
    let mut expectation = Expectation::of(&spec.checks);
    refuse_unjudged_call(place, spec, &expectation)?;
    // Some servers compress unasked. To look costs time, so it is done where a check reads the whole body anyway.
    expectation.decodes = expectation.reads_body() && (accepts_coding || !expectation.whole.is_empty());
    Ok(Prepared {
        is_head: spec.method == Method::HEAD,
        name: spec.shown_name(),
        announces_close,
        expectation: Arc::new(expectation),
        uses,
        form,
    })
}

/// Refuses a call of gRPC as a plain request: calls that failed would count as right, with status 200.
fn refuse_unjudged_call(place: &str, spec: &RequestSpec, expectation: &Expectation) -> Result<(), LoadError> {
    let is_of_grpc =
        |(name, value): &(String, String)| name.eq_ignore_ascii_case("content-type") && grpc::is_content_type(value);
    if expectation.grpc.is_some() || !spec.headers.iter().any(is_of_grpc) {
        return Ok(());
    }
    let remedy = "make it a call, with the message alone as its body: grpc:// in the URL, or grpc = \"package.Service/Method\" in \
                  a suite";
    Err(LoadError::input(
        place,
        "the outcome of a gRPC call is in its grpc-status, at which a plain request does not look",
        remedy,
    ))
}
