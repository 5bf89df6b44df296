//! One row of the table: default, checks, flag, and the field of the plan that it fills; and what the command line and the
//! reference need to know of it.

use tare_units::named_values;

use super::Options;
use super::resolver::Known;
use super::value::SettingValue;
use crate::plan::Plan;

named_values! {
    /// The part of a run that a setting belongs to: a heading of the help, a section of the plan's list.
    pub enum Section: "a section of the settings" {
        What = "what",
        Load = "load",
        /// When a run ends and what it decides.
        Stop = "stop",
        WarmUp = "warm-up",
        Slices = "slices",
        /// The search for the largest load.
        Capacity = "capacity",
        /// Cores, JVM and server processes.
        Machine = "machine",
        Probes = "probes",
    }
}

impl Section {
    pub const fn heading(self) -> &'static str {
        match self {
            Self::What => "What to measure",
            Self::Load => "Load",
            Self::Stop => "When to stop, and how to compare",
            Self::WarmUp => "Warm-up",
            Self::Slices => "Slices of a fork",
            Self::Capacity => "Search for the largest load",
            Self::Machine => "Machine and JVM",
            Self::Probes => "Additional meters",
        }
    }
}

/// A flag that takes no value: giving it sets the setting to `value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// The long flag without its dashes, such as `no-spin`.
    pub long: &'static str,
    pub value: bool,
    /// What the flag does, for the help of the command line.
    pub help: &'static str,
}

/// How a setting is written on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flag {
    /// One letter, such as `u`.
    pub short: Option<char>,
    /// Placeholder of the value in the help, such as `SPAN`.
    pub value_name: &'static str,
    /// Set where the flag takes no value.
    pub switch: Option<Switch>,
    /// Separates several values of one flag.
    pub delimiter: Option<char>,
    pub allow_hyphens: bool,
    /// Keys of settings that may not be given together with this flag.
    pub conflicts: &'static [&'static str],
    /// Whether they may not stand beside it in a suite's `[run]` table either.
    pub conflicts_in_suite: bool,
    /// Keys of settings without which this flag means nothing.
    pub requires: &'static [&'static str],
    pub in_profile: bool,
}

/// One row of the table, without its types.
#[derive(Debug, Clone)]
pub struct SettingInfo {
    /// Key in a suite's `[run]` table.
    pub key: &'static str,
    pub section: Section,
    pub help: String,
    /// The default as text; none where the setting has no effect until it is given.
    pub default: Option<String>,
    /// What a value must be, in the words of the error.
    pub limits: Vec<&'static str>,
    pub flag: Flag,
    pub(super) parse_into: fn(&mut Options, &[String]) -> Result<(), String>,
}

impl SettingInfo {
    /// The long flag without its dashes: `warmup-cap`, `no-spin`.
    pub fn long(&self) -> String {
        self.flag.switch.map_or_else(|| self.key.replace('_', "-"), |switch| switch.long.to_owned())
    }

    /// Reads the texts given on the command line into `options`; for a switch, the texts are `true` or `false`.
    pub fn parse_into(&self, options: &mut Options, texts: &[String]) -> Result<(), String> {
        (self.parse_into)(options, texts)
    }

    pub fn check_text(&self, text: &str) -> Result<(), String> {
        self.parse_into(&mut Options::default(), &[text.to_owned()])
    }
}

/// The value of a setting that neither a flag nor the suite gives.
pub(crate) enum SettingDefault<T> {
    /// None: the setting has no effect until it is given. The text says what happens then, where that needs saying.
    Absent(Option<&'static str>),
    /// The same in every plan.
    Always(T),
    /// Depends on the mode, the machine or other settings: in words for the help, and as a function.
    Computed(&'static str, fn(&Known<'_>) -> T),
}

