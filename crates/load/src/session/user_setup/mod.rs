//! Sets users up before a load: each sends the requests of the set-up, and keeps cookies and values of their answers.

mod client;
mod cookies;

use std::sync::atomic::{AtomicUsize, Ordering};

use tare_sample::{ErrorClass, ErrorTallies};
use tare_sys::threads::map_in_threads;

use self::client::Client;
use self::cookies::Cookies;
use super::spec::SessionSpec;
use crate::error::LoadError;
use crate::input::request::{RequestCursor, UserSetup};
use crate::input::template::UserValues;
use crate::problem::Problem;
use crate::protocol::tls::Security;
use crate::protocol::{Protocol, speaks_http2};

/// Users that are set up at a time.
const AT_A_TIME: usize = 32;
/// After so many failures and no success, nobody else is tried.
const HOPELESS: usize = 64;

/// The users after their set-up.
#[derive(Debug, Default)]
pub(crate) struct ReadyUsers {
    /// The values of each user that is ready, its cookies last.
    pub(crate) values: Vec<UserValues>,
    /// Why the others are not, each with the request that failed.
    pub(crate) failed: ErrorTallies,
}

impl ReadyUsers {
    pub(crate) fn have_cookies(&self) -> bool {
        self.values.iter().any(|values| values.last().is_some_and(|cookies| !cookies.is_empty()))
    }
}

/// Sets up `users` users. Each request takes at most the session's timeouts.
pub(crate) fn set_up_users(spec: &SessionSpec, setup: &UserSetup, users: usize) -> Result<ReadyUsers, LoadError> {
    let protocol = if speaks_http2(spec.protocol) { Protocol::Http2 { streams: 1 } } else { Protocol::default() };
    let security = spec.tls.as_ref().map(|tls| Security::new(tls, protocol)).transpose()?;
    let (ready, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = users.clamp(1, AT_A_TIME);
    let set_up_part = |part: usize| {
        let mut cursor = setup.requests.cursor(spec.share.of_worker(part, threads));
        let mut tried = Vec::new();
        for user in (part..users).step_by(threads) {
            if ready.load(Ordering::Relaxed) == 0 && failed.load(Ordering::Relaxed) >= HOPELESS {
                break;
            }
            let client = Client::new(spec, protocol, security.as_ref(), &setup.requests, user);
            let result = set_up_user(client, setup, &mut cursor);
            let counter = if result.is_ok() { &ready } else { &failed };
            counter.fetch_add(1, Ordering::Relaxed);
            tried.push((user, result));
        }
        tried
    };
    let mut tried = Vec::with_capacity(users);
    for part in map_in_threads((0..threads).collect(), set_up_part) {
        tried.extend(part.ok_or(LoadError::WorkerDied)?);
    }
    tried.sort_unstable_by_key(|(user, _)| *user);
    let mut all = ReadyUsers::default();
    for (_, result) in tried {
        match result {
            Ok(values) => all.values.push(values),
            Err(problem) => all.failed.add_failure(problem.class, &problem.text),
        }
    }
    if all.values.is_empty() {
        let most = all.failed.iter().max_by_key(|(_, tally)| tally.count);
        let why = most.map_or_else(String::new, |(class, tally)| format!(" ({class}): {}", tally.example));
        let remedy = "correct the set-up, or see what the server says about it";
        return Err(LoadError::unavailable(format!("no user could be set up{why}"), remedy));
    }
    Ok(all)
}

fn set_up_user(mut client: Client<'_>, setup: &UserSetup, cursor: &mut RequestCursor) -> Result<UserValues, Problem> {
    let Some(mut values) = setup.first_values(cursor) else {
        let text = "set-up of a user: a feed has no row left for it; give one for each connection";
        return Err(Problem::new(ErrorClass::Validation, text));
    };
    let mut cookies = Cookies::default();
    for request in 0..setup.requests.len() {
        let named = |problem: Problem| {
            let name = setup.requests.names().nth(request).unwrap_or_default();
            Problem::new(problem.class, format!("set-up of a user, {name}: {}", problem.text))
        };
        cursor.values.users = vec![values.clone()];
        let mut parts = (*cursor.parts(request)).clone();
        cookies.add_to(&mut parts.headers);
        let answer = client.ask(request, parts).map_err(named)?;
        cookies.take(&answer.headers);
        let taken = setup.take(request, (&answer.headers, &answer.kept), &mut values);
        taken.map_err(|what| named(Problem::new(ErrorClass::Validation, what)))?;
    }
    values.push(cookies.header());
    Ok(values)
}
