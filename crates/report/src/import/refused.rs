//! Forms that are known and have no figure for a history. Each says what to give instead.

use super::found::{Content, Found};

/// What tells a form (the start of the file, and what it contains), and what to say of it.
const REFUSED: [(&str, &str, &str); 7] = [
    (
        "{\"type\":\"",
        "\"metric\":",
        "it is the single points of k6 (--out json). Give its summary: k6 run --summary-export FILE",
    ),
    ("RUN\t", "\t", "it is Gatling's simulation.log, which has single requests and no summary"),
    ("timeStamp,elapsed,", "label", "it is JMeter's JTL, which has single samples and no summary"),
    ("command,mean,stddev", "median", "it is hyperfine's CSV, which has no times of single runs. Give --export-json"),
    (
        "{",
        "\"schema\":\"tare-summary/",
        "it is the summary of tare run. A history shows every run of its folder without an import",
    ),
    (
        "{\"schema\":\"tare-load/",
        "\"verdict\":{\"state\":\"void\"",
        "it is a load that tare calls void: its figures say nothing",
    ),
    ("{", "\"schema\":\"tare-history/", "it is a history of tare, and an import is one result"),
];

pub(super) fn read(content: &Content<'_>) -> Option<Result<Found, String>> {
    let start: String = content.text.chars().take(4_000).filter(|c| *c != ' ' && *c != '\n').collect();
    let refused = REFUSED.iter().find(|(first, mark, _)| start.starts_with(first) && start.contains(mark));
    refused.map(|(_, _, says)| Err((*says).to_owned()))
}
