//! Answers told apart by their status, and by their request where a load has several.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::packed::PackedHistogram;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusTally {
    pub count: u64,
    pub failed: u64,
    /// Why the first of these failed: escaped, of bounded length; empty if none failed.
    pub example: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StatusTallies(pub BTreeMap<u16, StatusTally>);

impl StatusTallies {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn merge(&mut self, other: &Self) {
        for (status, theirs) in &other.0 {
            let mine = self.0.entry(*status).or_default();
            mine.count += theirs.count;
            mine.failed += theirs.failed;
            keep_first(&mut mine.example, &theirs.example);
        }
    }
}

/// What one of several requests of a load showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestTally {
    /// Method and path with its variables: `GET /users/{{id}}`.
    pub name: String,
    /// Answered as expected; streams of events that were read to their end.
    pub ok: u64,
    pub failed: u64,
    /// Pushed messages, or events of its streams.
    #[serde(default)]
    pub messages: u64,
    /// Why the first of these failed; empty if none did.
    pub example: String,
    /// The response times of the expected answers.
    pub response: PackedHistogram,
}

impl RequestTally {
    /// The most requests of a load that are told apart; the others are counted together.
    pub const MOST: usize = 50;

    /// Adds the tallies of another worker or slice, by name.
    pub fn merge_all(mine: &mut Vec<Self>, theirs: &[Self]) {
        for other in theirs {
            match mine.iter_mut().find(|own| own.name == other.name) {
                Some(own) => own.merge(other),
                None => mine.push(other.clone()),
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.ok += other.ok;
        self.failed += other.failed;
        self.messages += other.messages;
        keep_first(&mut self.example, &other.example);
        self.response.merge(&other.response);
    }
}

fn keep_first(mine: &mut String, theirs: &str) {
    if mine.is_empty() {
        theirs.clone_into(mine);
    }
}

#[cfg(test)]
mod tests {
    use tare_stats::LatencyHistogram;

    use super::*;

    fn tally(name: &str, ok: u64, example: &str) -> RequestTally {
        let mut response = LatencyHistogram::new();
        (0..ok).for_each(|_| response.record_ns(1_000_000));
        let (name, example, response) = (name.to_owned(), example.to_owned(), PackedHistogram::from(&response));
        RequestTally { name, ok, failed: 1, messages: 2 * ok, example, response }
    }

    #[test]
    fn tallies_are_merged_by_name_and_survive_json() {
        let mut mine = vec![tally("GET /a", 3, ""), tally("GET /b", 1, "first")];
        RequestTally::merge_all(&mut mine, &[tally("GET /b", 4, "second"), tally("GET /c", 1, "")]);
        assert_eq!(
            mine.iter().map(|one| (&*one.name, one.ok, one.failed, one.messages)).collect::<Vec<_>>(),
            [("GET /a", 3, 1, 6), ("GET /b", 5, 2, 10), ("GET /c", 1, 1, 2)]
        );
        assert_eq!((mine[1].response.samples(), &*mine[1].example), (5, "first"));
        let json = serde_json::to_string(&mine).unwrap();
        assert_eq!(serde_json::from_str::<Vec<RequestTally>>(&json).unwrap(), mine);
        let broken = json.replacen("\"response\":\"", "\"response\":\"zz", 1);
        assert!(serde_json::from_str::<Vec<RequestTally>>(&broken).is_err());
    }

    #[test]
    fn statuses_are_summed_with_the_first_example_of_each() {
        let of = |count, failed, example: &str| StatusTally { count, failed, example: example.to_owned() };
        let mut mine = StatusTallies([(200, of(5, 0, "")), (429, of(1, 1, "first"))].into());
        mine.merge(&StatusTallies([(429, of(2, 2, "second")), (503, of(1, 1, "third"))].into()));
        assert_eq!(
            mine,
            StatusTallies([(200, of(5, 0, "")), (429, of(3, 3, "first")), (503, of(1, 1, "third"))].into())
        );
    }
}
