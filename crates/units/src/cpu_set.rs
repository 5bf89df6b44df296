//! Sets of logical CPUs, written as the kernel and `taskset` write them: `0,2-3`.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A set of logical CPUs, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct CpuSet(BTreeSet<usize>);

impl CpuSet {
    /// The number of CPUs that the kernel's plain `cpu_set_t` can name; a list holds CPUs below it.
    pub const LIMIT: usize = 1024;

    pub fn from_indices(cpus: impl IntoIterator<Item = usize>) -> Self {
        Self(cpus.into_iter().collect())
    }

    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    pub fn union(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }

    pub fn difference(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0)
    }

    pub fn overlaps(&self, other: &Self) -> bool {
        !self.0.is_disjoint(&other.0)
    }
}

impl std::str::FromStr for CpuSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |problem: String| {
            format!("\"{text}\" is not a list of CPUs: {problem}; write it like \"0\", \"0,2\" or \"0,2-3\"")
        };
        let ranges = text.split(',').map(parse_range).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
        Ok(Self(ranges.into_iter().flatten().collect()))
    }
}

/// One part of a list: `2` or `2-3`.
fn parse_range(part: &str) -> Result<std::ops::RangeInclusive<usize>, String> {
    let (first, last) = match part.split_once('-') {
        Some((first, last)) => (parse_cpu(first)?, parse_cpu(last)?),
        None if part.trim().is_empty() => return Err("a part of it is empty".to_owned()),
        None => (parse_cpu(part)?, parse_cpu(part)?),
    };
    if first <= last { Ok(first..=last) } else { Err(format!("the range {first}-{last} runs backwards")) }
}

fn parse_cpu(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let cpu = text.parse().map_err(|_| format!("\"{text}\" is not a number"))?;
    if cpu < CpuSet::LIMIT { Ok(cpu) } else { Err(format!("CPU {cpu} is above {}", CpuSet::LIMIT - 1)) }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus: Vec<usize> = self.iter().collect();
        let ranges = cpus.chunk_by(|before, next| before + 1 == *next).map(|range| match range {
            [one] => one.to_string(),
            range => format!("{}-{}", range[0], range[range.len() - 1]),
        });
        f.write_str(&ranges.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read_and_written_back() {
        for (text, shown) in [("0", "0"), ("0,2-3", "0,2-3"), ("3,1,2", "1-3"), (" 5 , 7 ", "5,7"), ("4-4", "4")] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn an_error_names_the_part_that_is_wrong() {
        for (text, says) in [
            ("", "empty"),
            ("0,,1", "empty"),
            ("a", "\"a\" is not a number"),
            ("3-1", "runs backwards"),
            ("1-", "\"\" is not a number"),
            ("5000", "above 1023"),
        ] {
            let error = text.parse::<CpuSet>().unwrap_err();
            assert!(error.contains(says) && error.contains("0,2-3"), "{error}");
        }
    }

    #[test]
    fn sets_know_their_members_and_their_overlap() {
        let set = CpuSet::from_indices([0, 2]);
        assert!(set.contains(2) && !set.contains(1) && set.len() == 2 && !set.is_empty());
        assert!(
            set.overlaps(&CpuSet::from_indices([2, 3]))
                && set.difference(&CpuSet::from_indices([2])) == CpuSet::from_indices([0])
        );
        assert_eq!(set.union(&CpuSet::from_indices([1])).to_string(), "0-2");
    }
}
