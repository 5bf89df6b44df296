//! The plan: everything a run will do, with nothing optional left. `tare run --dry-run` prints it whole.

mod group;
mod like;
mod load;
mod transport;
mod warmup;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use crate::choices::SliceKind;
use crate::choices::{Engine, GroupOrder, PriorUse, SchedulingPolicy};
use crate::contract::{Check, Contract, Scenario};
use crate::currency::Currency;
use crate::earlier::EarlierForks;
use crate::profile::Profile;
use crate::ratio_limit::RatioLimit;
use crate::slo::{LoadBy, Slo};
use crate::turn::TurnLength;
use tare_units::{Span, named_values};

pub use crate::contract::{HttpVersion, TlsKeys, TlsTrust, TransportKeys};
pub use group::{CommandServer, CounterSource, Group, NamedScenario, Program, Role, Variant};
pub use like::{Changes, jvm_words, merged_options};
pub use load::{Load, Rate};
pub use tare_sample::Protocol;
pub use transport::Transport;
pub use warmup::Warmup;

/// What will be measured, how, and when it stops.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the suite, or `command line`.
    pub suite: String,
    /// The suite's file as the user named it, for errors; empty without a suite, and in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suite_file: String,
    pub question: String,
    pub mode: Mode,
    /// Variants that are started together and compared with one baseline, in the order they are run.
    pub groups: Vec<Group>,
    /// Checks of the suite's own servers before they are timed. The contract has those of the catalog's servers.
    pub checks: Vec<Check>,
    /// What was asked for and left out, with the reason: `http4s.Vanilla × SimpleGetMultiRoute`.
    pub skipped: Vec<Skipped>,
    pub load: Load,
    pub warmup: Warmup,
    pub slices: Slices,
    /// Instead of these slices: the search for the largest load that keeps a curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo: Option<Slo>,
    pub stop: Stop,
    pub machine: Machine,
    pub probes: Probes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<Engine>,
    /// Profiling starts after the scored ones, where they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Seed of every random order and arrival.
    pub seed: u64,
    pub settings: Vec<Setting>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Forks of all variants of a group side by side, slices in random alternation: comparisons with intervals.
    #[default]
    Compared,
    /// One cell after another, one start each, as the articles' runner did: no intervals.
    Sequential,
    /// Forks of all variants of a group side by side, each profiled in turn at one rate; nothing is scored.
    Profiled,
}

/// A requested cell that cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Server or server × scenario.
    pub what: String,
    pub because: String,
}

/// The slices of one fork and scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slices {
    /// Length of one slice, its head included.
    pub length: Span,
    /// The head of each slice that is dropped.
    pub discard: Span,
    /// Rounds of saturating slices per fork: each round holds one slice of every variant, in random order. A scenario with slow
    /// responses has [more](Self::saturating_rounds).
    pub saturating: u32,
    /// Rounds at the same constant rate for all.
    pub fixed: u32,
    /// The longest time of open Poisson load on each server per fork, in which latency is measured; zero for none. Older plans
    /// had short slices instead, and none of this.
    #[serde(default)]
    pub latency: Span,
    /// Rounds of pushed messages, in the scenarios in which the server sends: each as long as its messages take.
    pub push: u32,
    pub turn: TurnLength,
}

/// So many responses of a server in a start are enough for its CPU per request. What a JVM's collections cost differs from one
/// to the next: of batches of 128 uploads, the ratio of two servers scattered by 10 %, and by 3 % without the collectors' CPU.
const ENOUGH_RESPONSES: f64 = 750.0;
/// A scenario has at most this many times as many rounds as the plan says.
const MOST_TIMES_ROUNDS: u32 = 4;

impl Slices {
    /// The saturating rounds of a start for servers whose slowest completes `per_s` requests per second with `users` users:
    /// those of the plan, and more where they would hold too few responses.
    pub fn saturating_rounds(&self, users: u32, per_s: f64) -> u32 {
        // Slow responses are counted to the end of a slice's drain: at least one of each user.
        let responses = (per_s * self.length.0.as_secs_f64()).max(f64::from(users.max(1)));
        let enough = (ENOUGH_RESPONSES / responses).ceil() as u32;
        enough.min(self.saturating * MOST_TIMES_ROUNDS).max(self.saturating)
    }
}

