//! All profiles of one event of one variant in one scenario: read from the record, a fork each.

use tare_plan::profile::ProfileEvent;
use tare_profile::over_forks::ForkUse;
use tare_profile::{Stacks, Usage, collapsed};
use tare_record::RunRecord;
use tare_record::profile::{ProfileRecord, Weight};

pub struct Side<'a> {
    pub event: ProfileEvent,
    pub records: Vec<&'a ProfileRecord>,
    /// Their stacks, in the same order.
    pub stacks: Vec<Stacks>,
    /// What each fork used, in the same order.
    pub forks: Vec<ForkUse>,
    /// How many of these were steady. A fork without a record of that counts as steady.
    pub steady: u32,
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
        let mine = |profile: &&ProfileRecord| {
            (profile.group.as_str(), profile.scenario.as_str(), profile.variant.as_str(), profile.event)
                == (group, scenario, variant, event)
        };
        let mut side = Self { event, records: Vec::new(), stacks: Vec::new(), forks: Vec::new(), steady: 0 };
        for profile in record.profiles.iter().filter(mine) {
            let Some(stacks) = profile.stacks.unpack().ok().and_then(|text| collapsed::parse_collapsed(&text).ok())
            else {
                continue;
            };
            if stacks.is_empty() {
                continue;
            }
            let per_request = per_request(profile, stacks.total_weight());
            side.forks.push(ForkUse { fork: profile.fork, usage: Usage::from_stacks(&stacks), per_request });
            side.stacks.push(stacks);
            let warmups = record.warmups.iter().filter(|w| (w.fork, w.group.as_str()) == (profile.fork, group));
            let mut mine = warmups.filter(|w| w.variant == variant && w.scenario == scenario);
            side.steady += u32::from(mine.all(|warmup| warmup.steady));
            side.records.push(profile);
        }
        (!side.records.is_empty()).then_some(side)
    }

    /// The weight of all stacks: samples, where the sampler counts these.
    pub(super) fn samples(&self) -> u64 {
        self.forks.iter().map(|fork| fork.usage.weight).sum()
    }

    pub fn merged(&self) -> Stacks {
        let mut all = Stacks::new();
        self.stacks.iter().for_each(|stacks| all.extend(stacks));
        all
    }
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
