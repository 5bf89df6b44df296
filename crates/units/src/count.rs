//! Numbers with a suffix for thousands or millions: `500`, `20k`, `1M`.

/// A number of at least 0, in units (`20k` is 20,000.0). Decimals are allowed: `1.5k`.
pub fn parse_quantity(text: &str) -> Result<f64, String> {
    let (digits, scale) = split_suffix(text);
    let value = digits.parse::<f64>().ok().map(|value| value * scale as f64);
    value.filter(|value| value.is_finite() && *value >= 0.0).ok_or_else(|| wrong(text, "number of at least 0"))
}

/// A whole number, in units (`10k` is 10,000).
pub fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, scale) = split_suffix(text);
    let value = digits.parse::<u64>().ok().and_then(|value| value.checked_mul(scale));
    value.ok_or_else(|| wrong(text, "whole number"))
}

fn wrong(text: &str, kind: &str) -> String {
    format!("\"{text}\" is not a {kind}; write for example 500, 20k or 1M")
}

fn split_suffix(text: &str) -> (&str, u64) {
    let text = text.trim();
    match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_multiply_by_thousands_and_millions() {
        for (text, value) in [("500", 500), ("10k", 10_000), ("2M", 2_000_000), ("0", 0), (" 3K ", 3_000)] {
            assert_eq!((parse_count(text), parse_quantity(text)), (Ok(value), Ok(value as f64)), "{text}");
        }
        assert_eq!(parse_quantity("1.5k"), Ok(1_500.0));
    }

    #[test]
    fn text_that_is_no_number_is_named_with_an_example() {
        for text in ["", "k", "-1", "many", "NaN", "inf", "1e999", "5kk", "µ"] {
            let error = parse_quantity(text).unwrap_err();
            assert!(error.contains(text) && error.contains("20k"), "{error}");
        }
        for text in ["", "M", "1.5", "-1", "99999999999999999999", "99999999999999999M"] {
            let error = parse_count(text).unwrap_err();
            assert!(error.contains(text) && error.contains("whole number"), "{error}");
        }
    }
}
