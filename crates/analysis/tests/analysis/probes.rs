//! What the probes saw, in the summary.

use tare_analysis::summarize;
use tare_analysis::summary::{FindingKind, ReportFinding};
use tare_record::{PauseCause, RuntimeUse};

use crate::synthetic::standard;

#[test]
fn pauses_from_outside_and_costly_probes_are_findings() {
    let mut record = standard();
    for slice in record.slices.iter_mut().filter(|s| s.key.variant == "http4s.Tapir") {
        slice.server.hiccups.as_mut().unwrap().pauses[0].cause = PauseCause::Process;
        slice.server.cpu.as_mut().unwrap().probing_ns = Some(slice.load.window_ns / 50);
    }
    let summary = summarize(&record);
    let of = |kind| summary.findings.iter().find(|f| f.kind == FindingKind::Report(kind)).unwrap();
    let paused = of(ReportFinding::OutsidePauses);
    assert!(paused.text.ends_with("SimpleGet: http4s.Tapir (96 pauses, up to 10.1 ms)."), "{}", paused.text);
    assert_eq!(paused.cell.as_deref(), Some("http4s/SimpleGet/http4s.Tapir"));
    assert!(of(ReportFinding::ProbeCost).text.contains("http4s.Tapir ("));
    let probes = &summary.cells[0].probes;
    assert_eq!((probes.pauses[0].cause, probes.collectors[0].pauses), (PauseCause::Collection, 96));
}

#[test]
fn what_a_runtime_does_not_tell_is_unknown_and_no_zero() {
    let summary_of = |told: fn(RuntimeUse) -> RuntimeUse| {
        let mut record = standard();
        for slice in &mut record.slices {
            slice.server.runtime = slice.server.runtime.take().map(told);
        }
        summarize(&record)
    };
    // As .NET tells it.
    let summary = summary_of(|all| RuntimeUse {
        collections: all.collections,
        collecting_ns: all.collecting_ns,
        heap_used_bytes: all.heap_used_bytes,
        ..RuntimeUse::default()
    });
    let cell = &summary.cells[0];
    assert_eq!((cell.probes.heap_committed_peak_bytes, cell.probes.safepoint_share), (None, None));
    assert!(cell.gc_pause_share.is_some() && cell.heap_used_peak_bytes.is_some());
    let summary = summary_of(|_| RuntimeUse::default());
    let (cell, point) = (&summary.cells[0], &summary.cells[0].timeline[0]);
    assert_eq!((cell.gc_pause_share, cell.gc_pauses, cell.heap_used_peak_bytes), (None, None, None));
    assert_eq!((point.gc_pauses, point.gc_pause_ns, point.heap_used_bytes), (None, None, None));
}
