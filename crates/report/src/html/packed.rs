//! The data of a page: JSON, compressed with zlib, as base64. The page unpacks them with `DecompressionStream`
//! (`web/src/summary`).
//!
//! A large run is read in parts. The summary has all that the first screen and the tables show. What only charts show
//! stays packed, a part for each panel, until the reader looks at that panel.

use std::collections::BTreeMap;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::ser::Error as _;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use tare_plan::plan::SliceKind;
use tare_record::Phase;

use crate::error::ReportError;
use tare_analysis::summary::{Cell, CurvePoint, Distribution, Latency, StartLatency, Summary, TimePoint};

/// Significant digits of the figures in tables.
const DIGITS: usize = 6;
/// Significant digits of what is only drawn: more than a chart shows.
const DRAWN_DIGITS: usize = 3;

pub struct PackedData {
    /// Everything but what only charts show.
    pub summary: String,
    /// What charts show besides: a part for each panel (group under a scenario), in the order of the cells.
    pub panels: Vec<String>,
}

#[derive(Serialize)]
struct ChartDetails<'a> {
    timeline: TimeColumns<'a>,
    /// In the order of the cell's latencies.
    curves: Vec<LatencyCurves>,
    command: &'a str,
}

/// Points over time as columns: a key stands once, and neighbours are alike.
#[derive(Default, Serialize)]
struct TimeColumns<'a> {
    /// Hundredths of a second since the point before it; the first one's since the run began.
    after_cs: Vec<i64>,
    fork: Vec<u32>,
    phase: Vec<Phase>,
    slice_kind: Vec<SliceKind>,
    throughput_per_s: Vec<f64>,
    p50_ns: Vec<Option<u64>>,
    p99_ns: Vec<Option<u64>>,
    rss_bytes: Vec<Option<u64>>,
    heap_after_gc_bytes: Vec<Option<u64>>,
    gc_pauses: Vec<Option<u64>>,
    gc_pause_ns: Vec<Option<u64>>,
    failed: Vec<u64>,
    cores: BTreeMap<&'a str, Vec<f64>>,
}

#[derive(Serialize)]
struct LatencyCurves {
    starts: Vec<(u32, Curve)>,
    response: Curve,
    service: Curve,
    send_lag: Option<Curve>,
    machine_hiccups: Option<Curve>,
    jvm_hiccups: Option<Curve>,
}

/// Percentiles in ten-millionths of a per cent, and the value at each, in ns.
type Curve = (Vec<u64>, Vec<u64>);

impl PackedData {
    pub fn of(summary: &Summary) -> Result<Self, ReportError> {
        let cells = summary.cells.iter().map(without_details).collect();
        let first = Summary { cells, ..summary.clone() };
        let panels = summary.panels().into_iter().map(|cells| pack(&details_of(&cells)));
        Ok(Self { summary: pack(&first)?, panels: panels.collect::<Result<_, _>>()? })
    }
}

fn details_of<'a>(cells: &[&'a Cell]) -> BTreeMap<&'a str, ChartDetails<'a>> {
    let details = |cell: &'a Cell| ChartDetails {
        timeline: time_columns(&cell.timeline),
        curves: cell.latency.iter().map(curves_of).collect(),
        command: &cell.command,
    };
    cells.iter().map(|cell| (cell.id.as_str(), details(cell))).collect()
}

fn time_columns(points: &[TimePoint]) -> TimeColumns<'_> {
    let mut columns = TimeColumns::default();
    let mut before_cs = 0;
    for (i, point) in points.iter().enumerate() {
        let at_cs = (point.t_s * 100.0).round() as i64;
        columns.after_cs.push(at_cs - before_cs);
        before_cs = at_cs;
        columns.fork.push(point.fork);
        columns.phase.push(point.phase);
        columns.slice_kind.push(point.slice_kind);
        columns.throughput_per_s.push(rounded(point.throughput_per_s, DRAWN_DIGITS));
        columns.p50_ns.push(point.p50_ns.map(drawn));
        columns.p99_ns.push(point.p99_ns.map(drawn));
        columns.rss_bytes.push(point.rss_bytes.map(drawn));
        columns.heap_after_gc_bytes.push(point.heap_after_gc_bytes.map(drawn));
        columns.gc_pauses.push(point.gc_pauses);
        columns.gc_pause_ns.push(point.gc_pause_ns.map(drawn));
        columns.failed.push(point.failed);
        for kind in &point.cpu {
            let cores = columns.cores.entry(&kind.kind).or_default();
            cores.resize(i, 0.0);
            cores.push((kind.cores * 100.0).round() / 100.0);
        }
    }
    columns.cores.values_mut().for_each(|cores| cores.resize(points.len(), 0.0));
    columns
}

fn curves_of(latency: &Latency) -> LatencyCurves {
    let of = |distribution: &Distribution| curve(&distribution.curve);
    let some = |distribution: &Option<Distribution>| distribution.as_ref().map(of);
    let start = |start: &StartLatency| (start.fork, curve(&start.percentiles));
    LatencyCurves {
        starts: latency.starts.iter().map(start).collect(),
        response: of(&latency.response),
        service: of(&latency.service),
        send_lag: some(&latency.send_lag),
        machine_hiccups: some(&latency.machine_hiccups),
        jvm_hiccups: some(&latency.jvm_hiccups),
    }
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
