//! A simulated server that answers requests one after the other, and stands still in its planted stops.

use tare_load::{SliceSample, TracedRequest};

use super::world::PlantedStops;

/// Time that a request takes. It divides no time between two arrivals, so nothing happens at one moment.
const SERVICE_NS: u64 = 47_003;

/// Fills a sample with the requests of its window, which arrive at equal distances. Returns how many of them were under way in a
/// stop, or waited behind one that was: known from the queue itself.
pub(super) fn answer_in_order(sample: &mut SliceSample, rate_per_s: f64, stops: PlantedStops) -> u64 {
    let every_ns = (1e9 / rate_per_s) as u64;
    let (mut free_ns, mut is_behind_stop, mut met) = (0, false, 0);
    let mut intended_ns = sample.start_ns + 1;
    while intended_ns < sample.window_end_ns() {
        is_behind_stop &= intended_ns < free_ns;
        let mut at_ns = intended_ns.max(free_ns);
        let stop = stops.at(at_ns);
        if stop.begin_ns < at_ns + SERVICE_NS {
            at_ns = at_ns.max(stop.end_ns);
            is_behind_stop = true;
        }
        free_ns = at_ns + SERVICE_NS;
        if intended_ns >= sample.window_start_ns() {
            met += u64::from(is_behind_stop);
            sample.offered += 1;
            sample.response.record_ns(free_ns - intended_ns);
            let sent_ns = Some(intended_ns);
            let (is_answered, was_blocked) = (true, false);
            sample.trace.push(TracedRequest { intended_ns, sent_ns, ended_ns: free_ns, is_answered, was_blocked });
        }
        intended_ns += every_ns;
    }
    sample.ok = sample.offered;
    met
}
