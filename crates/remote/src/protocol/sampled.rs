//! What a sampler saw, as it is sent between machines. What comes from another machine is bounded and checked.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tare_profile::collapsed::parse_collapsed;
use tare_record::profile::{PackedText, Weight};
use tare_sut::sampler::Sampled;

use super::frame::Bytes;

/// The most bytes of stacks that are sent between machines, before they are packed.
const LONGEST_STACKS: u64 = 32 << 20;
/// The same, packed. They are one report of an agent.
const LONGEST_PACKED: u64 = 12 << 20;
/// No sampler counts more, so that the sums of several starts do not overflow.
const LARGEST_WEIGHT: u64 = 1 << 57;
const LONGEST_NAME: usize = 300;
const LONGEST_ENDING: usize = 8;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SampledReport {
    sampler: String,
    weight: Weight,
    /// Ending of the sampler's own file, such as `jfr`.
    ending: String,
    /// Packed.
    stacks: Bytes,
}

impl SampledReport {
    pub fn pack(sampled: &Sampled) -> Result<Self, String> {
        let stacks = PackedText::pack(&sampled.stacks).as_bytes().to_vec();
        let (bytes, packed_bytes) = (sampled.stacks.len() as u64, stacks.len() as u64);
        if bytes > LONGEST_STACKS || packed_bytes > LONGEST_PACKED {
            let (bytes, limit) = (bytes.div_ceil(1 << 20), LONGEST_STACKS >> 20);
            return Err(format!(
                "its stacks take {bytes} MiB, and up to {limit} are sent; profile with a shorter --span"
            ));
        }
        let ending = sampled.file.extension().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { sampler: sampled.sampler.clone(), weight: sampled.weight, ending, stacks: Bytes(stacks) })
    }

    /// What it says. The sampler's own file will have this name, without its ending, on this machine.
    pub fn unpack(self, file: &Path) -> Result<Sampled, String> {
        let has_ending = !self.ending.is_empty() && self.ending.len() <= LONGEST_ENDING;
        if !has_ending || !self.ending.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err("the sampler's file has no ending".to_owned());
        }
        let file = PathBuf::from(format!("{}.{}", file.display(), self.ending));
        let text = PackedText::from_bytes(self.stacks.0).unpack_within(LONGEST_STACKS);
        // Names stand in texts for people.
        let plain = |text: &str| text.replace(|c: char| c.is_control() && c != '\n', "\u{FFFD}");
        let stacks = plain(&text.map_err(|error| error.to_string())?);
        let parsed = parse_collapsed(&stacks).map_err(|error| error.to_string())?;
        let weight = parsed.iter().fold(0_u64, |sum, stack| sum.saturating_add(stack.weight));
        if weight > LARGEST_WEIGHT {
            return Err(format!("a weight of {weight} is more than any sampler counts"));
        }
        let sampler: String = plain(&self.sampler).replace('\n', " ").chars().take(LONGEST_NAME).collect();
        Ok(Sampled { sampler, weight: self.weight, stacks, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(stacks: &str) -> Sampled {
        let weight = Weight::Samples { every_ns: 1_000_000 };
        Sampled { sampler: "perf".to_owned(), weight, stacks: stacks.to_owned(), file: "/logs/a.perf".into() }
    }

    /// What a report says after it was text.
    fn sent(report: &SampledReport) -> Result<Sampled, String> {
        let text = serde_json::to_string(report).unwrap();
        serde_json::from_str::<SampledReport>(&text).unwrap().unpack(Path::new("/profiles/a"))
    }

    #[test]
    fn what_a_sampler_saw_arrives_as_it_was_and_moves_no_cursor() {
        let report = SampledReport::pack(&sampled("main;spin 7\nmain;\u{1b}[31m 1\n")).unwrap();
        let arrived = sent(&report).unwrap();
        let expected = Sampled { file: "/profiles/a.perf".into(), ..sampled("main;spin 7\nmain;\u{FFFD}[31m 1\n") };
        assert_eq!(arrived, expected);
    }

    #[test]
    fn what_no_sampler_says_is_refused() {
        let report = SampledReport::pack(&sampled("")).unwrap();
        let long = "a 1\n".repeat((LONGEST_STACKS / 4) as usize + 1);
        for (stacks, says) in [
            (vec![0xff, 0xff, 1], "corrupt"),
            (PackedText::pack(&long).as_bytes().to_vec(), "more than 33554432 bytes"),
            (PackedText::pack("no stack").as_bytes().to_vec(), "line 1"),
            (PackedText::pack(&format!("a {0}\nb {0}\n", u64::MAX)).as_bytes().to_vec(), "more than any sampler"),
        ] {
            let error = sent(&SampledReport { stacks: Bytes(stacks), ..report.clone() }).unwrap_err();
            assert!(error.contains(says), "{says}: {error}");
        }
        assert!(SampledReport::pack(&sampled(&long)).unwrap_err().contains("a shorter --span"));
        for ending in ["", "../x", "jfr/..", "a.b", "longer-than-any"] {
            let report = SampledReport { ending: ending.to_owned(), ..SampledReport::pack(&sampled("")).unwrap() };
            assert!(sent(&report).unwrap_err().contains("no ending"), "{ending}");
        }
    }
}
