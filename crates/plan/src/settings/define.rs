//! The macro that turns the rows of the table into types and functions.

/// Makes [`super::Options`], [`super::all_settings`] and [`super::resolve_settings`] from rows. A row reads `/// help`
/// `key: Type = row;` and stands below the section that it belongs to.
macro_rules! define_settings {
    ($( section $section:ident { $( $(#[doc = $help:literal])+ $key:ident: $kind:ty = $row:expr; )+ } )+) => {
        /// Every setting of a run as a suite or the flags give it: each may be absent.
        #[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Options {
            $($(
                $(#[doc = $help])+
                #[serde(deserialize_with = "read_value")]
                pub $key: Option<$kind>,
            )+)+
        }

        impl Options {
            /// The settings that are given, as key and value, in the order of the table.
            pub fn given_values(&self) -> Vec<(&'static str, String)> {
                let mut given = Vec::new();
                $($( given.extend(self.$key.as_ref().map(|value| (stringify!($key), value.to_text()))); )+)+
                given
            }
        }

        /// One constructor for each row.
        mod rows {
            use super::*;
            $($( pub(super) fn $key() -> Row<$kind> { $row } )+)+
        }

        /// Every setting, in the order of the table.
        pub fn all_settings() -> Vec<SettingInfo> {
            vec![$($({
                let row = rows::$key();
                SettingInfo {
                    key: stringify!($key),
                    section: Section::$section,
                    help: concat!($($help),+).trim().to_owned(),
                    default: row.default_text(),
                    limits: row.limits.iter().map(|limit| limit.message).collect(),
                    flag: row.flag,
                    parse_into: |options, texts| {
                        options.$key = Some(SettingValue::from_texts(texts)?);
                        Ok(())
                    },
                }
            },)+)+]
        }

        /// Chooses the value of every setting that applies: flag, else suite, else default. Then checks them all. Returns a plan
        /// with all that they fill, and the values.
        pub(crate) fn resolve_settings(known: Known<'_>) -> Result<(Plan, Options), PlanError> {
            let (flags, suite) = (known.flags, known.suite);
            let mut resolver = SettingResolver::new(known);
            $($(
                let place = (Section::$section, stringify!($key), concat!($($help),+).trim());
                resolver.known.so_far.$key = resolver.resolve_setting(place, rows::$key(), &flags.$key, &suite.$key);
            )+)+
            $($( resolver.check(stringify!($key), &rows::$key(), &resolver.known.so_far.$key)?; )+)+
            Ok((resolver.plan, resolver.known.so_far))
        }
    };
}
pub(super) use define_settings;
