//! The secrets that the documents of a record name, and documents without them.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use serde::de::Error as _;
use serde_json::value::RawValue;

use crate::recorded_command::{MASK, is_secret, names_secret};

/// A shorter text stands in too many places that are none of a secret.
const SHORTEST: usize = 4;
/// A shorter secret is replaced only where it is a word of its own: it may be a part of other words and of numbers.
const SHORTEST_IN_A_WORD: usize = 8;
/// No document of a record is nested as deeply.
const MOST_LEVELS: usize = 64;

/// The values that must not leave: of headers; of variables, flags and parameters whose name says so; users and
/// passwords of URLs.
pub struct Secrets {
    /// The longest first, so that no rest of one remains.
    values: Vec<String>,
}

impl Secrets {
    pub fn of(documents: &[String]) -> Self {
        let (patterns, mut values) = (patterns(), BTreeSet::new());
        for document in documents {
            let mut see = |text: &str, is_secret: bool| {
                if is_secret {
                    add(text, &mut values);
                }
                collect_from_text(text, &patterns, &mut values);
                None
            };
            if rewrite(document, ("", false), MOST_LEVELS, &mut see).is_err() {
                collect_from_text(document, &patterns, &mut values);
            }
        }
        let mut values: Vec<String> = values.into_iter().filter(|one| one.len() >= SHORTEST).collect();
        values.sort_by_key(|one| std::cmp::Reverse(one.len()));
        Self { values }
    }

    pub fn count(&self) -> u64 {
        self.values.len() as u64
    }

    /// A document or another text without the secrets. Of a document, keys and numbers stay: it can be read as before.
    pub fn masked(&self, text: &str) -> String {
        let mut mask = |text: &str, is_secret: bool| match is_secret {
            true => Some(MASK.to_owned()),
            // A name of the format (`"kind": "none"`), more likely than the secret that is written alike.
            false if text.chars().all(|c| c.is_ascii_lowercase() || c == '_') => None,
            false => Some(self.masked_text(text)),
        };
        rewrite(text, ("", false), MOST_LEVELS, &mut mask).unwrap_or_else(|_| self.masked_text(text))
    }

    fn masked_text(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, secret| match secret.len() {
            SHORTEST_IN_A_WORD.. => text.replace(secret, MASK),
            _ => replace_word(&text, secret),
        })
    }
}

/// A text with a word replaced wherever no letter or digit is next to it.
fn replace_word(text: &str, word: &str) -> String {
    let (mut replaced, mut copied) = (String::new(), 0);
    for (at, _) in text.match_indices(word) {
        let end = at + word.len();
        let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if !is_part(text[..at].chars().next_back()) && !is_part(text[end..].chars().next()) {
            replaced += &text[copied..at];
            replaced += MASK;
            copied = end;
        }
    }
    replaced + &text[copied..]
}

fn is_secret_flag(word: &str) -> bool {
    word.starts_with('-') && !word.contains('=') && names_secret(word)
}

/// A document (JSON) with every string value replaced by what `of` returns for it and for whether its place says that
/// it is secret. `key` is that of the document, or of the lists around it; `is_within`: it is a part of a secret. Numbers
/// keep their digits. What is nested more deeply than `levels` is refused.
fn rewrite(
    document: &str,
    (key, is_within): (&str, bool),
    levels: usize,
    of: &mut dyn FnMut(&str, bool) -> Option<String>,
) -> serde_json::Result<String> {
    let levels = levels.checked_sub(1).ok_or_else(|| serde_json::Error::custom("nested too deeply"))?;
    let text = document.trim();
    match text.as_bytes().first() {
        Some(b'{') => {
            let mut parts = Vec::new();
            for (name, value) in serde_json::from_str::<BTreeMap<String, &RawValue>>(text)? {
                let is_named = key == "headers" && is_secret(&name) || key == "env" && names_secret(&name);
                let value = rewrite(value.get(), (&name, is_within || is_named), levels, of)?;
                parts.push(format!("{}:{value}", serde_json::to_string(&name)?));
            }
            Ok(format!("{{{}}}", parts.join(",")))
        }
        Some(b'[') => {
            let entries: Vec<&RawValue> = serde_json::from_str(text)?;
            let (mut parts, mut before) = (Vec::new(), None::<String>);
            for entry in &entries {
                let string = serde_json::from_str::<String>(entry.get()).ok();
                let is_flag = || string.as_ref().is_some_and(|string| string.starts_with('-'));
                let is_named = before.is_some_and(|before| match key {
                    // A pair of name and value.
                    "headers" => entries.len() == 2 && is_secret(&before),
                    "command" | "args" | "jvm_options" => is_secret_flag(&before) && !is_flag(),
                    _ => false,
                });
                parts.push(rewrite(entry.get(), (key, is_within || is_named), levels, of)?);
                before = string;
            }
            Ok(format!("[{}]", parts.join(",")))
        }
        Some(b'"') => {
            let value: String = serde_json::from_str(text)?;
            match of(&value, is_within) {
                Some(replaced) => serde_json::to_string(&replaced),
                None => Ok(text.to_owned()),
            }
        }
        _ => Ok(serde_json::from_str::<&RawValue>(text)?.get().to_owned()),
    }
}

