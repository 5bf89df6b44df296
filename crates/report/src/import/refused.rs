//! Forms that are known and have no figure for a history. Each says what to give instead.

use serde_json::Value;

use super::found::{Content, Found};

/// What tells a text (its start, and what it contains soon), and what to say of it.
const TEXTS: [(&str, &str, &str); 4] = [
    (
        "{\"type\":\"",
        "\"metric\":",
        "it is the single points of k6 (--out json). Give its summary: k6 run --summary-export FILE",
    ),
    ("RUN\t", "\t", "it is Gatling's simulation.log, which has single requests and no summary"),
    ("timeStamp,elapsed,", "label", "it is JMeter's JTL, which has single samples and no summary"),
    ("command,mean,stddev", "median", "it is hyperfine's CSV, which has no times of single runs. Give --export-json"),
];

pub(super) fn read(content: &Content<'_>) -> Option<Result<Found, String>> {
    let start: String = content.text.chars().take(4_000).filter(|c| *c != ' ' && *c != '\n').collect();
    let text = || TEXTS.iter().find(|(first, mark, _)| start.starts_with(first) && start.contains(mark));
    let says = content.value().and_then(of_tare).or_else(|| text().map(|(_, _, says)| *says))?;
    Some(Err(says.to_owned()))
}

/// What to say of a document of tare that is no import, in whatever order its keys are.
fn of_tare(json: &Value) -> Option<&'static str> {
    let (kind, _) = json.get("schema")?.as_str()?.split_once('/')?;
    let is_void = json.pointer("/verdict/state").is_some_and(|state| state == "void");
    match kind {
        "tare-summary" => {
            Some("it is the summary of tare run. A history shows every run of its folder without an import")
        }
        "tare-load" if is_void => Some("it is a load that tare calls void: its figures say nothing"),
        "tare-history" => Some("it is a history of tare, and an import is one result"),
        _ => None,
    }
}