/// A condition that a value must meet, and what the error says otherwise.
pub(crate) struct Limit<T> {
    pub message: &'static str,
    pub holds: fn(&T, &Known<'_>) -> bool,
}

pub(crate) struct Row<T> {
    pub flag: Flag,
    pub default_value: SettingDefault<T>,
    pub limits: Vec<Limit<T>>,
    pub applies: fn(&Known<'_>) -> bool,
    pub pinned: fn(&Known<'_>) -> Option<T>,
    pub fill: fn(&mut Plan, T),
}

/// A setting whose flag takes a value, called `value_name` in the help.
pub(crate) fn value<T: SettingValue>(value_name: &'static str) -> Row<T> {
    Row {
        flag: Flag { value_name, ..Flag::default() },
        default_value: SettingDefault::Absent(None),
        limits: Vec::new(),
        applies: |_| true,
        pinned: |_| None,
        fill: |_, _| {},
    }
}

/// A setting that is on by default; the flag `long` switches it off, as `help` says.
pub(crate) fn on_unless(long: &'static str, help: &'static str) -> Row<bool> {
    switch(Switch { long, value: false, help })
}

/// A setting that is off by default; the flag `long` switches it on, as `help` says.
pub(crate) fn off_unless(long: &'static str, help: &'static str) -> Row<bool> {
    switch(Switch { long, value: true, help })
}

fn switch(switch: Switch) -> Row<bool> {
    let mut row = value("").default(!switch.value);
    row.flag.switch = Some(switch);
    row
}

macro_rules! setters {
    ($( $(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*): $($field:ident).+ = $set:expr; )*) => {$(
        $(#[$doc])*
        pub fn $name(mut self $(, $argument: $kind)*) -> Self {
            self.$($field).+ = $set;
            self
        }
    )*};
}

impl<T: SettingValue> Row<T> {
    setters! {
        short(letter: char): flag.short = Some(letter);
        separated_by(delimiter: char): flag.delimiter = Some(delimiter);
        /// A value may begin with `-`.
        allow_hyphens(): flag.allow_hyphens = true;
        /// The flag may not be given together with those of these keys. In a suite the setting may: another flag, such as
        /// `--budget`, gives it a meaning.
        conflicts_as_flag(keys: &'static [&'static str]): flag.conflicts = keys;
        /// The flag may only be given together with those of these keys.
        requires(keys: &'static [&'static str]): flag.requires = keys;
        /// `tare profile` has the flag too.
        in_profile(): flag.in_profile = true;
        default(value: T): default_value = SettingDefault::Always(value);
        /// A default that depends on what is known; `text` says it in the help.
        default_from(text: &'static str, compute: fn(&Known<'_>) -> T): default_value = SettingDefault::Computed(text, compute);
        /// Without the setting, something else decides: `text` says what.
        otherwise(text: &'static str): default_value = SettingDefault::Absent(Some(text));
        /// The setting is listed and used only where `applies` is true.
        when(applies: fn(&Known<'_>) -> bool): applies = applies;
        /// If `pinned` returns a value, the setting has it, regardless of flag and suite.
        pinned(pinned: fn(&Known<'_>) -> Option<T>): pinned = pinned;
        /// The field of the plan that gets the value.
        fills(fill: fn(&mut Plan, T)): fill = fill;
    }

    /// The setting may not be given together with those of these keys, by flags or in a suite.
    pub fn conflicts(mut self, keys: &'static [&'static str]) -> Self {
        self.flag.conflicts_in_suite = true;
        self.conflicts_as_flag(keys)
    }

    pub fn check(mut self, message: &'static str, holds: fn(&T, &Known<'_>) -> bool) -> Self {
        self.limits.push(Limit { message, holds });
        self
    }

    /// The setting is resolved with the servers and scenarios, and not here.
    pub fn resolved_with_groups(self) -> Self {
        self.when(|_| false)
    }

    pub fn default_text(&self) -> Option<String> {
        match &self.default_value {
            SettingDefault::Absent(text) => text.map(str::to_owned),
            SettingDefault::Always(value) => Some(value.to_text()),
            SettingDefault::Computed(text, _) => Some((*text).to_owned()),
        }
    }
}
