//! Values of settings as text: read from flags, shown in plans.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tare_sample::ServerClock;
use tare_units::{CpuSet, Percent, Span};

use crate::choices::{Engine, ForkCovers, GroupOrder, PriorUse, SchedulingPolicy};
use crate::plan::{HttpVersion, Rate, Warmup};
use crate::slo::{Curve, LoadBy};
use crate::turn::TurnLength;

/// A value that a flag can give and a plan can show.
pub trait SettingValue: Clone + Sized {
    /// Whether a suite writes it as a list.
    const IS_LIST: bool = false;

    /// Reads the texts of one flag; only lists take more than one.
    fn from_texts(texts: &[String]) -> Result<Self, String>;

    /// The value as a user would write it.
    fn to_text(&self) -> String;
}

fn single_text(texts: &[String]) -> Result<&str, String> {
    match texts {
        [text] => Ok(text),
        _ => Err(format!("takes one value, not {}", texts.len())),
    }
}

/// A value as a suite writes it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "invalid value, expected a text, a number, true or false, or a list of texts")]
enum Written {
    Switch(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<String>),
}

pub(super) fn read_value<'de, D: Deserializer<'de>, T: SettingValue>(deserializer: D) -> Result<Option<T>, D::Error> {
    let text = match Written::deserialize(deserializer)? {
        Written::List(texts) if T::IS_LIST => return T::from_texts(&texts).map(Some).map_err(D::Error::custom),
        _ if T::IS_LIST => return Err(D::Error::custom("invalid value, expected a sequence")),
        Written::List(_) => return Err(D::Error::custom("invalid value: a list, expected one value")),
        Written::Switch(value) => value.to_string(),
        Written::Whole(number) => number.to_string(),
        Written::Number(number) => number.to_string(),
        Written::Text(text) => text,
    };
    T::from_texts(&[text]).map(Some).map_err(D::Error::custom)
}

/// Types whose values are read as they are shown. What is expected is said of those whose own errors do not say it.
macro_rules! read_as_displayed {
    ($($kind:ty $(: $expected:literal)?),* $(,)?) => {$(
        impl SettingValue for $kind {
            fn from_texts(texts: &[String]) -> Result<Self, String> {
                let text = single_text(texts)?;
                let read = text.parse::<$kind>();
                $(let read = read.map_err(|_| format!("\"{text}\" is not {}", $expected));)?
                read.map_err(|error| error.to_string())
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

read_as_displayed! {
    Span,
    HttpVersion,
    Rate,
    Curve,
    Percent,
    CpuSet,
    Warmup,
    ForkCovers,
    ServerClock,
    LoadBy,
    TurnLength,
    SchedulingPolicy,
    GroupOrder,
    PriorUse,
    String,
    u32: "a whole number from 0 to 4294967295",
    u64: "a whole number",
    f64: "a number",
    bool: "true or false",
}

impl SettingValue for Vec<String> {
    const IS_LIST: bool = true;

    fn from_texts(texts: &[String]) -> Result<Self, String> {
        Ok(texts.to_vec())
    }
    fn to_text(&self) -> String {
        self.join(" ")
    }
}

impl SettingValue for Vec<Engine> {
    const IS_LIST: bool = true;

    fn from_texts(texts: &[String]) -> Result<Self, String> {
        texts.iter().map(|text| text.parse()).collect()
    }
    fn to_text(&self) -> String {
        let names: Vec<&str> = self.iter().map(|engine| engine.name()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Options;

    #[test]
    fn a_table_takes_numbers_texts_and_lists() {
        let text = "rate = 4000\nwarmup = 5\nregion = \"2%\"\nbudget = \"4m\"\nspin = false\nservers = [\"a\", \"b\"]";
        let options: Options = toml::from_str(text).unwrap();
        assert_eq!(options.rate, Some(Rate::PerSecond { per_s: 4000.0 }));
        assert_eq!(options.warmup, Some(Warmup::Fixed { span: Span::from_secs(5), users: 0 }));
        assert_eq!((options.region, options.spin), (Some(Percent(0.02)), Some(false)));
        assert_eq!(options.budget, Some(Span::from_secs(240)));
        assert_eq!(options.servers.unwrap(), ["a", "b"]);
        for wrong in
            ["users = \"many\"", "users = 1.5", "users = [1]", "users = [\"1\"]", "spin = 1", "servers = \"a b\""]
        {
            assert!(toml::from_str::<Options>(wrong).is_err(), "{wrong}");
        }
    }
}
