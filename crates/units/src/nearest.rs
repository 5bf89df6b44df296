//! The name that was meant.

/// The known name closest to `typed`, if one is close enough to be what was meant.
pub fn nearest_name<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = typed.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().max(typed.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest_name;

    #[test]
    fn a_far_name_is_not_suggested() {
        assert_eq!(nearest_name("zzzzzz", ["users", "seed"]), None);
    }
}
