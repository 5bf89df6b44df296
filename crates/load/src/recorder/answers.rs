//! Counts answers by status and, where a load has several requests, by request. What every answer costs is two additions
//! in arrays; texts and maps are made for the first failure of each kind, and at the end of a part.

use std::collections::HashMap;

use tare_sample::{PackedHistogram, RequestTally, StatusTallies, StatusTally};
use tare_stats::LatencyHistogram;

/// Statuses have three digits.
const STATUSES: usize = 1000;
/// Characters of a request's name in front of an error.
const LONGEST_PREFIX: usize = 100;
/// The name of the requests that are not told apart.
const OTHERS: &str = "others";

/// The answers of one worker since the last part, and those to each request since the start of the slice.
#[derive(Debug, Default)]
pub(super) struct AnswerTallies {
    /// By status.
    statuses: Box<[StatusTally]>,
    /// By index in the request set: the place in `requests`. Empty if there is only one request.
    places: Vec<u32>,
    /// Their response times are packed at the end of a part.
    requests: Vec<(RequestTally, LatencyHistogram)>,
}

impl AnswerTallies {
    /// Tells apart the requests of a set by their names. Requests of one name count together, and so do those after the
    /// first [`RequestTally::MOST`] names.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut requests = Vec::new();
        let mut known = HashMap::new();
        let mut place_of = |name: &'a str| {
            let name = if known.len() < RequestTally::MOST || known.contains_key(name) { name } else { OTHERS };
            *known.entry(name).or_insert_with(|| {
                requests.push((named(name), LatencyHistogram::default()));
                requests.len() as u32 - 1
            })
        };
        let mut places: Vec<u32> = names.map(&mut place_of).collect();
        if requests.len() < 2 {
            places.clear();
            requests.clear();
        }
        Self { statuses: vec![StatusTally::default(); STATUSES].into(), places, requests }
    }

    /// Counts an expected answer; its status is 0 if it has none.
    pub(super) fn count_answer(&mut self, request: Option<u32>, status: u16, response_ns: Option<u64>) {
        self.count_status(status);
        if let Some(place) = self.place(request) {
            let (request, response) = &mut self.requests[place];
            request.ok += 1;
            response_ns.into_iter().for_each(|ns| response.record_ns(ns));
        }
    }

    /// Counts a message that was pushed for a request, or an event of its stream.
    pub(super) fn count_message(&mut self, request: Option<u32>, response_ns: Option<u64>) {
        if let Some(place) = self.place(request) {
            let (request, response) = &mut self.requests[place];
            request.messages += 1;
            response_ns.into_iter().for_each(|ns| response.record_ns(ns));
        }
    }

    /// Counts an answer by its status alone: that of a request which goes on after a redirect.
    pub(super) fn count_status(&mut self, status: u16) {
        if let Some(tally) = self.statuses.get_mut(usize::from(status)) {
            tally.count += 1;
        }
    }

    /// Counts a failed request; its status is 0 if no answer came.
    pub(super) fn count_failure(&mut self, request: Option<u32>, status: u16, text: &str) {
        self.count_status(status);
        if let Some(tally) = self.statuses.get_mut(usize::from(status)) {
            tally.failed += 1;
            if tally.failed == 1 {
                self.statuses[usize::from(status)].example = format!("{}{text}", self.prefix(request));
            }
        }
        if let Some(place) = self.place(request) {
            let (request, _) = &mut self.requests[place];
            request.failed += 1;
            if request.failed == 1 {
                text.clone_into(&mut request.example);
            }
        }
    }

    /// `GET /cart: `, in front of an error where there are several requests.
    pub(super) fn prefix(&self, request: Option<u32>) -> String {
        self.place(request).map_or_else(String::new, |place| {
            let name = &self.requests[place].0.name;
            match name.char_indices().nth(LONGEST_PREFIX) {
                Some((end, _)) => format!("{}…: ", &name[..end]),
                None => format!("{name}: "),
            }
        })
    }

    /// The place in `requests`; `None` where requests are not told apart.
    fn place(&self, request: Option<u32>) -> Option<usize> {
        self.places.get(request? as usize).map(|place| *place as usize)
    }

    /// The answers by status since the last call.
    pub(super) fn take_statuses(&mut self) -> StatusTallies {
        // No answer has the status 0.
        let answered = self.statuses.iter_mut().enumerate().skip(1).filter(|(_, tally)| tally.count > 0);
        StatusTallies(answered.map(|(status, tally)| (status as u16, std::mem::take(tally))).collect())
    }

    /// The answers by request since the last call.
    pub(super) fn take_requests(&mut self) -> Vec<RequestTally> {
        let take = |(tally, times): &mut (RequestTally, LatencyHistogram)| {
            let response = PackedHistogram::from(&*times);
            times.clear();
            let next = named(&tally.name);
            RequestTally { response, ..std::mem::replace(tally, next) }
        };
        self.requests.iter_mut().map(take).collect()
    }
}

fn named(name: &str) -> RequestTally {
    RequestTally { name: name.to_owned(), ..RequestTally::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart_by_status_and_by_request() {
        let mut tallies = AnswerTallies::of(["GET /a", "GET /b", "GET /a"].into_iter());
        tallies.count_answer(Some(0), 200, Some(1_000));
        tallies.count_answer(Some(2), 204, Some(2_000));
        tallies.count_failure(Some(1), 503, "status 503");
        tallies.count_failure(Some(1), 0, "reset");
        tallies.count_failure(None, 0, "not connected");
        let statuses = tallies.take_statuses();
        let found: Vec<_> = statuses.0.iter().map(|(status, t)| (*status, t.count, t.failed, &*t.example)).collect();
        assert_eq!(found, [(200, 1, 0, ""), (204, 1, 0, ""), (503, 1, 1, "GET /b: status 503")]);
        let requests = tallies.take_requests();
        let found: Vec<_> =
            requests.iter().map(|t| (&*t.name, t.ok, t.failed, &*t.example, t.response.samples())).collect();
        assert_eq!(found, [("GET /a", 2, 0, "", 2), ("GET /b", 0, 2, "status 503", 0)]);
        assert!(
            tallies.take_statuses().is_empty() && tallies.take_requests().iter().all(|one| one.ok + one.failed == 0)
        );
    }

    #[test]
    fn one_request_needs_no_table_and_many_share_the_last_row() {
        let mut one = AnswerTallies::of(["GET /", "GET /"].into_iter());
        one.count_answer(Some(1), 200, Some(1));
        assert_eq!((one.take_requests().len(), one.prefix(Some(1))), (0, String::new()));
        let names: Vec<String> = (0..60).map(|n| format!("GET /{n}")).collect();
        let mut many = AnswerTallies::of(names.iter().map(String::as_str));
        (0..60).for_each(|request| many.count_answer(Some(request), 200, Some(1)));
        let found = many.take_requests();
        assert_eq!(found.len(), RequestTally::MOST + 1);
        assert_eq!(found.last().map(|last| (&*last.name, last.ok)), Some(("others", 10)));
    }
}
