//! Percentages, held as fractions.

use std::fmt;
use std::str::FromStr;

/// A percentage, written `2`, `2.5` or `2 %`; held as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().trim_end_matches('%').trim_end();
        match number.parse::<f64>() {
            Ok(value) if (0.0..=100.0).contains(&value) => Ok(Self(value / 100.0)),
            _ => Err(format!("\"{text}\" is not a percentage from 0 to 100, such as 2 or 2.5%")),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", (self.0 * 1e6).round() / 1e4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_read_with_and_without_its_sign() {
        assert_eq!("2%".parse(), Ok(Percent(0.02)));
        assert_eq!("2".parse(), Ok(Percent(0.02)));
        assert_eq!(Percent(0.025).to_string(), "2.5%");
        for wrong in ["-1", "101", "nan", "much"] {
            assert!(wrong.parse::<Percent>().unwrap_err().contains("is not a percentage"), "{wrong}");
        }
    }
}
