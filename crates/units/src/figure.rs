//! Figures that people read: three significant digits, and one unit for a whole column.

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    PerSecond,
    Nanos,
    Bytes,
    /// Parts of a whole, from 0 to 1.
    Share,
}

impl Unit {
    /// The unit with this name in files: `ns`, `bytes`, `share`, or else `per_s`.
    pub fn with_name(name: &str) -> Self {
        match name {
            "ns" => Self::Nanos,
            "bytes" => Self::Bytes,
            "share" => Self::Share,
            _ => Self::PerSecond,
        }
    }
}

/// A unit with its prefix, chosen once for a whole column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    divisor: f64,
    suffix: &'static str,
}

impl Scale {
    /// The prefix under which the largest of `values` is below 1,000.
    pub fn for_values(unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let steps: &[(f64, &'static str)] = match unit {
            Unit::PerSecond => &[(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s")],
            Unit::Nanos => &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")],
            Unit::Bytes => &[(1.0, "B"), (1e3, "KB"), (1e6, "MB"), (1e9, "GB")],
            Unit::Share => &[(0.01, "%")],
        };
        let largest = values.into_iter().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let (divisor, suffix) = *steps.iter().rev().find(|(divisor, _)| largest >= *divisor).unwrap_or(&steps[0]);
        Self { divisor, suffix }
    }

    /// `18.8 k/s`: always three significant digits. The interval beside a figure says how certain it is.
    pub fn show(&self, value: f64) -> String {
        format!("{} {}", significant(value / self.divisor), self.suffix)
    }

    pub const fn unit(&self) -> &'static str {
        self.suffix
    }

    /// `0.15`: a round value without the unit, and without digits that say nothing.
    pub fn without_unit(&self, value: f64) -> String {
        let text = format!("{:.3}", value / self.divisor);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

pub fn single(unit: Unit, value: f64) -> String {
    Scale::for_values(unit, [value]).show(value)
}

/// `3.00012 s`: a time in nanoseconds, rounded to the first digit of its error.
pub fn to_within(ns: u64, within_ns: u64) -> String {
    let scale = Scale::for_values(Unit::Nanos, [ns.max(within_ns) as f64]);
    let decimals = (scale.divisor / within_ns.max(1) as f64).log10().ceil().max(0.0) as usize;
    format!("{:.decimals$} {}", ns as f64 / scale.divisor, scale.suffix)
}

/// Three significant digits, but at most three decimals.
fn significant(value: f64) -> String {
    let magnitude = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let decimals = (2.0 - magnitude).clamp(0.0, 3.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_unit() {
        let scale = Scale::for_values(Unit::PerSecond, [18_812.0, 950.0]);
        assert_eq!((scale.show(18_812.0), scale.show(950.0)), ("18.8 k/s".into(), "0.950 k/s".into()));
        assert_eq!(single(Unit::Nanos, 52_900.0), "52.9 µs");
        assert_eq!(single(Unit::Nanos, 0.0), "0.00 ns");
        assert_eq!((single(Unit::Share, 0.0058), single(Unit::Share, 0.0)), ("0.580 %".into(), "0.00 %".into()));
        assert_eq!((single(Unit::Nanos, 3.1e6), single(Unit::Nanos, 3.1234e6)), ("3.10 ms".into(), "3.12 ms".into()));
    }
}
