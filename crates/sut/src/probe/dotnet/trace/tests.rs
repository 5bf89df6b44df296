//! Totals of a recorded stream, beside what a search of its bytes finds.

use super::*;

/// The events of ASP.NET Core 3.1 for 1.6 s, with a load of 1 s.
const RECORDED: &[u8] = include_bytes!("../../../../../hostile/seeds/trace/aspnetcore-3.1");

fn totals(bytes: &[u8]) -> TraceTotals {
    let mut reader = TraceReader::default();
    reader.feed(bytes).unwrap();
    reader.totals().clone()
}

/// The increments of a counter, found by its name anywhere in the bytes: an oracle that knows nothing of blocks.
fn increments(name: &str) -> Vec<f64> {
    let pattern: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
    let found = RECORDED.windows(pattern.len()).enumerate().filter(|(_, window)| *window == pattern);
    let increment = |(at, _): (usize, &[u8])| {
        let mut cursor = Cursor::new(&RECORDED[at..]);
        // Its name, title and unit.
        (0..3).for_each(|_| drop(cursor.text().unwrap()));
        cursor.f64().unwrap()
    };
    found.map(increment).collect()
}

#[test]
fn totals_are_the_sums_of_what_the_runtime_reports() {
    let totals = totals(RECORDED);
    let allocated = increments("alloc-rate");
    assert!(allocated.len() > 10);
    // A report allocates as much as it does while the server has no load.
    let of_reports = allocated.iter().scan(f64::MAX, |least, bytes| {
        *least = least.min(*bytes);
        Some(*least)
    });
    let of_reports: Vec<f64> = of_reports.collect();
    assert!((30_000.0..50_000.0).contains(of_reports.last().unwrap()), "{allocated:?}");
    assert_eq!(totals.allocated_bytes, allocated.iter().sum::<f64>() - of_reports.iter().sum::<f64>());
    assert!(totals.allocated_bytes > 100_000.0 && totals.heap_bytes > 1e6, "{totals:?}");
}

#[test]
fn collections_are_as_many_as_the_runtime_counts() {
    let totals = totals(RECORDED);
    // Its number for generation 0 contains the collections of the others.
    let counted: f64 = increments("gen-0-gc-count").iter().sum();
    let collections: u64 = totals.generations.iter().map(|of| of.count).sum();
    assert_eq!(collections as f64, counted, "{totals:?}");
}

#[test]
fn a_report_with_fewer_bytes_leaves_earlier_ones_as_they_are() {
    let mut reported = ReportedBytes::default();
    let of_application = [100.0, 300.0, 50.0, 70.0].map(|bytes| reported.of_application(bytes));
    assert_eq!(of_application, [0.0, 200.0, 0.0, 20.0]);
}

#[test]
fn other_bytes_are_no_stream() {
    for bytes in [&b"HTTP/1.1 200 OK"[..], b"Nettrace\x14\0\0\0!FastSerialization.2"] {
        assert!(TraceReader::default().feed(bytes).is_err());
    }
    let mut broken = RECORDED.to_vec();
    broken[MAGIC.len()] = 9;
    assert_eq!(TraceReader::default().feed(&broken), Err(Malformed("the beginning of an object")));
}

#[test]
fn a_block_that_is_too_long_is_refused() {
    let name = b"EventBlock";
    let mut bytes = [MAGIC, &[BEGIN_OBJECT, BEGIN_OBJECT, NULL_REFERENCE]].concat();
    for number in [2, 2, name.len() as u32] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(name);
    bytes.push(END_OBJECT);
    bytes.extend(u32::MAX.to_le_bytes());
    assert_eq!(TraceReader::default().feed(&bytes), Err(Malformed("the size of a block")));
}
