//! One row of the table, with its type: default, checks, flag, and the field of the plan that it fills.

use super::flag::{Flag, Switch};
use super::resolver::Known;
use super::value::SettingValue;
use crate::plan::Plan;

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

/// Methods that set one field of a row.
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
