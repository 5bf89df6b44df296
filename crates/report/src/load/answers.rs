//! The answers of a load in a terminal: by status, and by URL where there are several.

use tare_analysis::format::{Unit, grouped, share, single};
use tare_analysis::summary::{StatusCount, UrlSummary};

use crate::text::{Sheet, Style, cut_middle};

const MOST_URLS: usize = 20;
const URL: usize = 44;

/// `200: 700, 429: 200 (failed)`; `None` where answers have no status.
pub(super) fn statuses(counts: &[StatusCount]) -> Option<String> {
    let status = |one: &StatusCount| {
        let failed = match one.failed {
            0 => String::new(),
            all if all == one.count => " (failed)".to_owned(),
            some => format!(" ({} failed)", grouped(some)),
        };
        format!("{}: {}{failed}", one.status, grouped(one.count))
    };
    let all: Vec<String> = counts.iter().map(status).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// A table with a line for each URL. Of many, those that failed most often and then the slowest.
pub(super) fn urls(urls: &[UrlSummary], style: &Style) -> String {
    let mut shown: Vec<&UrlSummary> = urls.iter().collect();
    if shown.len() > MOST_URLS {
        shown.sort_by_key(|url| (std::cmp::Reverse(url.failed), std::cmp::Reverse(url.p99_ns.max(url.p50_ns))));
        shown.truncate(MOST_URLS);
    }
    let time = |ns: Option<u64>| ns.map_or("–".to_owned(), |ns| single(Unit::Nanos, ns as f64));
    let cells = |url: &&UrlSummary| {
        let part = if url.failed == 0 { String::new() } else { format!(" ({})", share(url.failed_share)) };
        let failed = grouped(url.failed) + &part;
        let [p50, p90, p99, max] = [url.p50_ns, url.p90_ns, url.p99_ns, url.max_ns].map(time);
        [cut_middle(&url.url, URL), grouped(url.offered), failed, p50, p90, p99, max]
    };
    let heads = ["URL", "requests", "failed", "p50", "p90", "p99", "max"];
    let mut out = Sheet::new("", heads, shown.iter().map(|url| Sheet::plain(cells(url)))).text(style);
    if urls.len() > MOST_URLS {
        out += &format!("  {MOST_URLS} of {} URLs: those that failed most, then the slowest\n", urls.len());
    }
    if out.is_empty() { out } else { out + "\n" }
}
