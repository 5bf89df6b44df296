//! Whether the network was the limit: what a load moved, beside what the network carries.

use tare_record::StoredSlice;
use tare_record::environment::NetworkBandwidth;
use tare_units::bit_rate;

/// A network is full at this share of its bandwidth. What counts are the bytes of requests and responses: the headers of
/// packets come on top of them.
const FULL: f64 = 0.8;

/// What the slices moved in the direction that was full, in words; `None` where neither was.
pub(super) fn full<'a>(
    slices: impl Iterator<Item = &'a StoredSlice>,
    network: Option<NetworkBandwidth>,
) -> Option<String> {
    let network = network?;
    let (mut window_ns, mut sent_bytes, mut received_bytes) = (0, 0, 0);
    for load in slices.map(|slice| &slice.load) {
        window_ns += load.window_ns;
        sent_bytes += load.bytes_out;
        received_bytes += load.bytes_in;
    }
    let directions = [
        ("requests", sent_bytes, network.to_servers_bits_per_s),
        ("responses", received_bytes, network.from_servers_bits_per_s),
    ];
    let (what, moved, carried) = directions
        .into_iter()
        .filter_map(|(what, bytes, carried)| Some((what, rate(bytes, window_ns)?, carried.filter(|c| *c > 0)?)))
        .max_by(|(_, a, a_of), (_, b, b_of)| (a / *a_of as f64).total_cmp(&(b / *b_of as f64)))?;
    let is_full = moved >= FULL * carried as f64;
    is_full.then(|| {
        let (moved, carried) = (bit_rate(moved as u64), bit_rate(carried));
        format!("the {what} took {moved} of a network that carries {carried}")
    })
}

fn rate(bytes: u64, window_ns: u64) -> Option<f64> {
    (window_ns > 0).then(|| bytes as f64 * 8.0 / (window_ns as f64 / 1e9))
}
