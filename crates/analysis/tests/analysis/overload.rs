//! What is overloaded: a network that is full, or a server by the rate of its latency and by nothing else.

use tare_analysis::summary::{Bottleneck, Cell, Concern, ValidityState};
use tare_analysis::{Currency, summarize};
use tare_plan::plan::SliceKind;
use tare_record::environment::NetworkBandwidth;
use tare_record::{ErrorClass, ErrorTally, RunRecord};

use crate::synthetic::{baseline, run, standard, variant};

#[test]
fn a_server_that_cannot_follow_the_rate_of_the_latency_has_all_its_other_figures() {
    let truths = [baseline(), variant("http4s.Tapir", 0.8)];
    for (failing, class, state) in [
        (SliceKind::Poisson, ErrorClass::Timeout, ValidityState::Valid),
        (SliceKind::Poisson, ErrorClass::Status, ValidityState::Void),
        (SliceKind::Saturating, ErrorClass::Timeout, ValidityState::Void),
    ] {
        let mut record = run(&truths, 5, &[SliceKind::Saturating, SliceKind::Poisson]);
        for slice in record.slices.iter_mut().filter(|s| s.key.variant == "http4s.Tapir" && s.key.kind == failing) {
            slice.load.failed = 900;
            slice.load.errors = [(class, ErrorTally { count: 900, example: "late".to_owned() })].into_iter().collect();
        }
        let summary = summarize(&record);
        let cell = summary.cells.iter().find(|c| c.variant == "http4s.Tapir").unwrap();
        assert_eq!(cell.validity.state, state, "{failing:?} {class:?}: {:?}", cell.validity.reasons);
        if state == ValidityState::Valid {
            assert!(cell.validity.joined_reasons().contains("overloaded at the rate of the latency"));
            assert_eq!(cell.validity.state_in(Currency::LatencyP99), ValidityState::Suspect);
            let compared: Vec<Currency> = summary.comparisons[0].currencies.iter().map(|ratio| ratio.name).collect();
            assert!(compared.contains(&Currency::CpuPerRequest), "{compared:?}");
            assert!(!compared.contains(&Currency::LatencyP99), "{compared:?}");
        }
    }
}

/// Slices of these kinds move 88 Mbit/s in responses and 44 Mbit/s in requests, without headers, between cores that are half busy.
fn with_traffic(kinds: &[SliceKind], network: NetworkBandwidth) -> RunRecord {
    let mut record = standard();
    record.header.environment.network = Some(network);
    for slice in &mut record.slices {
        let cpu = slice.server.cpu.as_mut().unwrap();
        cpu.total_ns = cpu.wall_ns / 2;
        let full_bytes = slice.load.window_ns / 1_000 * 11;
        (slice.load.bytes_in, slice.load.bytes_out) =
            if kinds.contains(&slice.key.kind) { (full_bytes, full_bytes / 2) } else { (0, 0) };
    }
    record
}

fn carrying(to_servers_mbit: u64, from_servers_mbit: u64) -> NetworkBandwidth {
    NetworkBandwidth {
        to_servers_bits_per_s: Some(to_servers_mbit * 1_000_000),
        from_servers_bits_per_s: Some(from_servers_mbit * 1_000_000),
    }
}

fn reasons(cell: &Cell) -> Vec<&str> {
    cell.validity.reasons.iter().map(|reason| reason.text.as_str()).collect()
}

#[test]
fn a_full_network_makes_the_throughput_a_lower_bound() {
    let summary = summarize(&with_traffic(&[SliceKind::Saturating], carrying(100, 100)));
    // About 20,000 and 19,000 responses per second, each with a header of 66 bytes; full packets carry 1,448 of 1,514 bytes.
    for (cell, took) in summary.cells.iter().zip(["98.5", "98.1"]) {
        assert_eq!(cell.bottleneck, Bottleneck::Network);
        let says = format!(
            "the responses took {took} Mbit/s with headers, of a network that carries 104.6 Mbit/s: the throughput is a lower bound"
        );
        assert_eq!(reasons(cell), [says]);
        assert_eq!(cell.validity.doubtful_measures(), [Concern::Throughput]);
        assert!(cell.validity.reasons[0].remedy.as_ref().unwrap().contains("Compare CPU per request"));
    }
}

#[test]
fn a_full_network_makes_the_latency_of_an_open_load_doubtful() {
    let open = [SliceKind::Fixed, SliceKind::Poisson];
    let cell = &summarize(&with_traffic(&open, carrying(100, 100))).cells[0];
    assert_eq!((cell.bottleneck, cell.validity.doubtful_measures()), (Bottleneck::Neither, vec![Concern::Latency]));
    assert!(reasons(cell)[0].ends_with(" of a network that carries 104.6 Mbit/s: they waited for it"), "{cell:?}");
}

#[test]
fn each_direction_has_its_own_bandwidth() {
    let all = [SliceKind::Saturating];
    let cell = |network| summarize(&with_traffic(&all, network)).cells.swap_remove(0);
    let uploads = cell(carrying(50, 1_000));
    assert!(reasons(&uploads)[0].starts_with("the requests took 54.5 Mbit/s with headers"), "{uploads:?}");
    for network in [carrying(1_000, 1_000), NetworkBandwidth::default(), carrying(0, 0)] {
        let cell = cell(network);
        assert_eq!((cell.bottleneck, reasons(&cell)), (Bottleneck::Neither, vec![]), "{network:?}");
    }
}

#[test]
fn a_server_that_is_busy_is_the_bottleneck_beside_a_full_network() {
    let mut record = with_traffic(&[SliceKind::Saturating], carrying(100, 100));
    for slice in &mut record.slices {
        let cpu = slice.server.cpu.as_mut().unwrap();
        cpu.total_ns = cpu.wall_ns * 95 / 100;
    }
    let cell = &summarize(&record).cells[0];
    assert_eq!(cell.bottleneck, Bottleneck::Server);
    assert!(!reasons(cell).iter().any(|reason| reason.contains("network")), "{:?}", reasons(cell));
}
