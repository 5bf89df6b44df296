//! Values of settings as text: read from flags, shown in plans.

use std::str::FromStr;
use tare_sample::ServerClock;

use tare_units::Span;

use crate::earlier::PriorUse;
use crate::engine::Engine;
use crate::group_order::GroupOrder;
use crate::options::{ForkCovers, Percent, RateOption, WarmupOption};
use crate::server_scheduling::ServerScheduling;
use crate::slo::{Curve, LoadBy};
use crate::turn::TurnLength;

/// A value that a flag can give and a plan can show.
pub trait SettingValue: Clone + Sized {
    /// Reads the texts of one flag; only lists take more than one.
    ///
    /// # Errors
    /// In words, when the text is not a value of this type.
    fn from_texts(texts: &[String]) -> Result<Self, String>;

    /// The value as a user would write it.
    fn to_text(&self) -> String;
}

/// The only text of a flag that takes one value.
fn single_text(texts: &[String]) -> Result<&str, String> {
    match texts {
        [text] => Ok(text),
        _ => Err(format!("takes one value, not {}", texts.len())),
    }
}

fn parse_number<T: FromStr>(texts: &[String], expected: &str) -> Result<T, String> {
    let text = single_text(texts)?;
    text.parse().map_err(|_| format!("\"{text}\" is not {expected}"))
}

macro_rules! read_by_from_str {
    ($($kind:ty: $value:ident => $shown:expr),* $(,)?) => {$(
        impl SettingValue for $kind {
            fn from_texts(texts: &[String]) -> Result<Self, String> {
                single_text(texts)?.parse::<$kind>().map_err(|error| error.to_string())
            }
            fn to_text(&self) -> String {
                let $value = self;
                $shown
            }
        }
    )*};
}

read_by_from_str! {
    Span: span => span.to_string(),
    RateOption: rate => rate.to_string(),
    Curve: curve => curve.to_string(),
    Percent: percent => format!("{}%", (percent.0 * 1e6).round() / 1e4),
    WarmupOption: warmup => match warmup {
        WarmupOption::Steady => "steady".to_owned(),
        WarmupOption::Fixed(span) => span.to_string(),
    },
    ForkCovers: covers => covers.name().to_owned(),
    ServerClock: clock => clock.name().to_owned(),
    LoadBy: by => by.name().to_owned(),
    TurnLength: turn => turn.to_string(),
    ServerScheduling: policy => policy.name().to_owned(),
    GroupOrder: order => order.name().to_owned(),
    PriorUse: prior => prior.name().to_owned(),
}

macro_rules! read_as_number {
    ($($kind:ty: $expected:literal),* $(,)?) => {$(
        impl SettingValue for $kind {
            fn from_texts(texts: &[String]) -> Result<Self, String> {
                parse_number(texts, $expected)
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

read_as_number! {
    u32: "a whole number from 0 to 4294967295",
    u64: "a whole number",
    f64: "a number",
    bool: "true or false",
}

impl SettingValue for String {
    fn from_texts(texts: &[String]) -> Result<Self, String> {
        single_text(texts).map(str::to_owned)
    }
    fn to_text(&self) -> String {
        self.clone()
    }
}

impl SettingValue for Vec<String> {
    fn from_texts(texts: &[String]) -> Result<Self, String> {
        Ok(texts.to_vec())
    }
    fn to_text(&self) -> String {
        self.join(" ")
    }
}

impl SettingValue for Vec<Engine> {
    fn from_texts(texts: &[String]) -> Result<Self, String> {
        texts.iter().map(|text| text.parse()).collect()
    }
    fn to_text(&self) -> String {
        let names: Vec<&str> = self.iter().map(|engine| engine.name()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(" ") }
    }
}
