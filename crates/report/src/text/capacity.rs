//! The line of each variant on the largest load that keeps a curve.

use crate::clean;
use tare_analysis::summary::Cell;

/// `http4s.Tapir: keeps p99<4ms up to 1,250 users [1,100, 1,400]`; `None` where no curve was asked for.
pub(super) fn paragraph(cell: &Cell) -> Option<String> {
    cell.capacity.as_ref().map(|found| clean::sanitize_line(&found.sentence))
}
