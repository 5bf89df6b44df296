//! Totals of a recorded stream, beside what a search of its bytes finds.

use super::*;

/// The events of ASP.NET Core 3.1 for 1.6 s, with a load of 1 s.
const RECORDED: &[u8] = include_bytes!("../../../../../hostile/seeds/trace/aspnetcore-3.1");

fn totals(bytes: &[u8]) -> TraceTotals {
    let mut reader = TraceReader::default();
    reader.feed(bytes).unwrap();
    reader.totals().clone()
}

/// The increments of a counter, found by its name anywhere in the bytes: independent of the reader, which parses blocks.
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

/// A stream of the runtime's events, in nanoseconds: their identifier, thread, time since the one before, and payload.
fn stream(events: &[(u32, u8, u8, &[u32])]) -> Vec<u8> {
    let utf16 = |text: &str| text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    // The number of a kind is the event's identifier.
    let metadata = [1_u32, 3, 9].map(|event| {
        let payload = [&event.to_le_bytes()[..], &utf16(RUNTIME), &event.to_le_bytes(), &utf16("")].concat();
        [&[0b1000_0001, 0, 0, payload.len() as u8][..], &payload].concat()
    });
    let event = |(event, thread, after_ns, payload): &(u32, u8, u8, &[u32])| {
        let head = [0b1000_0101, *event as u8, *thread, *after_ns, 4 * payload.len() as u8];
        head.into_iter().chain(payload.iter().flat_map(|number| number.to_le_bytes())).collect::<Vec<u8>>()
    };
    let mut trace = [0; 48];
    trace[24..32].copy_from_slice(&1_000_000_000_u64.to_le_bytes());
    let mut bytes = [MAGIC, &object("Trace"), &trace, &[END_OBJECT]].concat();
    for (name, events) in
        [("MetadataBlock", metadata.concat()), ("EventBlock", events.iter().flat_map(event).collect())]
    {
        bytes.extend(object(name));
        bytes.extend((4 + events.len() as u32).to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend([4, 0, 1, 0]);
        bytes.extend(events);
        bytes.push(END_OBJECT);
    }
    bytes
}

fn object(name: &str) -> Vec<u8> {
    let mut bytes = vec![BEGIN_OBJECT, BEGIN_OBJECT, NULL_REFERENCE];
    bytes.extend([2, 2, name.len() as u32].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend(name.as_bytes());
    bytes.push(END_OBJECT);
    bytes
}

/// Identifiers of events.
const STARTS: u32 = 1;
const RESUMES: u32 = 3;
const SUSPENDS: u32 = 9;

#[test]
fn only_collections_count_as_their_pauses() {
    let collection: [(u32, u8, u8, &[u32]); 3] =
        [(SUSPENDS, 1, 10, &[1, 0]), (STARTS, 1, 1, &[1, 2]), (RESUMES, 1, 4, &[])];
    let of_a_debugger: [(u32, u8, u8, &[u32]); 2] = [(SUSPENDS, 1, 10, &[5, 0]), (RESUMES, 1, 90, &[])];
    let in_the_background: [(u32, u8, u8, &[u32]); 2] = [(SUSPENDS, 1, 10, &[6, 0]), (RESUMES, 1, 7, &[])];
    let totals = totals(&stream(&[&collection[..], &of_a_debugger, &in_the_background].concat()));
    assert_eq!(totals.generations[2], Collections { count: 1, paused_ns: 5 + 7 });
}

#[test]
fn a_pause_ends_when_its_own_thread_lets_the_application_go_on() {
    let totals = totals(&stream(&[
        (SUSPENDS, 1, 10, &[1, 0]),
        (SUSPENDS, 2, 1, &[0, 0]),
        (RESUMES, 2, 1, &[]),
        (RESUMES, 1, 30, &[]),
    ]));
    assert_eq!(totals.generations[0].paused_ns, 32);
}

#[test]
fn nothing_follows_the_end_of_a_stream() {
    let ended = [&stream(&[])[..], &[NULL_REFERENCE]].concat();
    let mut reader = TraceReader::default();
    assert_eq!(reader.feed(&ended), Ok(()));
    assert_eq!(reader.feed(b"more"), Err(Malformed("what follows the end")));
    assert!(TraceReader::default().feed(&[&ended[..], b"more"].concat()).is_err());
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
    let mut bytes = [MAGIC, &object("EventBlock")].concat();
    bytes.extend(u32::MAX.to_le_bytes());
    assert_eq!(TraceReader::default().feed(&bytes), Err(Malformed("the size of a block")));
}
