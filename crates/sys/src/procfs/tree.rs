//! The processes of a program: it, and all that it started.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;

use super::process::Stat;
use super::{ProcfsError, numbers_in};

/// The name of the process between tare and a program, which inherits each orphan of the program's tree.
pub(crate) const SUPERVISOR: &CStr = c"supervisor";

/// A process and all its descendants, itself first. Orphans belong to the tree too if it is a program under a supervisor.
pub fn process_tree(root: u32) -> Result<Vec<u32>, ProcfsError> {
    // A process that ends during the walk is left out.
    let stat = |pid| Some((pid, Stat::of_process(pid).ok()?));
    Ok(process_tree_in(root, &numbers_in("/proc")?.into_iter().filter_map(stat).collect()))
}

/// The same for given processes.
fn process_tree_in(root: u32, all: &BTreeMap<u32, Stat>) -> Vec<u32> {
    let is_supervisor = |pid: &u32| all.get(pid).is_some_and(|stat| stat.comm.as_bytes() == SUPERVISOR.to_bytes());
    let supervisor = all.get(&root).map(|stat| stat.parent).filter(is_supervisor);
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (&pid, stat) in all.iter().filter(|(pid, _)| **pid != root) {
        let parent = if Some(stat.parent) == supervisor { root } else { stat.parent };
        children.entry(parent).or_default().push(pid);
    }
    let (mut found, mut next) = (vec![root], 0);
    while let Some(&parent) = found.get(next) {
        found.extend(children.remove(&parent).unwrap_or_default());
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(comm: &str, parent: u32) -> Stat {
        Stat { comm: comm.to_owned(), state: 'S', parent, reaped_ticks: 0 }
    }

    #[test]
    fn a_tree_holds_all_descendants_once_and_the_orphans_of_a_supervised_program() {
        let parents = [(1, 0), (5, 1), (6, 5), (7, 5), (8, 7), (9, 1), (10, 9)];
        let mut all: BTreeMap<u32, Stat> = parents.into_iter().map(|(pid, parent)| (pid, stat("sh", parent))).collect();
        assert_eq!(process_tree_in(5, &all), [5, 6, 7, 8]);
        assert_eq!(process_tree_in(99, &all), [99]);
        all.insert(1, stat("supervisor", 0));
        assert_eq!(process_tree_in(5, &all), [5, 6, 7, 9, 8, 10]);
        assert_eq!(process_tree_in(7, &all), [7, 8]);
        assert!(process_tree(1).unwrap().contains(&1));
    }

    #[test]
    fn numbers_may_be_used_again_while_they_are_read() {
        let all = [(5, 6), (6, 5)].map(|(pid, parent)| (pid, stat("sh", parent)));
        assert_eq!(process_tree_in(5, &all.into()), [5, 6]);
    }
}
