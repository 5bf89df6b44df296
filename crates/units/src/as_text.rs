//! Types that files hold as the text that people write.

/// Writes these types to JSON and TOML as they are displayed, and reads them by `FromStr`. The calling crate needs `serde`.
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
