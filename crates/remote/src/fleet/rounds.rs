//! Merges the samples of all agents, period by period. An agent has a sample for each period, even if it was stopped in it.

use std::collections::VecDeque;

use tare_sample::{PackedHistogram, SliceSample};

/// Samples that wait for those of other agents.
#[derive(Debug)]
pub struct Rounds {
    agents: Vec<AgentSamples>,
}

#[derive(Debug, Default)]
struct AgentSamples {
    samples: VecDeque<SliceSample<PackedHistogram>>,
    has_ended: bool,
}

impl Rounds {
    pub fn new(agents: usize) -> Self {
        Self { agents: std::iter::repeat_with(AgentSamples::default).take(agents).collect() }
    }

    pub fn push(&mut self, agent: usize, sample: SliceSample<PackedHistogram>) {
        self.agents[agent].samples.push_back(sample);
    }

    /// Notes that this agent sends no more samples. Those it has sent still count.
    pub fn end(&mut self, agent: usize) {
        self.agents[agent].has_ended = true;
    }

    /// The merged sample of the next period; `None` while the sample of an agent is missing.
    pub fn next_round(&mut self) -> Option<SliceSample> {
        if self.agents.iter().any(|agent| agent.samples.is_empty() && !agent.has_ended) {
            return None;
        }
        let samples = self.agents.iter_mut().filter_map(|agent| agent.samples.pop_front());
        let mut samples = samples.map(|sample| sample.map_histograms(|histogram| histogram.unpack()));
        let mut sum = samples.next()?;
        samples.for_each(|sample| sum.merge(&sample));
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tare_stats::LatencyHistogram;

    use super::*;

    fn sample(times_ns: &[u64]) -> SliceSample {
        let mut sample = SliceSample { window_ns: 1_000, workers: 1, ..SliceSample::default() };
        times_ns.iter().for_each(|ns| sample.response.record_ns(*ns));
        sample.ok = times_ns.len() as u64;
        sample.offered = sample.ok;
        sample
    }

    #[test]
    fn a_round_waits_for_every_agent_that_goes_on() {
        let mut rounds = Rounds::new(3);
        rounds.push(0, sample(&[1]).pack());
        rounds.push(0, sample(&[2]).pack());
        rounds.push(1, sample(&[3]).pack());
        assert_eq!(rounds.next_round(), None, "agent 2 owes its first sample");
        rounds.end(2);
        assert_eq!(rounds.next_round().unwrap().ok, 2);
        assert_eq!(rounds.next_round(), None, "agent 1 owes its second sample");
        rounds.end(1);
        assert_eq!(rounds.next_round().unwrap().ok, 1, "agent 0 goes on alone");
        rounds.end(0);
        assert_eq!(rounds.next_round(), None, "no sample is left");
    }

    #[test]
    fn workers_add_up_and_windows_do_not() {
        let mut rounds = Rounds::new(2);
        (0..2).for_each(|agent| rounds.push(agent, sample(&[7, 8]).pack()));
        let round = rounds.next_round().unwrap();
        assert_eq!((round.window_ns, round.workers, round.ok), (1_000, 2, 4));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn percentiles_of_the_merged_are_those_of_the_union(
            agents in prop::collection::vec(prop::collection::vec(1..60_000_000_000_u64, 0..60), 1..6)
        ) {
            let mut rounds = Rounds::new(agents.len());
            let mut union = LatencyHistogram::new();
            for (agent, times_ns) in agents.iter().enumerate() {
                // Two periods of each agent.
                let (first, second) = times_ns.split_at(times_ns.len() / 2);
                rounds.push(agent, sample(first).pack());
                rounds.push(agent, sample(second).pack());
                rounds.end(agent);
                times_ns.iter().for_each(|ns| union.record_ns(*ns));
            }
            let mut merged = rounds.next_round().unwrap();
            merged.append(&rounds.next_round().unwrap());
            prop_assert_eq!(&merged.response, &union);
            prop_assert_eq!(merged.ok, union.len());
            for quantile in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
                prop_assert_eq!(merged.response.value_at_quantile_ns(quantile), union.value_at_quantile_ns(quantile));
            }
        }
    }
}
