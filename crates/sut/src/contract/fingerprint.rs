//! The headers of a server's answers. Two servers of a pair may differ in them and both keep the contract; whoever reads
//! the comparison should know, so a difference is a finding and not a failure.

use std::collections::{BTreeMap, BTreeSet};

use super::client::Answer;

/// Headers that differ from one answer to the next of the same server.
const VOLATILE: &[&str] = &["date"];

/// Names (in lower case) and values of the headers of each answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fingerprint {
    answers: BTreeMap<String, BTreeMap<String, String>>,
}

impl Fingerprint {
    pub(super) fn add(&mut self, exchange: &str, answer: &Answer) {
        let names = answer.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
        let kept = names.filter(|name| !VOLATILE.contains(&name.as_str()));
        let headers = kept.filter_map(|name| answer.header(&name).map(|value| (name, value))).collect();
        self.answers.insert(exchange.to_owned(), headers);
    }

    /// Each header in which the answers differ, with the exchanges it was seen in; empty when they are alike.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (exchange, ours) in &self.answers {
            let Some(theirs) = other.answers.get(exchange) else { continue };
            for name in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
                let (our, their) = (ours.get(name), theirs.get(name));
                if our != their {
                    let text = format!("header {name}: {} against {}", shown(our), shown(their));
                    found.entry(text).or_default().push(exchange);
                }
            }
        }
        found.into_iter().map(|(text, exchanges)| format!("{text} (in {})", exchanges.join(", "))).collect()
    }
}

fn shown(value: Option<&String>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("\"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(headers: &[(&str, &str)]) -> Fingerprint {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut fingerprint = Fingerprint::default();
        fingerprint.add("SimpleGet", &Answer { headers, ..Answer::default() });
        fingerprint
    }

    #[test]
    fn dates_and_the_case_of_names_are_no_difference() {
        let one = fingerprint(&[("Date", "now"), ("Content-Length", "2")]);
        assert!(one.differences(&fingerprint(&[("content-length", "2"), ("date", "then")])).is_empty());
    }

    #[test]
    fn a_header_that_differs_is_told_with_both_values() {
        let told = fingerprint(&[("Server", "a")]).differences(&fingerprint(&[("X", "1")]));
        assert_eq!(
            told,
            ["header server: \"a\" against none (in SimpleGet)", "header x: none against \"1\" (in SimpleGet)"]
        );
    }
}
