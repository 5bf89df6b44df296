//! The data of a page: JSON, compressed with zlib, as base64, which `web/src/summary` unpacks in parts. The summary
//! has all that the first screen and the tables show. What only charts show stays packed, a part for each panel, until
//! the reader looks at that panel.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::ser::Error as _;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use serde_json::{Value, json};

use crate::error::ReportError;
use tare_analysis::summary::{Cell, CurvePoint, Distribution, Latency, StartLatency, Summary, TimePoint};

/// Significant digits of the figures in tables.
const DIGITS: usize = 6;
/// Significant digits of what is only drawn: more than a chart shows.
const DRAWN_DIGITS: usize = 3;

/// Percentiles in ten-millionths of a per cent, and the value at each, in ns.
type Curve = (Vec<u64>, Vec<u64>);

/// Everything but what only charts show; and that, a line for each panel (group under a scenario).
pub fn packed(summary: &Summary) -> Result<[String; 2], ReportError> {
    let cells = summary.cells.iter().map(without_details).collect();
    let first = Summary { cells, ..summary.clone() };
    let panels = summary.panels().into_iter().map(|cells| pack(&details_of(&cells)));
    Ok([pack(&first)?, panels.collect::<Result<Vec<_>, _>>()?.join("\n")])
}

/// By cell; the curves are in the order of its latencies.
fn details_of<'a>(cells: &[&'a Cell]) -> BTreeMap<&'a str, Value> {
    let details = |cell: &Cell| {
        let curves: Vec<Value> = cell.latency.iter().map(curves_of).collect();
        json!({ "timeline": time_columns(&cell.timeline), "curves": curves, "command": cell.command })
    };
    cells.iter().map(|cell| (cell.id.as_str(), details(cell))).collect()
}

/// Points over time as columns: a key stands once, and neighbours are alike.
fn time_columns(points: &[TimePoint]) -> Value {
    let at_cs = |point: &TimePoint| (point.t_s * 100.0).round() as i64;
    let before = std::iter::once(0).chain(points.iter().map(at_cs));
    // Hundredths of a second since the point before it; the first one's since the run began.
    let after_cs: Vec<i64> = points.iter().zip(before).map(|(point, before)| at_cs(point) - before).collect();
    let cores_of = |point: &TimePoint, kind: &str| {
        let found = point.cpu.iter().find(|one| one.kind == kind);
        found.map_or(0.0, |one| (one.cores * 100.0).round() / 100.0)
    };
    let kinds: BTreeSet<&str> = points.iter().flat_map(|point| &point.cpu).map(|one| one.kind.as_str()).collect();
    let cores = kinds.into_iter().map(|kind| (kind, column(points, |point| cores_of(point, kind))));
    json!({
        "after_cs": after_cs,
        "fork": column(points, |point| point.fork),
        "phase": column(points, |point| point.phase),
        "slice_kind": column(points, |point| point.slice_kind),
        "throughput_per_s": column(points, |point| rounded(point.throughput_per_s, DRAWN_DIGITS)),
        "p50_ns": column(points, |point| point.p50_ns.map(drawn)),
        "p99_ns": column(points, |point| point.p99_ns.map(drawn)),
        "rss_bytes": column(points, |point| point.rss_bytes.map(drawn)),
        "heap_after_gc_bytes": column(points, |point| point.heap_after_gc_bytes.map(drawn)),
        "gc_pauses": column(points, |point| point.gc_pauses),
        "gc_pause_ns": column(points, |point| point.gc_pause_ns.map(drawn)),
        "failed": column(points, |point| point.failed),
        "cores": cores.collect::<BTreeMap<_, _>>(),
    })
}

fn column<T>(points: &[TimePoint], of: impl Fn(&TimePoint) -> T) -> Vec<T> {
    points.iter().map(of).collect()
}

fn curves_of(latency: &Latency) -> Value {
    let of = |distribution: &Distribution| curve(&distribution.curve);
    let some = |distribution: &Option<Distribution>| distribution.as_ref().map(of);
    let start = |start: &StartLatency| (start.fork, curve(&start.percentiles));
    json!({
        "starts": latency.starts.iter().map(start).collect::<Vec<_>>(),
        "response": of(&latency.response),
        "service": of(&latency.service),
        "send_lag": some(&latency.send_lag),
        "machine_hiccups": some(&latency.machine_hiccups),
        "jvm_hiccups": some(&latency.jvm_hiccups),
    })
}

fn curve(points: &[CurvePoint]) -> Curve {
    let fine = |point: &CurvePoint| ((point.percentile * 1e7).round() as u64, drawn(point.value_ns));
    points.iter().map(fine).unzip()
}

fn without_details(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    cell.timeline.clear();
    cell.command.clear();
    for latency in &mut cell.latency {
        latency.starts.clear();
        latency.response.curve.clear();
        latency.service.curve.clear();
        let others = [&mut latency.send_lag, &mut latency.machine_hiccups, &mut latency.jvm_hiccups];
        others.into_iter().flatten().for_each(|other| other.curve.clear());
    }
    cell
}

fn drawn(value: u64) -> u64 {
    rounded(value as f64, DRAWN_DIGITS) as u64
}

fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

fn pack(data: &impl Serialize) -> Result<String, ReportError> {
    let mut json = Vec::new();
    data.serialize(&mut Serializer::with_formatter(&mut json, ShortNumbers))?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let packed = encoder.write_all(&json).and_then(|()| encoder.finish()).map_err(serde_json::Error::custom)?;
    Ok(STANDARD.encode(packed))
}

/// Writes numbers with the digits that a page shows.
struct ShortNumbers;

impl Formatter for ShortNumbers {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        CompactFormatter.write_f64(writer, rounded(value, DIGITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_first_digits() {
        assert_eq!((rounded(12_345.678_9, 6), rounded(0.0, 6)), (12_345.7, 0.0));
        assert_eq!((drawn(3_784_703), drawn(0)), (3_780_000, 0));
    }

    #[test]
    fn a_curve_keeps_its_last_nines() {
        let point = CurvePoint { percentile: 99.999_95, value_ns: 1_234_567 };
        assert_eq!(curve(&[point]), (vec![999_999_500], vec![1_230_000]));
    }
}
