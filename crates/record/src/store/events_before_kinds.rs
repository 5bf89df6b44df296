//! Events of versions of tare without event kinds. Those about the machine get a kind, from their title and text, so
//! that a report does not repeat them from the facts about the machine. All others stay [`EventKind::Other`].

use crate::{EventKind, EventRecord};

/// Sets the kind of an event that has none.
pub(super) fn with_kind(event: EventRecord) -> EventRecord {
    if event.kind != EventKind::Other {
        return event;
    }
    EventRecord { kind: machine_kind(&event.title, &event.text).unwrap_or_default(), ..event }
}

/// The kind of an event about the machine, by the words that earlier versions used.
fn machine_kind(title: &str, text: &str) -> Option<EventKind> {
    let share = || Some(number_before(text, " %")? / 100.0);
    match title {
        "frequency scaling" => Some(EventKind::CpuGovernor { governor: text.split('"').nth(1)?.to_owned() }),
        "busy machine" => Some(EventKind::BusyCore { cpu: number_after(text, "core ")?, busy_share: share()? }),
        "stolen time" => {
            Some(EventKind::StolenTime { cpu: Some(number_after(text, "of core ")?), stolen_share: share()? })
        }
        _ => None,
    }
}

fn number_before(text: &str, unit: &str) -> Option<f64> {
    text.split(unit).next()?.rsplit(' ').next()?.parse().ok()
}

fn number_after(text: &str, name: &str) -> Option<usize> {
    text.split(name).nth(1)?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_events_about_the_machine_get_their_kind() {
        for (title, text, expected) in [
            (
                "frequency scaling",
                "the CPU's governor is \"powersave\": its frequency follows the load",
                EventKind::CpuGovernor { governor: "powersave".to_owned() },
            ),
            ("busy machine", "core 3 is 25 % busy with other work", EventKind::BusyCore { cpu: 3, busy_share: 0.25 }),
            (
                "stolen time",
                "the hypervisor takes 2.5 % of core 1",
                EventKind::StolenTime { cpu: Some(1), stolen_share: 0.025 },
            ),
            ("busy machine", "in words of some other version", EventKind::Other),
            ("failed", "no right answer in a whole slice", EventKind::Other),
        ] {
            let old =
                EventRecord { title: title.to_owned(), text: text.to_owned(), ..EventRecord::new(EventKind::Other) };
            let read = with_kind(old.clone());
            assert_eq!(read, EventRecord { kind: expected, ..old }, "only the kind is set");
        }
    }
}
