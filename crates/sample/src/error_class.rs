//! Classes of failed requests and of connection events, and how many there were of each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_units::named_values;

named_values! {
    /// Why a request failed, or what happened to a connection without a request.
    pub enum ErrorClass: "a class of errors" {
        Connect = "connect",
        Tls = "tls",
        Upgrade = "upgrade",
        Write = "write",
        /// The connection was reset, or closed before the end of the answer.
        Read = "read",
        /// No complete answer within the timeout of the intended start, or before the drain ended.
        Timeout = "timeout",
        /// A status other than the expected one.
        Status = "status",
        /// Bytes that are not HTTP, that answer no request, or that exceed a limit.
        Protocol = "protocol",
        /// The expected status with wrong headers or a wrong body.
        Validation = "validation",
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorTally {
    pub count: u64,
    /// Text of the first error: escaped, of bounded length; empty when there was none.
    pub example: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorTallies(BTreeMap<ErrorClass, ErrorTally>);

impl ErrorTallies {
    pub fn for_class(&self, class: ErrorClass) -> &ErrorTally {
        const NONE: &ErrorTally = &ErrorTally { count: 0, example: String::new() };
        self.0.get(&class).unwrap_or(NONE)
    }

    /// The classes that occurred, in the order of [`ErrorClass::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (ErrorClass, &ErrorTally)> {
        self.0.iter().map(|(class, tally)| (*class, tally))
    }

    pub fn total(&self) -> u64 {
        self.0.values().map(|tally| tally.count).sum()
    }

    /// Adds one error. Its text is kept if it is the first of its class.
    pub fn add_failure(&mut self, class: ErrorClass, text: &str) {
        self.add_failure_with(class, || text.to_owned());
    }

    /// The same, with a text that is made only if it is kept.
    pub fn add_failure_with(&mut self, class: ErrorClass, text: impl FnOnce() -> String) {
        let tally = self.0.entry(class).or_default();
        tally.count += 1;
        if tally.count == 1 {
            tally.example = text();
        }
    }

    /// Adds the errors of another worker or slice.
    pub fn merge(&mut self, other: &Self) {
        for (class, theirs) in &other.0 {
            let mine = self.0.entry(*class).or_default();
            if mine.count == 0 {
                mine.example.clone_from(&theirs.example);
            }
            mine.count += theirs.count;
        }
    }
}

impl FromIterator<(ErrorClass, ErrorTally)> for ErrorTallies {
    fn from_iter<I: IntoIterator<Item = (ErrorClass, ErrorTally)>>(classes: I) -> Self {
        Self(classes.into_iter().filter(|(_, tally)| tally.count > 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_tallies_keep_the_first_example_of_each_class() {
        let mut tallies = ErrorTallies::default();
        tallies.add_failure(ErrorClass::Read, "reset");
        let mut other = ErrorTallies::default();
        other.add_failure(ErrorClass::Read, "closed");
        other.add_failure(ErrorClass::Timeout, "no answer");
        tallies.merge(&other);
        assert_eq!(tallies.for_class(ErrorClass::Read), &ErrorTally { count: 2, example: "reset".to_owned() });
        assert_eq!(tallies.for_class(ErrorClass::Timeout), &ErrorTally { count: 1, example: "no answer".to_owned() });
        assert_eq!((tallies.total(), tallies.iter().count()), (3, 2));
    }

    #[test]
    fn tallies_are_a_map_of_the_classes_that_occurred() {
        let json = r#"{"connect":{"count":2,"example":"refused"},"timeout":{"count":1,"example":""}}"#;
        let tallies: ErrorTallies = serde_json::from_str(json).unwrap();
        assert_eq!((tallies.for_class(ErrorClass::Connect).count, tallies.total()), (2, 3));
        assert_eq!(serde_json::to_string(&tallies).unwrap(), json);
        assert!(serde_json::from_str::<ErrorTallies>(r#"{"weather":{"count":2,"example":""}}"#).is_err());
    }
}
