//! Finds the processes of a program's tree by their parents, where the system does not track the tree. It uses no heap.

/// One process of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListedProcess {
    pub pid: libc::pid_t,
    pub parent: libc::pid_t,
    /// Whether it belongs to the tree and lives.
    pub is_ours: bool,
}

/// Marks the descendants of the marked processes, whatever their session is.
pub(super) fn mark_descendants(all: &mut [ListedProcess]) {
    let mut has_grown = true;
    while has_grown {
        has_grown = false;
        for index in 0..all.len() {
            let Some(ListedProcess { parent, is_ours: false, .. }) = all.get(index).copied() else { continue };
            let is_ours = all.iter().any(|other| other.is_ours && other.pid == parent);
            if let Some(process) = all.get_mut(index).filter(|_| is_ours) {
                process.is_ours = true;
                has_grown = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: libc::pid_t, parent: libc::pid_t, is_ours: bool) -> ListedProcess {
        ListedProcess { pid, parent, is_ours }
    }

    #[test]
    fn descendants_in_sessions_of_their_own_are_found_in_any_order_and_no_others() {
        // 9 is the program; 4 is a grandchild that is listed before its parent, 7.
        let mut all = [
            process(1, 0, false),
            process(4, 7, false),
            process(7, 9, false),
            process(9, 3, true),
            process(3, 1, false),
            process(8, 1, false),
        ];
        mark_descendants(&mut all);
        let ours: Vec<_> = all.iter().filter(|process| process.is_ours).map(|process| process.pid).collect();
        assert_eq!(ours, [4, 7, 9]);
    }

    #[test]
    fn without_a_process_of_the_tree_there_are_no_descendants() {
        let mut all = [process(1, 0, false), process(2, 1, false)];
        mark_descendants(&mut all);
        assert!(all.iter().all(|process| !process.is_ours));
        mark_descendants(&mut []);
    }
}
