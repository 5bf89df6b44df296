//! Numbers in sentences: shares, counts, rates and lists, with a true minus sign.

/// `0.011` as `1.1 %`, and `0.9996` as `99.9 %`: only a whole is 100 %.
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    if 0.0 < percent && percent < 0.0005 {
        return "< 0.001 %".to_owned();
    }
    let is_round = (percent - percent.round()).abs() < 1e-9;
    let percent = if (99.95..100.0).contains(&percent) && !is_round { 99.9 } else { percent };
    let decimals = if (99.5..99.95).contains(&percent) {
        1
    } else if percent == 0.0 || percent >= 9.95 || is_round {
        0
    } else if percent >= 0.1 {
        1
    } else {
        3
    };
    format!("{} %", fixed(percent, decimals))
}

/// `12,900`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group));
    groups.collect::<Vec<_>>().join(",")
}

/// `4,000/s`; a rate below ten keeps a decimal.
pub fn rate(per_s: f64) -> String {
    if per_s < 10.0 { format!("{per_s:.1}/s") } else { format!("{}/s", grouped(per_s.round() as u64)) }
}

/// Names with commas, at most eight of them: `a, b, c`, `a, …, h and 12 more`.
pub fn enumerate(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    let more = names.len().saturating_sub(SHOWN);
    if more == 0 { shown } else { format!("{shown} and {} more", grouped(more as u64)) }
}

/// `n forks`, `1 fork`.
pub fn count(n: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// Names with commas, and `and` before the last: `a, b and c`.
pub fn and(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.join(""),
    }
}

/// Never `-0.0`, and the minus sign of print.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "−") }
}

/// `95.9 Mbit/s`.
pub fn bit_rate(bits_per_s: u64) -> String {
    let rate = bits_per_s as f64;
    if rate >= 1e9 { format!("{:.1} Gbit/s", rate / 1e9) } else { format!("{:.1} Mbit/s", rate / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_shares_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.02, 0.011, 0.451, 0.0003, 0.998].map(share), ["2 %", "1.1 %", "45 %", "0.030 %", "99.8 %"]);
        assert_eq!([1.0 / 300_100.0, 0.00001].map(share), ["< 0.001 %", "0.001 %"]);
        assert_eq!([0.9995, 0.9996, 0.99999, 9_999.0 / 10_000.0].map(share), ["99.9 %"; 4]);
        assert_eq!([0.994, 1.0, 1.0 - 1e-14, 1.0006].map(share), ["99 %", "100 %", "100 %", "100 %"]);
        assert_eq!([count(1, "fork"), count(3, "fork"), rate(4_000.4)], ["1 fork", "3 forks", "4,000/s"]);
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!([and(&names), and(&names[..1]), and(&[])], ["a, b and c", "a", ""]);
    }

    #[test]
    fn a_rate_is_written_in_its_usual_unit() {
        for (bits_per_s, text) in [(9_412_000, "9.4 Mbit/s"), (1_000_000_000, "1.0 Gbit/s"), (0, "0.0 Mbit/s")] {
            assert_eq!(bit_rate(bits_per_s), text);
        }
    }
}
