//! The set-up of users: requests that each of them sends once before the load, and the values that it has afterwards.

use super::set::check_feeds;
use super::{RequestCursor, RequestSet, RequestSpec, Requests};
use crate::error::LoadError;
use crate::input::extract::Extract;
use crate::input::template::{UserColumns, UserValues};

/// A request of a set-up.
#[derive(Clone, Debug)]
pub struct SetupStep {
    /// What is sent, with the checks of its answer. Variables of earlier requests may stand in it.
    pub request: RequestSpec,
    /// The variables that its answer fills, for later requests and for those of the load.
    pub variables: Vec<(String, Extract)>,
}

impl SetupStep {
    /// The names of its variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.variables.iter().map(|(name, _)| name)
    }
}

/// A set-up whose requests are encoded.
#[derive(Debug)]
pub(crate) struct UserSetup {
    pub(crate) requests: RequestSet,
    /// Columns of feeds, behind the variables of answers.
    cells: Vec<(usize, usize)>,
    columns: UserColumns,
    /// The requests of the load, and the steps of the set-up. Feeds that these use are none of the load's, whose users
    /// have the values.
    load: Requests,
}

impl UserSetup {
    /// Encodes the set-up of these requests, if there is one, and the load's. Fails when a request cannot be sent, a
    /// variable is unknown, or nothing uses a variable or a feed.
    pub(crate) fn encode(host: &str, requests: &Requests) -> Result<(Option<Self>, RequestSet), LoadError> {
        if requests.setup.is_empty() {
            return Ok((None, RequestSet::encode(host, requests)?));
        }
        let steps = &requests.setup;
        let own = Requests {
            feeds: requests.feeds.clone(),
            // A UUID of the set-up is none of the load.
            seed: requests.seed.wrapping_add(1),
            ..Requests::of(steps.iter().map(|step| step.request.clone()).collect::<Vec<_>>())
        };
        let set = RequestSet::encode_for_users(host, &own, UserColumns::default(), steps)?;
        let mut columns =
            UserColumns { names: steps.iter().flat_map(SetupStep::names).cloned().collect(), has_cookies: false };
        let of_answers = columns.names.len();
        let mut cells = Vec::new();
        for (feed, table) in requests.feeds.iter().enumerate().filter(|(feed, _)| set.uses_feed(*feed)) {
            cells.extend((0..table.columns().len()).map(|column| (feed, column)));
            columns.names.extend(table.columns().iter().cloned());
        }
        check_names(&columns.names, of_answers)?;
        let others = requests.feeds.iter().enumerate().filter(|(feed, _)| !set.uses_feed(*feed));
        let load = Requests { feeds: others.map(|(_, feed)| feed.clone()).collect(), ..requests.clone() };
        let setup = Self { requests: set, cells, columns, load };
        let load = setup.encode_load(host, false)?;
        let is_unused = |column: &usize| !setup.requests.0.used.contains(column) && !load.0.used.contains(column);
        if let Some(unused) = (0..of_answers).find(is_unused) {
            let name = &setup.columns.names[unused];
            let remedy = format!("write {{{{{name}}}}} into the URL, a header or the body, or leave it out");
            return Err(LoadError::input(&format!("set-up variable `{name}`"), "no request uses it", &remedy));
        }
        Ok((Some(setup), load))
    }

    /// The set of the load, whose requests send the cookies of users if they have any.
    pub(crate) fn encode_load(&self, host: &str, has_cookies: bool) -> Result<RequestSet, LoadError> {
        let columns = UserColumns { has_cookies, ..self.columns.clone() };
        let set = RequestSet::encode_for_users(host, &self.load, columns, &[])?;
        check_feeds(&self.load.feeds, &set)?;
        Ok(set)
    }

    /// The values of a user before its first request: those of feeds. `None` if a feed has no row left.
    pub(crate) fn first_values(&self, cursor: &mut RequestCursor) -> Option<UserValues> {
        if !cursor.advance_all() {
            return None;
        }
        let of_answers = self.columns.names.len() - self.cells.len();
        let cells = self.cells.iter().map(|(feed, column)| cursor.values.cell(*feed, *column).to_owned());
        Some(std::iter::repeat_n(String::new(), of_answers).chain(cells).collect())
    }

    /// Adds what the headers and the body of an answer contain to the values of its user. The error says which variable
    /// was looked for, and what the answer has instead.
    pub(crate) fn take(
        &self,
        request: usize,
        answer: (&[(String, Vec<u8>)], &[u8]),
        values: &mut UserValues,
    ) -> Result<(), String> {
        let first: usize = self.load.setup[..request].iter().map(|step| step.variables.len()).sum();
        for ((name, extract), place) in self.load.setup[request].variables.iter().zip(&mut values[first..]) {
            let value = extract.value(answer.0, answer.1);
            *place = value.map_err(|what| format!("no value for `{name}`: {what}"))?;
        }
        Ok(())
    }
}

/// Refuses names that are there twice. The first ones, of variables, must be such that a template can contain them.
fn check_names(names: &[String], variables: usize) -> Result<(), LoadError> {
    for (index, name) in names.iter().enumerate() {
        let what = match name {
            _ if names[..index].contains(name) => "there are two of this name, among those of the set-up and its feeds",
            _ if index < variables && !is_name(name) => "this is no name",
            _ => continue,
        };
        let remedy = "use another, of letters, digits and _";
        return Err(LoadError::input(&format!("set-up variable `{name}`"), what, remedy));
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    text.trim() == text && !text.is_empty() && !text.contains(['{', '}', '|', ':'])
}
