//! All profiles of one event of one variant in one scenario: read from the record, a fork each.

use std::collections::BTreeMap;

use tare_plan::profile::ProfileEvent;
use tare_profile::over_forks::ForkUse;
use tare_profile::{ProfileError, Stacks, Usage, collapsed};
use tare_record::RunRecord;
use tare_record::profile::{ProfileRecord, Weight};

use crate::format::and;

pub struct Side<'a> {
    pub event: ProfileEvent,
    pub records: Vec<&'a ProfileRecord>,
    pub stacks: Vec<Stacks>,
    pub forks: Vec<ForkUse>,
    /// How many of these were steady. A fork without a record of that counts as steady.
    pub steady: u32,
    /// The starts whose profiles count nowhere, by the reason.
    left_out: BTreeMap<String, Vec<String>>,
}

impl<'a> Side<'a> {
    /// The profiles that the record holds; `None` where there are none that can be read.
    pub fn of_variant(
        record: &'a RunRecord,
        group: &str,
        scenario: &str,
        variant: &str,
        event: ProfileEvent,
    ) -> Option<Self> {
        Some(Self::read(record, group, scenario, variant, event)).filter(|side| !side.records.is_empty())
    }

    /// As [`of_variant`](Self::of_variant), also where none can be read.
    pub(super) fn read(record: &'a RunRecord, group: &str, scenario: &str, variant: &str, event: ProfileEvent) -> Self {
        let mine = |profile: &&ProfileRecord| {
            (profile.group.as_str(), profile.scenario.as_str(), profile.variant.as_str(), profile.event)
                == (group, scenario, variant, event)
        };
        let (records, stacks, forks, left_out) = (Vec::new(), Vec::new(), Vec::new(), BTreeMap::new());
        let mut side = Self { event, records, stacks, forks, steady: 0, left_out };
        for profile in record.profiles.iter().filter(mine) {
            let stacks = match stacks_of(profile) {
                Ok(stacks) => stacks,
                Err(why) => {
                    side.left_out.entry(why).or_default().push(profile.fork.to_string());
                    continue;
                }
            };
            let per_request = per_request(profile, stacks.total_weight());
            side.forks.push(ForkUse { fork: profile.fork, usage: Usage::from_stacks(&stacks), per_request });
            side.stacks.push(stacks);
            let warmups = record.warmups.iter().filter(|w| (w.fork, w.group.as_str()) == (profile.fork, group));
            let mut mine = warmups.filter(|w| w.variant == variant && w.scenario == scenario);
            side.steady += u32::from(mine.all(|warmup| warmup.steady));
            side.records.push(profile);
        }
        side
    }

    /// `starts 2 and 3 (it holds no samples)`: the profiles that count nowhere; `None` where all count.
    pub(super) fn left_out(&self) -> Option<String> {
        let of = |(why, starts): (&String, &Vec<String>)| {
            format!("{} {} ({why})", if starts.len() == 1 { "start" } else { "starts" }, and(starts))
        };
        (!self.left_out.is_empty()).then(|| and(&self.left_out.iter().map(of).collect::<Vec<_>>()))
    }

    /// The weight of all stacks: samples, where the sampler counts these.
    pub(super) fn samples(&self) -> u64 {
        self.forks.iter().map(|fork| fork.usage.weight).sum()
    }

    pub fn merged(&self) -> Stacks {
        let mut all = Stacks::default();
        self.stacks.iter().for_each(|stacks| all.extend(stacks));
        all
    }
}

/// The stacks of a profile, or why it counts nowhere.
fn stacks_of(profile: &ProfileRecord) -> Result<Stacks, String> {
    let text = profile.stacks.unpack().map_err(|error| error.to_string())?;
    let stacks = collapsed::parse_collapsed(&text).map_err(|error| error.to_string())?;
    if stacks.is_empty() { Err(ProfileError::Empty.to_string()) } else { Ok(stacks) }
}

/// What the whole of a profile is per request: of CPU what the kernel counted, of all else what the sampler did.
fn per_request(profile: &ProfileRecord, total: u64) -> Option<f64> {
    let requests = (profile.requests > 0).then_some(profile.requests as f64)?;
    match (profile.event, profile.weight) {
        (ProfileEvent::Cpu, _) => profile.cpu_ns.map(|ns| ns as f64 / requests),
        (_, Weight::Samples { every_ns }) => Some(total as f64 * every_ns as f64 / requests),
        (_, Weight::Ns | Weight::Bytes) => Some(total as f64 / requests),
    }
}
