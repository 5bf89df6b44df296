//! Whether the network was the limit: what a load moved, beside what the network carries.

use tare_record::StoredSlice;
use tare_record::environment::NetworkBandwidth;
use tare_units::bit_rate;

/// A network is full at this share of its bandwidth.
const FULL: f64 = 0.8;
/// Bytes of a full packet on Ethernet, and those of its Ethernet, IP and TCP headers. Acknowledgements are not counted.
const PACKET_BYTES: u64 = 1_514;
const HEADER_BYTES: u64 = 66;
const PAYLOAD_BYTES: u64 = PACKET_BYTES - HEADER_BYTES;

/// What the slices moved in the direction that was full, in words; `None` where neither was.
pub(crate) fn full<'a>(
    slices: impl Iterator<Item = &'a StoredSlice>,
    network: Option<NetworkBandwidth>,
) -> Option<String> {
    let network = network?;
    let slices: Vec<&StoredSlice> = slices.collect();
    let sum = |of: fn(&StoredSlice) -> u64| slices.iter().map(|slice| of(slice)).sum::<u64>();
    let (window_ns, completed) = (sum(|slice| slice.load.window_ns), sum(|slice| slice.load.completed));
    if window_ns == 0 {
        return None;
    }
    let bits_per_s = |bytes: u64| on_the_wire(bytes, completed) * 8.0 / (window_ns as f64 / 1e9);
    let directions = [
        ("requests", bits_per_s(sum(|slice| slice.load.bytes_out)), network.to_servers_bits_per_s),
        ("responses", bits_per_s(sum(|slice| slice.load.bytes_in)), network.from_servers_bits_per_s),
    ];
    let known = directions.into_iter().filter_map(|(what, used, measured)| {
        // It was measured by what full packets carried.
        let carried = measured.filter(|rate| *rate > 0)? as f64 * PACKET_BYTES as f64 / PAYLOAD_BYTES as f64;
        Some((what, used, carried))
    });
    let (what, used, carried) = known.max_by(|(_, a, a_of), (_, b, b_of)| (a / a_of).total_cmp(&(b / b_of)))?;
    let is_full = used >= FULL * carried;
    is_full.then(|| {
        let (used, carried) = (bit_rate(used as u64), bit_rate(carried as u64));
        format!("the {what} took {used} with headers, of a network that carries {carried}")
    })
}

/// These bytes with the headers of their packets: each message begins one.
fn on_the_wire(bytes: u64, messages: u64) -> f64 {
    let packets = messages.max(bytes.div_ceil(PAYLOAD_BYTES));
    bytes as f64 + packets as f64 * HEADER_BYTES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_packet_of_its_own_and_a_long_one_several() {
        assert!((on_the_wire(130, 1) - 196.0).abs() < 1e-9);
        assert!((on_the_wire(1_300, 10) - 1_960.0).abs() < 1e-9);
        assert!((on_the_wire(14_480, 1) - 15_140.0).abs() < 1e-9);
    }
}
