//! Choices with a name each: what a slice is for, in which order groups are measured, how servers are scheduled.

pub use tare_units::SchedulingPolicy;
use tare_units::named_values;

named_values! {
    /// What a slice is for: which load, and so which figure.
    pub enum SliceKind: "a kind of slice" {
        /// Closed loop with all users: throughput.
        Saturating = "saturating",
        /// The same constant rate for all: CPU per request.
        Fixed = "fixed",
        /// Open Poisson at a stated rate: latency.
        Poisson = "poisson",
        /// The server sends on its own clock, and all users listen: push latency.
        Push = "push",
        /// A try of the search for the largest load that keeps a curve of latencies.
        Capacity = "capacity",
    }
}

impl SliceKind {
    /// The load in a sentence: `Poisson load`.
    pub fn load_name(self) -> &'static str {
        match self {
            Self::Saturating => "saturating load",
            Self::Fixed => "load at a constant rate",
            Self::Poisson => "Poisson load",
            Self::Push => "pushes",
            Self::Capacity => "a growing load",
        }
    }
}

named_values! {
    /// Which group gets the next fork.
    #[derive(Default)]
    pub enum GroupOrder: "an order of groups" {
        /// The one with the fewest forks: all groups share the budget evenly.
        #[default]
        Even = "even",
        /// The first of the plan without a verdict. Groups with a verdict wait for those without one.
        Listed = "listed",
    }
}

named_values! {
    #[derive(Default)]
    pub enum ForkCovers: "what a start measures" {
        /// All scenarios of its group, in random order: quicker.
        #[default]
        Group = "group",
        /// One scenario: a new start for each cell.
        Scenario = "scenario",
    }
}

named_values! {
    /// Whether the spread of other comparisons narrows intervals.
    #[derive(Default)]
    pub enum PriorUse: "a use of other comparisons" {
        /// Where there are enough of them.
        #[default]
        Auto = "auto",
        Off = "off",
    }
}

named_values! {
    /// Another load tool, which may drive a cell after tare as a cross-check.
    pub enum Engine: "a load tool that tare can drive a cell with" {
        Wrk = "wrk",
        /// Gatling, in a JVM of its own.
        Gatling = "gatling",
    }
}
