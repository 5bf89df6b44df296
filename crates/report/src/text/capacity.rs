//! What is said of the largest load that keeps a curve: a line for each variant.

use tare_plan::slo::LoadBy;

use crate::clean;
use crate::format::{count, rate};
use crate::summary::{CapacityAt, Cell};

/// `http4s.Tapir: keeps p99<4ms up to 1,250 users [1,100, 1,400]`.
pub(super) fn paragraph(cell: &Cell) -> Option<String> {
    let found = cell.capacity.as_ref()?;
    let variant = clean::line(&cell.variant);
    let curve = clean::line(&found.curve);
    if found.load.value == 0.0 {
        return Some(format!("{variant}: keeps {curve} under no load that was tried"));
    }
    let beyond = if found.forks_at_most > 0 { ", and bears the most that was tried" } else { "" };
    let interval = found.load.lo.zip(found.load.hi);
    let interval = interval.map_or(String::new(), |(lo, hi)| format!(" [{}, {}]", shown(found, lo), shown(found, hi)));
    Some(format!("{variant}: keeps {curve} up to {}{interval}{beyond}", shown(found, found.load.value)))
}

fn shown(found: &CapacityAt, load: f64) -> String {
    if found.by == LoadBy::Rate { rate(load) } else { count(load.round() as u64, "user") }
}
