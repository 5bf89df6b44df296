//! Rates of a network.

/// `95.9 Mbit/s`.
pub fn bit_rate(bits_per_s: u64) -> String {
    let rate = bits_per_s as f64;
    if rate >= 1e9 { format!("{:.1} Gbit/s", rate / 1e9) } else { format!("{:.1} Mbit/s", rate / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_written_in_its_usual_unit() {
        for (bits_per_s, text) in [(9_412_000, "9.4 Mbit/s"), (1_000_000_000, "1.0 Gbit/s"), (0, "0.0 Mbit/s")] {
            assert_eq!(bit_rate(bits_per_s), text);
        }
    }
}