/// When a run stops and what is decided.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    pub forks: Forks,
    /// Region of practical equivalence: 0.02 stands for ±2 %.
    pub region: f64,
    /// Error probability of the run.
    pub alpha: f64,
    /// The smallest standard deviation of forks' log-ratios that is used.
    pub floor: f64,
    /// Also stop once the half-width of each interval is this small; 0 for never.
    pub precision: f64,
    /// A difference counts as decided once its interval has this half-width or a quarter of the difference; with 1,
    /// once its direction is certain.
    pub half_width: f64,
    pub order: GroupOrder,
    pub prior: PriorUse,
    #[serde(default, skip_serializing_if = "EarlierForks::is_empty")]
    pub earlier: EarlierForks,
    /// Limits on what the variants may cost (`tare check`). Where there are any, the run stops once each of them is judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<RatioLimit>,
}

impl Stop {
    /// The least relative change of a currency that matters: the region, or in a check the nearest limit on it; `None` where a check
    /// does not ask for it.
    pub fn least_change(&self, currency: Currency) -> Option<f64> {
        if self.limits.is_empty() {
            return Some(self.region);
        }
        let of_currency = self.limits.iter().filter(|limit| limit.currency == currency);
        of_currency.map(|limit| (limit.ratio - 1.0).abs()).reduce(f64::min)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Forks {
    /// A number fixed before the run: Student's t.
    Fixed { count: u32 },
    /// Until decided or out of budget: repeated intervals up to a declared number of forks, the confidence sequence beyond.
    UntilDecided {
        /// For the whole run, shared evenly by the groups that are undecided; builds not counted.
        budget: Span,
        /// No decision with fewer.
        at_least: u32,
        /// The declared number of forks: repeated intervals hold up to it. `None` in older plans, which used the confidence
        /// sequence alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_forks: Option<u32>,
    },
}

impl Forks {
    /// Whether a verdict that ends a run may come with this fork (1-based).
    pub const fn may_decide(self, fork: u32) -> bool {
        matches!(self, Self::UntilDecided { at_least, .. } if fork >= at_least)
    }
}

impl Default for Forks {
    fn default() -> Self {
        Self::Fixed { count: 1 }
    }
}

/// The machine's cores and the JVM.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Cores of the servers, such as `0` or `0,2-3`.
    pub server_cpus: String,
    pub load_cpus: String,
    /// Options of every JVM server, alike; `-XX:ActiveProcessorCount` is added from `jvm_cpus`.
    pub jvm_options: Vec<String>,
    /// `-XX:ActiveProcessorCount` of every JVM server: the sizes of its pools follow from it.
    pub jvm_cpus: u32,
    /// JDK home; `newest` for the newest that is found.
    pub java: String,
    /// A server that is not ready by then has failed.
    pub startup_timeout: Span,
    /// After SIGTERM, how long until SIGKILL.
    pub stop_grace: Span,
    pub scheduling: SchedulingPolicy,
    /// The machine of the servers, such as `ssh://bench1`; `None` for that of the generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_host: Option<String>,
    /// The address on which they listen there; `None` for the one at which that machine is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_address: Option<String>,
    /// Where agents make the load, such as `ssh://bench2`; empty where the run's own process does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
}

/// Probes that cost something, and therefore run only where they are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probes {
    /// Meters of hiccups, on the servers' cores and inside each JVM.
    pub hiccups: bool,
}

/// One setting, for people: `tare run --dry-run` and the report list them all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Table it belongs to: `load`, `stop`, …
    pub section: String,
    /// Key in a suite file, and flag without its dashes.
    pub key: String,
    pub value: String,
    pub source: Source,
    pub meaning: String,
}

named_values! {
    pub enum Source: "where a value came from" {
        /// tare's own.
        Default = "default",
        Suite = "suite",
        Flag = "flag",
    }
}

impl Setting {
    pub fn new(section: &str, key: &str, value: String, source: Source, meaning: &str) -> Self {
        let [section, key, meaning] = [section, key, meaning].map(str::to_owned);
        Self { section, key, value, source, meaning }
    }
}

/// Without these options a JVM reports inlined code as the nearest safepoint.
const TRUE_FRAMES: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"];

/// SHA-256 of a value's JSON, in hex.
pub(crate) fn hash_of(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(json))
}

impl Plan {
    /// The plan of the profiling starts that this plan asks for; `None` where it asks for none, or is such a plan. The
    /// same servers, scenarios, load and warm-up, at one rate for all of a group; no A/A control, no search, no other
    /// load tool, nothing scored.
    #[must_use]
    pub fn profiling(&self) -> Option<Self> {
        let profile = self.profile.as_ref().filter(|_| self.mode != Mode::Profiled)?;
        let mut plan = self.clone();
        plan.mode = Mode::Profiled;
        plan.slo = None;
        plan.stop.forks = Forks::Fixed { count: profile.forks };
        plan.slices = Slices { length: profile.span, fixed: profile.events.len() as u32, ..Slices::default() };
        plan.machine.jvm_options.extend(TRUE_FRAMES.map(str::to_owned));
        plan.engines.clear();
        for group in &mut plan.groups {
            group.variants.retain(|variant| variant.role != Role::Control);
        }
        Some(plan)
    }

