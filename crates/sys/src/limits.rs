//! Limits of this process that a run can reach: the number of open files, including sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files towards `needed`, up to the hard limit, and returns the new limit. Unit: open
/// files; `u64::MAX` stands for no limit.
pub fn raise_open_files(needed: u64) -> u64 {
    let limits = getrlimit(Resource::Nofile);
    let soft = limits.current.unwrap_or(u64::MAX);
    if soft >= needed {
        return soft;
    }
    let raised = needed.min(limits.maximum.unwrap_or(u64::MAX));
    match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limits.maximum }) {
        Ok(()) => raised.max(soft),
        Err(_) => soft,
    }
}

pub fn count_open_files() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_already_is_left_alone() {
        let now = raise_open_files(1);
        assert_eq!(raise_open_files(1), now);
    }
}
