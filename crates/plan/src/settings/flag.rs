//! What the command line and the reference need to know of a setting.

use tare_units::named_values;

use super::Options;

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
