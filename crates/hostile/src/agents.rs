//! What an agent sends to its coordinator: the fleet accepts it, or drops the agent and continues.

use tare_remote::{Fleet, Greeting, LONGEST_ORDER, LONGEST_REPORT, Order, Report, Version, read_frame};

/// Moments of the coordinator's clock. Periods are one long.
const BEGIN: u64 = 1;
const NOW: u64 = 60;

/// Bytes are reports, or the agent is lost. The accepted reports add up to the result of the fleet, and are no more than
/// one agent can send.
pub fn check_report(bytes: &[u8]) {
    take_all(fleet_of_one(), bytes);
    take_all(working_fleet(), bytes);
    let mut running = working_fleet();
    running.process_report(0, Report::Ready, BEGIN);
    running.begin(BEGIN, 1);
    take_all(running, bytes);
    // An agent reads orders of its coordinator in the same way.
    let mut orders = bytes;
    while let Ok(Some(_)) = read_frame::<Order>(&mut orders, LONGEST_ORDER) {}
}

fn fleet_of_one() -> Fleet {
    Fleet::new(["a".to_owned()], 0, 0)
}

/// A fleet whose agent carries out its first task.
fn working_fleet() -> Fleet {
    let mut fleet = fleet_of_one();
    let greeting = Greeting { version: Version::own(), host: String::new() };
    fleet.process_report(0, Report::Greeting(greeting), BEGIN);
    fleet.note_task(0, true);
    fleet
}

fn take_all(mut fleet: Fleet, mut bytes: &[u8]) {
    let (mut answers, mut rounds, mut is_lost) = (0, 0, false);
    while !is_lost {
        let report = read_frame::<Report>(&mut bytes, LONGEST_REPORT);
        is_lost = !matches!(report, Ok(Some(_)));
        match report {
            Ok(Some(report)) => fleet.process_report(0, report, NOW),
            Ok(None) => fleet.mark_lost(0, "the end", NOW),
            Err(error) => fleet.mark_lost(0, &error.to_string(), NOW),
        }
        while let Some(round) = fleet.next_round() {
            (answers, rounds) = (answers + round.ok, rounds + 1);
        }
    }
    assert!(rounds <= NOW + 10, "{rounds} samples of {NOW} periods");
    assert_eq!(answers, fleet.agents()[0].record.ok, "each answer that an agent reported is handed over once");
}
