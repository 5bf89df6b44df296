//! Groups that share the names of their servers and scenarios.

use tare_analysis::summarize;

use crate::synthetic::{in_two_groups, standard};

#[test]
fn a_cell_has_the_starts_and_warm_ups_of_its_own_group() {
    let mut record = in_two_groups(standard());
    record.warmups.iter_mut().filter(|warmup| warmup.group == "again").for_each(|warmup| warmup.steady = false);
    for fork in record.forks.iter_mut().filter(|fork| fork.group == "again") {
        fork.command = vec!["again".to_owned()];
    }
    let cells = summarize(&record).cells;
    assert_eq!(cells.len(), 6);
    for (cell, one) in cells[3..].iter().zip(&cells[..3]) {
        assert_eq!((cell.variant.as_str(), cell.steady_forks, one.steady_forks), (one.variant.as_str(), 0, 8));
        assert!(cell.command == "again" && one.command.starts_with("java "), "{} {}", cell.command, one.command);
    }
}
