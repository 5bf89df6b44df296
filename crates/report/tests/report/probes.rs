//! What the probes saw, in the summary.

use tare_record::PauseCause;
use tare_report::summarize;
use tare_report::summary::{FindingKind, ReportFinding};

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
