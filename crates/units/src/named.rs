//! One text for each value in flags, files, records and reports: enums whose values have names, and other types.

/// Declares such an enum: with `name`, `ALL`, text forms in both directions, and the names in JSON and TOML. `what`
/// completes the error: `"x" is not an order of groups; write even or listed`. The calling crate needs `serde`.
#[macro_export]
macro_rules! named_values {
    (
        $(#[$of_type:meta])*
        pub enum $Type:ident: $what:literal {
            $( $(#[$of_value:meta])* $Value:ident = $name:literal, )+
        }
    ) => {
        $(#[$of_type])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $Type {
            $( $(#[$of_value])* #[serde(rename = $name)] $Value, )+
        }

        impl $Type {
            /// All values, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Value),+];

            /// The name in flags, files, records and reports.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$Value => $name, )+ }
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $Type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let found = Self::ALL.into_iter().find(|value| value.name() == text);
                found.ok_or_else(|| $crate::unknown_name(text, $what, &[$($name),+]))
            }
        }
    };
}

/// Writes types to JSON and TOML as they are displayed, and reads them by `FromStr`. The calling crate needs `serde`.
#[macro_export]
macro_rules! serde_as_text {
    ($($Type:ty),+ $(,)?) => {$(
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

pub fn unknown_name(text: &str, what: &str, names: &[&str]) -> String {
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    let separator = if others.is_empty() { "" } else { " or " };
    format!("\"{text}\" is not {what}; write {}{separator}{last}", others.join(", "))
}

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
    named_values! {
        /// Where it goes.
        pub enum Direction: "a direction" {
            Left = "left",
            Right = "right",
            Ahead = "straight-ahead",
        }
    }

    #[test]
    fn names_are_read_and_written_alike() {
        for direction in Direction::ALL {
            assert_eq!(direction.name().parse(), Ok(direction));
            assert_eq!(direction.to_string(), direction.name());
        }
        let error = "up".parse::<Direction>().unwrap_err();
        assert_eq!(error, "\"up\" is not a direction; write left, right or straight-ahead");
    }

    #[test]
    fn a_far_name_is_not_suggested() {
        assert_eq!(super::nearest_name("zzzzzz", ["users", "seed"]), None);
    }
}
