//! What the generator saw of a slice, as it stands in the record.

use tare_load::SliceSample;
use tare_plan::plan::SliceKind;
use tare_record::sample::{ClockEstimate, ErrorTally, MessageTally, Messages, Phase, SliceRecord};

/// Which slice it was.
#[derive(Debug, Clone)]
pub struct Heading {
    /// 1-based start of the server.
    pub fork: u32,
    /// Id of the group.
    pub group: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// Warm-up or scored.
    pub phase: Phase,
    /// Load model.
    pub kind: SliceKind,
    /// 0-based round within fork, scenario and kind.
    pub round: u32,
    /// Begin of the window, since the run began.
    pub start_ns: u64,
    /// Closed users, or connections of an open load.
    pub users: u32,
    /// Offered rate of an open load.
    pub offered_per_s: Option<f64>,
}

/// What is known of pushed messages, where there were any or should have been.
fn messages(of: &tare_load::Messages) -> Option<Messages> {
    let tally = MessageTally {
        received: of.received,
        missing: of.missing,
        late: of.late,
        out_of_order: of.out_of_order,
        duplicated: of.duplicated,
        ahead: of.ahead,
        pings: of.pings,
        subscriptions: of.subscriptions,
        stamp_unit_ns: of.stamp_unit_ns,
        clock_within_ns: of.clock_within_ns,
        clock: of.clock.map(clock),
    };
    (of.received + of.missing > 0).then(|| Messages { tally, jitter: of.jitter.clone() })
}

fn clock(of: tare_load::ClockEstimate) -> ClockEstimate {
    let tare_load::ClockEstimate { offset_ns, messages, round_trip_ns, is_confirmed } = of;
    ClockEstimate { offset_ns, messages, round_trip_ns, is_confirmed }
}

/// The sample under its heading. Of the server's processes it says nothing yet.
pub fn booked(sample: SliceSample, heading: Heading) -> SliceRecord {
    let tally = |tally: &tare_load::ErrorTally| ErrorTally { count: tally.count, example: tally.example.clone() };
    let messages = messages(&sample.messages);
    let errors = sample.errors.iter().map(|(class, one)| (class.name().to_owned(), tally(one))).collect();
    SliceRecord {
        fork: heading.fork,
        group: heading.group,
        scenario: heading.scenario,
        variant: heading.variant,
        phase: heading.phase,
        kind: heading.kind,
        round: heading.round,
        start_ns: heading.start_ns,
        window_ns: sample.window_ns,
        users: heading.users,
        offered_per_s: heading.offered_per_s,
        completed: sample.completed,
        ok: sample.ok,
        failed: sample.failed,
        errors,
        bytes_in: sample.bytes_in,
        bytes_out: sample.bytes_out,
        response: sample.response,
        service: sample.service,
        send_lag: sample.send_lag,
        stamp_lag: sample.stamp_lag,
        failed_after: sample.failed_time,
        blocked: sample.blocked,
        blocked_ns: sample.blocked_ns,
        connections_opened: sample.connections_opened,
        connections_lost: sample.connections_lost,
        tls_handshakes: sample.tls_handshakes,
        tls_resumed: sample.tls_resumed,
        generator_cpu_ns: sample.generator_cpu_ns,
        generator_spin_ns: sample.generator_spin_ns,
        generator_workers: sample.workers as u32,
        server_cpu: None,
        rss_bytes: None,
        rss_peak_bytes: None,
        jvm: None,
        hiccups: None,
        others_share: None,
        messages,
    }
}
