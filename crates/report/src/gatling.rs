//! Text in the shape of Gatling's console summary, one block per cell and load, for its readers. Milliseconds keep the
//! decimals that Gatling rounds away.

use crate::clean;
use tare_analysis::summary::{Cell, Latency, Summary};

const WIDTH: usize = 80;

pub fn render(summary: &Summary) -> String {
    let blocks = summary.cells.iter().flat_map(|cell| cell.latency.iter().map(move |load| block(cell, load)));
    blocks.collect::<Vec<_>>().join("\n")
}

fn block(cell: &Cell, load: &Latency) -> String {
    let title = clean::sanitize_line(&format!("{} · {} ({})", cell.variant, cell.scenario, load.model));
    let double = "=".repeat(WIDTH);
    let mut out = format!("{double}\n{}\n", heading(&title));
    let d = &load.response;
    let (ok, failed) = (d.count, load.pace.requests_failed);
    out.push_str(&line("request count", &(ok + failed).to_string(), &ok.to_string(), &failed.to_string()));
    for (name, value) in [
        ("min response time", as_f64(d.min_ns)),
        ("max response time", as_f64(d.max_ns)),
        ("mean response time", d.mean_ns),
        ("std deviation", d.stdev_ns),
        ("response time 50th percentile", as_f64(d.percentile_ns(50.0))),
        ("response time 75th percentile", as_f64(d.percentile_ns(75.0))),
        ("response time 95th percentile", as_f64(d.percentile_ns(95.0))),
        ("response time 99th percentile", as_f64(d.percentile_ns(99.0))),
    ] {
        let ms = value.map_or("-".to_owned(), milliseconds);
        out.push_str(&line(name, &ms, &ms, "-"));
    }
    let answers_per_s = load.pace.answers_per_s;
    let failed_per_s = if ok > 0 { answers_per_s * failed as f64 / ok as f64 } else { 0.0 };
    let [all, right, wrong] =
        [answers_per_s + failed_per_s, answers_per_s, failed_per_s].map(|rate| format!("{rate:.2}"));
    out.push_str(&line("mean requests/sec", &all, &right, if failed > 0 { &wrong } else { "-" }));
    out.push_str(&format!("{}\n", heading("Response Time Distribution")));
    let [fast, middling, slow] = d.gatling_ranges;
    for (name, count) in
        [("t < 800 ms", fast), ("800 ms <= t < 1200 ms", middling), ("t >= 1200 ms", slow), ("failed", failed)]
    {
        let percent = count as f64 * 100.0 / (ok + failed).max(1) as f64;
        out.push_str(&format!("> {name:<48} {count:>7} ({percent:>3.0}%)\n"));
    }
    out + &double + "\n"
}

fn heading(title: &str) -> String {
    let used = title.chars().count() + 6;
    format!("---- {title} {}", "-".repeat(WIDTH.saturating_sub(used)))
}

fn line(name: &str, total: &str, ok: &str, failed: &str) -> String {
    format!("> {name:<48} {total:>7} (OK={ok:<6} KO={failed:<6})\n")
}

fn as_f64(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

fn milliseconds(ns: f64) -> String {
    let ms = ns / 1e6;
    if ms >= 100.0 { format!("{ms:.0}") } else { format!("{ms:.3}") }
}