    /// All variants, and the servers behind those that are proxies.
    pub fn started(&self) -> impl Iterator<Item = &Variant> {
        self.groups.iter().flat_map(|group| &group.variants).flat_map(Variant::chain)
    }

    /// Whether servers run that tare does not start: every fork then measures the same start of them.
    pub fn never_restarts(&self) -> bool {
        self.started().any(|variant| matches!(variant.program, Program::External { .. }))
    }

    /// What a variant must answer: the scenarios of its groups, and the checks of the suite; of a server of the catalog, also
    /// behind a proxy, instead of these checks all that the catalog's contract has.
    pub fn contract(&self, variant: &Variant, of_catalog: &Contract) -> Contract {
        let mut contract = if variant.last_server().program.is_of_catalog() {
            of_catalog.clone()
        } else {
            Contract { schema: 1, checks: self.checks.clone(), ..Contract::default() }
        };
        let has_variant = |group: &&Group| group.variants.iter().any(|one| one.name == variant.name);
        let named = self.groups.iter().filter(has_variant).flat_map(|group| &group.scenarios);
        contract.scenarios.extend(named.map(|named| (named.name.clone(), named.scenario.clone())));
        contract
    }

    /// SHA-256 of what the catalog's contract says beside the scenarios, which are in the plan, in hex; `None` where no server
    /// of the plan is held to it.
    pub fn hash_of_contract(&self, of_catalog: &Contract) -> Option<String> {
        let is_of_catalog = |variant: &Variant| variant.program.is_of_catalog();
        let Contract { checks, differences, lacks, .. } = of_catalog;
        self.started().any(is_of_catalog).then(|| hash_of(&(checks, differences, lacks)))
    }

    /// Where the value of a setting was written: the flag, or the suite's file and key, as in `my.toml: [run] users`. A
    /// default is changed by the flag.
    pub fn origin_of(&self, key: &str) -> String {
        let source = self.settings.iter().find(|setting| setting.key == key).map(|setting| setting.source);
        match (source, self.suite_file.as_str()) {
            (Some(Source::Suite), "") => format!("[run] {key}"),
            (Some(Source::Suite), file) => format!("{file}: [run] {key}"),
            _ => format!("--{}", key.replace('_', "-")),
        }
    }

    /// Judges these limits, and stops once each of them is judged. `source` is where they were written.
    pub fn set_limits(&mut self, limits: Vec<RatioLimit>, source: Source) {
        let texts: Vec<&str> = limits.iter().map(|limit| limit.text.as_str()).collect();
        let meaning = "limits on the ratio to the baseline; the run stops once each is judged";
        self.add_setting_of_stop(Setting::new("stop", "fail_if", texts.join(", "), source, meaning));
        self.stop.limits = limits;
    }

    /// Lists a setting after the others of its section.
    pub(crate) fn add_setting_of_stop(&mut self, setting: Setting) {
        let after = self.settings.iter().rposition(|other| other.section == "stop");
        self.settings.insert(after.map_or(self.settings.len(), |at| at + 1), setting);
    }

    /// SHA-256 of everything that determines the measurement, in hex: two runs of one hash asked the same.
    pub fn hash(&self) -> String {
        let mut copy = self.clone();
        copy.settings.clear();
        copy.suite.clear();
        copy.suite_file.clear();
        copy.question.clear();
        hash_of(&copy)
    }

    /// The most connections that any slice of this scenario uses.
    pub fn connections(&self, scenario: &Scenario) -> u32 {
        let searched =
            self.slo.as_ref().filter(|slo| slo.grows_by(scenario) == LoadBy::Users).map(|slo| slo.most_users);
        searched.unwrap_or(self.load.users)
    }

    /// Number of cells: variant × scenario.
    pub fn cells(&self) -> usize {
        self.groups.iter().map(|g| g.variants.len() * g.scenarios.len()).sum()
    }

    pub fn variant(&self, group: &str, name: &str) -> Option<&Variant> {
        self.groups.iter().find(|g| g.id == group)?.variants.iter().find(|v| v.name == name)
    }

    pub fn scenario(&self, group: &str, name: &str) -> Option<&NamedScenario> {
        self.groups.iter().find(|g| g.id == group)?.scenarios.iter().find(|s| s.name == name)
    }
}
