//! `tare report --bundle`: a record with its logs in one file, without the secrets that it names, for the report of a bug.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use regex::Regex;
use serde_json::Value;
use tare_record::store::{RECORD_FILE, record_texts, rewrite_record};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::console;
use crate::recorded_command::{MASK, SECRET_PARAMETERS, is_secret};

/// A shorter text stands in too many places that are none of a secret.
const SHORTEST_SECRET: usize = 4;

/// Writes the bundle of the record in `record`.
pub fn write_bundle(record: &Path, target: &Path) -> anyhow::Result<()> {
    let copy = target.with_extension("tmp");
    fs::copy(record, &copy).with_context(|| format!("cannot write {}", copy.display()))?;
    let written = pack(record, &copy, target);
    fs::remove_file(&copy).with_context(|| format!("cannot remove {}", copy.display()))?;
    let (files, masked) = written?;
    console::print_text(&format!(
        "wrote {}: {files}, {masked}. Bodies, and what servers log, are in it as they were: look at them before you give it away\n",
        target.display()
    ));
    Ok(())
}

/// Packs the copy of the record and the texts beside the record; returns in words how many there are, and how many secrets were masked.
fn pack(record: &Path, copy: &Path, target: &Path) -> anyhow::Result<(String, String)> {
    let secrets = Secrets::of(&record_texts(copy)?);
    rewrite_record(copy, |text| secrets.masked(text))?;
    let file = File::create(target).with_context(|| format!("cannot write {}", target.display()))?;
    let mut bundle = ZipWriter::new(file);
    let mut add = |name: &str, content: &[u8]| -> anyhow::Result<()> {
        bundle.start_file(name, SimpleFileOptions::default())?;
        bundle.write_all(content).with_context(|| format!("cannot write {}", target.display()))
    };
    add(RECORD_FILE, &fs::read(copy)?)?;
    let texts = if record.ends_with(RECORD_FILE) { texts_beside(record) } else { Vec::new() };
    for (name, file) in &texts {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        add(name, secrets.masked(&String::from_utf8_lossy(&text)).as_bytes())?;
    }
    bundle.finish()?;
    let count = tare_analysis::format::count;
    Ok((count(1 + texts.len() as u64, "file"), format!("{} masked", count(secrets.0.len() as u64, "secret"))))
}

/// The texts in the folder of a run: logs and summaries. Pages and histograms can be made again.
fn texts_beside(record: &Path) -> Vec<(String, PathBuf)> {
    const KEPT: [&str; 5] = ["log", "json", "csv", "md", "txt"];
    let folder = record.parent().unwrap_or(Path::new("."));
    let files = |place: &str| -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(folder.join(place)).into_iter().flatten().flatten().map(|entry| entry.path());
        let kept =
            entries.filter(|path| path.extension().is_some_and(|ending| KEPT.iter().any(|kept| ending == *kept)));
        kept.filter_map(|path| Some((format!("{place}{}", path.file_name()?.to_str()?), path))).collect()
    };
    let mut found = [files(""), files("logs/")].concat();
    found.sort();
    found
}

/// The values that must not leave: of headers, of variables whose name says so, and in URLs. The longest stand first, so that no rest of
/// one remains.
struct Secrets(Vec<String>);

impl Secrets {
    fn of(texts: &[String]) -> Self {
        let mut found = BTreeSet::new();
        for text in texts {
            collect_from_urls(text, &mut found);
            if let Ok(document) = serde_json::from_str(text) {
                collect_from_document(&document, &mut found);
            }
        }
        let mut found: Vec<String> = found.into_iter().filter(|one| one.len() >= SHORTEST_SECRET).collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.len()));
        Self(found)
    }

    fn masked(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
    }
}

/// Adds what `headers` and `env` have, wherever they stand.
fn collect_from_document(value: &Value, found: &mut BTreeSet<String>) {
    let named = |name: &str| SECRET_PARAMETERS.iter().any(|part| name.to_lowercase().contains(part));
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let is_hidden: &dyn Fn(&str) -> bool = match key.as_str() {
                    "headers" => &is_secret,
                    "env" => &named,
                    _ => &|_| false,
                };
                pairs(value).into_iter().filter(|(name, _)| is_hidden(name)).for_each(|(_, value)| add(value, found));
                collect_from_document(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_from_document(value, found)),
        _ => {}
    }
}

/// Names and values, from an object or from a list of pairs.
fn pairs(value: &Value) -> Vec<(&str, &str)> {
    match value {
        Value::Object(entries) => {
            entries.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect()
        }
        Value::Array(list) => {
            list.iter().filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?))).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds a value as it is, as JSON writes it, and its last word: servers log `Bearer …` without the first.
fn add(value: &str, found: &mut BTreeSet<String>) {
    let quoted = Value::from(value).to_string();
    found.insert(quoted[1..quoted.len() - 1].to_owned());
    found.insert(value.to_owned());
    found.extend(value.split_whitespace().next_back().map(str::to_owned));
}

/// Adds passwords and parameters with such names from every URL and path of a text.
fn collect_from_urls(text: &str, found: &mut BTreeSet<String>) {
    let parts = SECRET_PARAMETERS.join("|");
    for pattern in [
        r"://[^/@\s:\x22]*:([^@/\s\x22]+)@".to_owned(),
        format!(r"(?i)[?&][^=&\s\x22]*(?:{parts})[^=&\s\x22]*=([^&#\s\x22\\]+)"),
    ] {
        let pattern = Regex::new(&pattern).ok();
        let values = pattern.iter().flat_map(|pattern| pattern.captures_iter(text)).filter_map(|hit| hit.get(1));
        found.extend(values.map(|value| value.as_str().to_owned()).filter(|value| value != MASK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_wherever_a_record_names_them_and_masked_in_every_text() {
        let plan = r#"{"program": {"env": {"DB_PASSWORD": "hunter2\"x", "MODE": "fast", "URL": "postgres://me:pass99@db/x"}},
            "headers": {"Authorization": "Bearer zzz111", "Accept": "text/plain"}, "parts": [{"headers": [["X-Api", "key-555"]]}],
            "path": "/a?token=abc123&page=secret-free"}"#;
        let secrets = Secrets::of(&[plan.to_owned()]);
        let log = "hunter2\"x pass99 zzz111 key-555 abc123 fast text/plain secret-free";
        assert_eq!(secrets.masked(log), "*** *** *** *** *** fast text/plain secret-free");
        let masked = secrets.masked(plan);
        for secret in ["hunter2", "pass99", "zzz111", "key-555", "abc123"] {
            assert!(!masked.contains(secret), "{masked}");
        }
        assert!(serde_json::from_str::<Value>(&masked).is_ok(), "{masked}");
    }

    #[test]
    fn a_short_value_is_left_because_it_stands_everywhere() {
        assert!(Secrets::of(&[r#"{"headers": {"X-Id": "1"}}"#.to_owned()]).0.is_empty());
    }
}
