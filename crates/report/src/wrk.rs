//! Text in the shape of wrk's report (`wrk --latency`), one block per cell and load, for its readers and for programs.
//! Where wrk has threads, this has slices.

use tare_record::ErrorClass;

use crate::clean;
use tare_analysis::summary::{Cell, Distribution, Latency, Pace, Summary};

pub fn render(summary: &Summary) -> String {
    let blocks = summary.cells.iter().flat_map(|cell| cell.latency.iter().map(move |load| block(cell, load)));
    blocks.collect::<Vec<_>>().join("\n")
}

fn block(cell: &Cell, load: &Latency) -> String {
    one(&format!("{} · {}", cell.variant, cell.scenario), &load.model, cell, &load.pace, &load.response)
}

/// One load on `title`, with the line `under` in place of wrk's threads and connections.
pub(crate) fn one(title: &str, under: &str, cell: &Cell, pace: &Pace, d: &Distribution) -> String {
    let latency = [d.mean_ns, d.stdev_ns, d.max_ns.map(|ns| ns as f64)].map(|ns| time(ns.unwrap_or(0.0)));
    let rates = [pace.answers_per_s, pace.answers_stdev_per_s, pace.answers_max_per_s].map(metric);
    let [title, under] = [title, under].map(clean::sanitize_line);
    let mut out = format!("Running {:.0}s test @ {title}\n  {under}\n", pace.window_s);
    out.push_str("  Thread Stats   Avg      Stdev     Max   +/- Stdev\n");
    for (name, [mean, stdev, max], within) in
        [("Latency", latency, d.within_stdev_share.unwrap_or(0.0)), ("Req/Sec", rates, pace.within_stdev_share)]
    {
        out.push_str(&format!("    {name:<9}{mean:>9} {stdev:>9} {max:>9} {:>8.2}%\n", within * 100.0));
    }
    out.push_str("  Latency Distribution\n");
    for percentile in d.percentiles.iter().filter(|p| [50.0, 75.0, 90.0, 99.0, 99.9].contains(&p.percentile)) {
        let name = format!("{}%", percentile.percentile);
        out.push_str(&format!("  {name:>6} {:>9}\n", time(percentile.value_ns as f64)));
    }
    out.push_str(&format!("  {} requests in {:.2}s, {} read\n", d.count, pace.window_s, binary(pace.bytes_in as f64)));
    out.push_str(&failures(cell, pace.requests_failed));
    let transfer = if pace.window_s > 0.0 { pace.bytes_in as f64 / pace.window_s } else { 0.0 };
    out + &format!("Requests/sec: {:>9.2}\nTransfer/sec: {:>9}\n", pace.answers_per_s, binary(transfer))
}

/// wrk's two lines where wrk has such errors, and the number of all that failed. A cell has the errors of all its loads together:
/// of several they are this one's only if all failures are.
fn failures(cell: &Cell, failed: u64) -> String {
    let are_its_own = cell.latency.len() < 2 || failed > 0 && failed == cell.requests_failed;
    // wrk counts what happens on sockets, whether a request was under way or not.
    let all = || cell.errors.iter().chain(&cell.connection_events).filter(|_| are_its_own);
    let of = |class: ErrorClass| all().filter(|e| e.class == class).map(|e| e.count).sum::<u64>();
    let [connect, read, write, timeout] =
        [ErrorClass::Connect, ErrorClass::Read, ErrorClass::Write, ErrorClass::Timeout].map(of);
    let mut lines = String::new();
    if connect + read + write + timeout > 0 {
        lines += &format!("  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n");
    }
    if of(ErrorClass::Status) > 0 {
        lines += &format!("  Non-2xx or 3xx responses: {}\n", of(ErrorClass::Status));
    }
    if failed > 0 {
        lines += &format!("  Failed requests: {failed}\n");
    }
    lines
}

fn time(ns: f64) -> String {
    in_unit(ns / 1e3, &[(1e6, "s"), (1e3, "ms")], "us")
}

fn metric(value: f64) -> String {
    in_unit(value, &[(1e6, "M"), (1e3, "k")], "")
}

/// wrk counts bytes in powers of 1,024.
fn binary(bytes: f64) -> String {
    in_unit(bytes, &[(1_073_741_824.0, "GB"), (1_048_576.0, "MB"), (1_024.0, "KB")], "B")
}

/// In the first of these units that fits, or else in the `smallest`.
fn in_unit(value: f64, units: &[(f64, &str)], smallest: &str) -> String {
    let (size, name) = units.iter().copied().find(|(size, _)| value >= *size).unwrap_or((1.0, smallest));
    format!("{:.2}{name}", value / size)
}