/// Adds a value as it is, as JSON writes it, and its parts: servers log `Bearer …` and cookies without the first word.
fn add(value: &str, found: &mut BTreeSet<String>) {
    let quoted = serde_json::Value::from(value).to_string();
    found.insert(quoted[1..quoted.len() - 1].to_owned());
    found.insert(value.to_owned());
    found.extend(value.split_whitespace().next_back().map(str::to_owned));
    let parts = value.split(|c: char| c.is_whitespace() || [';', ',', '='].contains(&c));
    found.extend(parts.filter(|part| part.len() >= SHORTEST_IN_A_WORD).map(str::to_owned));
}

/// What finds secrets in a text, each as its first group: the password of a URL, its user alone, `NAME=VALUE` with a
/// telling name, and a header in a command.
fn patterns() -> Vec<Regex> {
    let parts = crate::recorded_command::SECRET_PARAMETERS.join("|");
    let patterns = [
        r"://[^/@\s:\x22]*:([^@/\s\x22]+)@".to_owned(),
        r"https?://([^/@\s:\x22]+)@".to_owned(),
        format!(r"(?i)(?:^|[?&\s'\x22;])[\w.-]*(?:{parts})[\w.-]*=([^\s&#'\x22;\\]+)"),
        r"(?i)\b(?:authorization|cookie|[\w-]*api-?key)\s*:\s*(?:(?:bearer|basic|token)\s+)?([^\s'\x22\\]+)".to_owned(),
    ];
    patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
}

fn collect_from_text(text: &str, patterns: &[Regex], found: &mut BTreeSet<String>) {
    let values = patterns.iter().flat_map(|pattern| pattern.captures_iter(text)).filter_map(|hit| hit.get(1));
    found.extend(values.map(|value| value.as_str().to_owned()).filter(|value| !value.contains(MASK)));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_pattern_is_a_regular_expression() {
        assert_eq!(patterns().len(), 4);
    }

    #[test]
    fn secrets_are_found_wherever_a_record_names_them_and_masked_in_every_text() {
        let plan = r#"{"program": {"env": {"DB_PASS": "hunter2\"x", "MODE": "fast", "URL": "postgres://me:pass99@db/x",
                "REPOSITORY": "https://ghp_tok7@host/x"},
                "command": ["./server", "--token", "arg-1", "--port", "8080", "--api-key=arg-2", "-Ddb.password=arg-3",
                    "API_TOKEN=arg-4 exec ./x", "curl -H 'Authorization: Bearer arg-5' /"]},
            "headers": {"Authorization": "Bearer zzz111", "Accept": "text/plain", "Cookie": "id=7; sid=cookie-66"},
            "parts": [{"headers": [["X-Api", "key-555"], ["Accept", "text/html"]]}],
            "path": "/a?token=abc123&page=secret-free"}"#;
        let secrets = Secrets::of(&[plan.to_owned()]);
        let told = ["hunter2", "pass99", "zzz111", "key-555", "abc123", "ghp_tok7", "cookie-66"];
        let told: Vec<&str> = told.into_iter().chain(["arg-1", "arg-2", "arg-3", "arg-4", "arg-5"]).collect();
        let log = format!("{} hunter2\"x 8080 fast text/plain text/html secret-free", told[1..].join(" "));
        assert_eq!(secrets.masked(&log), format!("{}8080 fast text/plain text/html secret-free", "*** ".repeat(12)));
        let masked = secrets.masked(plan);
        for secret in told {
            assert!(!masked.contains(secret), "{secret}: {masked}");
        }
        assert!(serde_json::from_str::<Value>(&masked).is_ok(), "{masked}");
    }

    #[test]
    fn a_secret_that_is_written_like_a_word_or_a_number_damages_no_document() {
        let document = r#"{"kind": "none", "load": {"users": 2024, "rate": 0.1202412024}, "name": "load", "text": "none of 2024 2024-1",
            "env": {"AUTH_MODE": "none", "API_KEY": "2024"}, "headers": {"X-Mode": "load", "X-Id": "1"}}"#;
        let masked = Secrets::of(&[document.to_owned()]).masked(document);
        let expected = json!({"kind": "none", "load": {"users": 2024, "rate": 0.120_241_202_4}, "name": "load",
            "text": "*** of *** ***-1", "env": {"AUTH_MODE": "***", "API_KEY": "***"},
            "headers": {"X-Mode": "***", "X-Id": "***"}});
        assert_eq!(serde_json::from_str::<Value>(&masked).unwrap(), expected, "{masked}");
        assert!(masked.contains("0.1202412024"), "{masked}");
    }

    #[test]
    fn a_short_value_is_masked_in_its_place_alone() {
        let secrets = Secrets::of(&[r#"{"headers": {"X-Id": "1"}}"#.to_owned()]);
        assert_eq!((secrets.count(), secrets.masked("1 of 1")), (0, "1 of 1".to_owned()));
        assert_eq!(secrets.masked(r#"{"headers":{"X-Id":"1"}}"#), r#"{"headers":{"X-Id":"***"}}"#);
    }

    #[test]
    fn a_document_that_is_nested_without_end_is_masked_as_text() {
        let deep = format!("{}\"token=abcd1234\"{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(!Secrets::of(std::slice::from_ref(&deep)).masked(&deep).contains("abcd1234"));
    }
}
