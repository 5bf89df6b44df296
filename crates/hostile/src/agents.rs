//! What an agent sends to its coordinator: the fleet accepts it, or drops the agent and continues.

use tare_remote::{
    AgentFacts, Fleet, Greeting, LONGEST_ORDER, LONGEST_REPORT, Order, PROTOCOL, Ready, Report, ReportKind, read_frame,
};

/// Moments of the coordinator's clock. Periods are one long.
const BEGIN: u64 = 1;
const NOW: u64 = 60;

/// Bytes are reports, or the agent is lost. The accepted reports add up to the result of the fleet, and are no more than
/// one agent can send.
pub fn check_report(bytes: &[u8]) {
    take_all(Fleet::new(["a".to_owned()], 0, 1, 0), bytes);
    let mut running = Fleet::new(["a".to_owned()], 0, 1, 0);
    let greeting = Greeting { protocol: PROTOCOL, ..Greeting::default() };
    for kind in [ReportKind::Greeting(greeting), ReportKind::Facts(AgentFacts::default()), ReportKind::Ready(Ready {})]
    {
        running.process_report(0, Report::from(kind), BEGIN);
    }
    running.begin(BEGIN);
    take_all(running, bytes);
    // An agent reads orders of its coordinator in the same way.
    let mut orders = bytes;
    while let Ok(Some(Order { kind: Some(_) })) = read_frame(&mut orders, LONGEST_ORDER) {}
}

fn take_all(mut fleet: Fleet, mut bytes: &[u8]) {
    let (mut answers, mut rounds) = (0, 0);
    loop {
        match read_frame::<Report>(&mut bytes, LONGEST_REPORT) {
            Ok(Some(report)) => fleet.process_report(0, report, NOW),
            Ok(None) => break,
            Err(error) => {
                fleet.mark_lost(0, &error.to_string(), NOW);
                break;
            }
        }
        while !fleet.is_over() {
            let Some(round) = fleet.next_round() else { break };
            (answers, rounds) = (answers + round.ok, rounds + 1);
        }
    }
    fleet.mark_lost(0, "the end", NOW);
    while let Some(round) = fleet.next_round() {
        (answers, rounds) = (answers + round.ok, rounds + 1);
    }
    assert!(rounds <= NOW + 10, "{rounds} samples of {NOW} periods");
    assert_eq!(answers, fleet.agents()[0].counts.ok, "each answer that an agent reported is handed over once");
}
