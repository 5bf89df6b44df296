//! What an agent sends to its coordinator: a fleet takes it or gives the agent up, and goes on.

use tare_agent::{
    AgentFacts, Fleet, Greeting, LONGEST_ORDER, LONGEST_REPORT, Order, PROTOCOL, Ready, Report, ReportKind, read_frame,
};

/// Bytes are reports, or the agent is lost. What was taken adds up to what the fleet hands over.
pub fn check_report(bytes: &[u8]) {
    take_all(Fleet::new(["a".to_owned()], 0, 0), bytes);
    let mut running = Fleet::new(["a".to_owned()], 0, 0);
    let greeting = Greeting { protocol: PROTOCOL, ..Greeting::default() };
    for kind in [ReportKind::Greeting(greeting), ReportKind::Facts(AgentFacts::default()), ReportKind::Ready(Ready {})]
    {
        running.take(0, Report::from(kind), 1);
    }
    running.begin(1);
    take_all(running, bytes);
    // An agent reads what comes from its coordinator in the same way.
    let mut orders = bytes;
    while let Ok(Some(Order { kind: Some(_) })) = read_frame(&mut orders, LONGEST_ORDER) {}
}

fn take_all(mut fleet: Fleet, mut bytes: &[u8]) {
    let mut answers = 0;
    loop {
        match read_frame::<Report>(&mut bytes, LONGEST_REPORT) {
            Ok(Some(report)) => fleet.take(0, report, 2),
            Ok(None) => break,
            Err(error) => {
                fleet.lose(0, &error.to_string(), 2);
                break;
            }
        }
        while !fleet.is_over() {
            let Some(round) = fleet.next_round() else { break };
            answers += round.ok;
        }
    }
    fleet.lose(0, "the end", 3);
    while let Some(round) = fleet.next_round() {
        answers += round.ok;
    }
    assert_eq!(answers, fleet.agents()[0].counts.ok, "each answer that an agent reported is handed over once");
}
