//! Times that were measured.

/// `23.4 µs`: a time in nanoseconds with three digits, in the unit that suits it.
pub fn measured_time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let decimals = match value {
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_and_a_unit() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (23_380, "23.4 µs"),
            (255_400, "255 µs"),
            (1_500_000, "1.50 ms"),
            (20_000_000_000, "20.0 s"),
        ] {
            assert_eq!(measured_time(ns), text);
        }
    }
}
