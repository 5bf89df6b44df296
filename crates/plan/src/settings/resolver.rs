//! Chooses the value of each setting, from the rows of the table, and fills the plan with it.

use tare_units::Span;

use super::row::{Row, Section, SettingDefault};
use super::table::Options;
use super::value::SettingValue;
use crate::PlanError;
use crate::inventory::{Inventory, MachineFacts};
use crate::plan::{Mode, Plan, Setting, Slices, Source, Warmup};

/// What a default or a check may depend on.
pub(crate) struct Known<'a> {
    pub flags: &'a Options,
    pub suite: &'a Options,
    pub suite_file: &'a str,
    pub has_own_servers: bool,
    pub longest_stream: Option<Span>,
    pub inventory: &'a Inventory,
    pub machine: &'a MachineFacts,
    pub fallback_seed: u64,
    pub mode: Mode,
    /// The values of the settings that apply: for a default, of the rows above; for a check, of all rows.
    pub so_far: Options,
}

impl Known<'_> {
    /// A sequential run has one long slice for each cell, and not the slices of the table.
    pub fn is_sequential(&self) -> bool {
        self.mode == Mode::Sequential
    }

    pub fn is_compared(&self) -> bool {
        self.mode == Mode::Compared
    }

    pub fn warms_up_until_steady(&self) -> bool {
        matches!(self.so_far.warmup, Some(Warmup::UntilSteady { .. }))
    }

    /// Whether the number of starts is fixed: `--forks` wins over every budget, `--budget` over a suite's `forks`.
    pub fn forks_are_fixed(&self) -> bool {
        self.flags.forks.is_some() || self.flags.budget.is_none() && self.suite.forks.is_some()
    }

    /// Rounds of slices in one fork, without those of pushed messages.
    pub fn slice_rounds(&self) -> u64 {
        let rounds = [self.so_far.saturating, self.so_far.fixed];
        rounds.into_iter().flatten().map(u64::from).sum()
    }

    /// Whether anything is measured where the server does not push.
    pub fn has_load(&self) -> bool {
        self.slice_rounds() > 0 || self.so_far.latency.is_some_and(|latency| !latency.is_zero())
    }
}

pub(crate) struct SettingResolver<'a> {
    pub known: Known<'a>,
    /// With what the settings have filled so far, and the list of them.
    pub plan: Plan,
}

impl<'a> SettingResolver<'a> {
    pub fn new(known: Known<'a>) -> Self {
        let mut plan = Plan { mode: known.mode, suite_file: known.suite_file.to_owned(), ..Plan::default() };
        plan.stop.floor = tare_stats::SD_FLOOR;
        Self { known, plan }
    }

    /// Chooses a value (flag, else suite, else default), lists it and fills the plan with it; none where the setting does
    /// not apply or has no value.
    pub fn resolve_setting<T: SettingValue>(
        &mut self,
        (section, key, help): (Section, &'static str, &'static str),
        row: Row<T>,
        flag: &Option<T>,
        suite: &Option<T>,
    ) -> Option<T> {
        if !(row.applies)(&self.known) {
            return None;
        }
        let (value, source) = match ((row.pinned)(&self.known), flag, suite, row.default_value) {
            (Some(value), ..) => (value, Source::Default),
            (None, Some(value), ..) => (value.clone(), Source::Flag),
            (None, None, Some(value), _) => (value.clone(), Source::Suite),
            (None, None, None, SettingDefault::Always(value)) => (value, Source::Default),
            (None, None, None, SettingDefault::Computed(_, compute)) => (compute(&self.known), Source::Default),
            (None, None, None, SettingDefault::Absent(_)) => return None,
        };
        let meaning = help.trim_end_matches('.');
        self.plan.settings.push(Setting::new(section.name(), key, value.to_text(), source, meaning));
        (row.fill)(&mut self.plan, value.clone());
        Some(value)
    }

    pub fn check<T: SettingValue>(&self, key: &'static str, row: &Row<T>, value: &Option<T>) -> Result<(), PlanError> {
        let Some(value) = value else { return Ok(()) };
        match row.limits.iter().find(|limit| !(limit.holds)(value, &self.known)) {
            Some(limit) => Err(PlanError::value(self.plan.origin_of(key), limit.message)),
            None => Ok(()),
        }
    }
}

/// A stream has one first event, so few users need several rounds until a start can state percentiles of it.
pub(crate) fn push_rounds(known: &Known<'_>) -> u32 {
    const STREAMS: u32 = 200;
    const LONGEST: Span = Span::from_secs(30);
    let Some(stream) = known.longest_stream.filter(|stream| !stream.is_zero()) else { return 1 };
    let users = known.so_far.users.unwrap_or(1).max(1);
    let most = (LONGEST.as_seconds() / stream.as_seconds()) as u32;
    STREAMS.div_ceil(users).min(most).clamp(1, 100)
}

/// The slices of a sequential run: as many of about a second as make the duration, all scored.
pub(crate) fn sequential_slices(duration: Span) -> Slices {
    let rounds = duration.as_seconds().ceil().max(1.0);
    Slices { length: Span(duration.0.div_f64(rounds)), saturating: rounds as u32, push: 1, ..Slices::default() }
}

/// The default of `jvm_cpus`: one for each of the servers' cores, at least two.
pub(crate) fn default_jvm_cpus(known: &Known<'_>) -> u32 {
    known.so_far.server_cpus.as_ref().map_or(0, |cpus| cpus.len() as u32).max(2)
}
