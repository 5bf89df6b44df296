//! The headers of a server's answers. Two servers of a pair may have different headers and both fulfil the contract.
//! The reader of the comparison should know that, so a difference is a finding and not a failure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::CheckOutcome;
use super::client::Answer;

/// Headers that change from answer to answer of the same server.
const VOLATILE: &[&str] = &["date"];

/// Names (in lower case) and values of an answer's headers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(BTreeMap<String, String>);

impl Fingerprint {
    pub(super) fn of(answer: &Answer) -> Self {
        let names = answer.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
        let kept = names.filter(|name| !VOLATILE.contains(&name.as_str()));
        Self(kept.filter_map(|name| answer.header(&name).map(|value| (name, value))).collect())
    }

    fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = String> + 'a {
        let names: BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        let pairs = names.into_iter().map(|name| (name, self.0.get(name), other.0.get(name)));
        pairs
            .filter(|(_, our, their)| our != their)
            .map(|(name, our, their)| format!("header {name}: {} against {}", quote_or_none(our), quote_or_none(their)))
    }
}

/// Each header that differs between two servers, with the exchanges concerned; empty if there is none.
pub fn header_differences(ours: &[CheckOutcome], theirs: &[CheckOutcome]) -> Vec<String> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for our in ours {
        let their = theirs.iter().find(|their| their.check == our.check);
        let both = our.fingerprint.as_ref().zip(their.and_then(|their| their.fingerprint.as_ref()));
        for text in both.into_iter().flat_map(|(our, their)| our.differences(their)) {
            found.entry(text).or_default().push(&our.check);
        }
    }
    found.into_iter().map(|(text, exchanges)| format!("{text} (in {})", exchanges.join(", "))).collect()
}

fn quote_or_none(value: Option<&String>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("\"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(headers: &[(&str, &str)]) -> Vec<CheckOutcome> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let fingerprint = Some(Fingerprint::of(&Answer { headers, ..Answer::default() }));
        vec![CheckOutcome { check: "SimpleGet".into(), passed: true, difference: None, because: None, fingerprint }]
    }

    #[test]
    fn dates_and_the_case_of_names_are_no_difference() {
        let one = outcome(&[("Date", "now"), ("Content-Length", "2")]);
        assert!(header_differences(&one, &outcome(&[("content-length", "2"), ("date", "then")])).is_empty());
    }

    #[test]
    fn a_differing_header_is_reported_with_both_values() {
        let found = header_differences(&outcome(&[("Server", "a")]), &outcome(&[("X", "1")]));
        assert_eq!(
            found,
            ["header server: \"a\" against none (in SimpleGet)", "header x: none against \"1\" (in SimpleGet)"]
        );
    }
}
