//! What `tare load` says of a load besides the figures of its one cell.

use serde::{Deserialize, Serialize};

use super::{HistogramBin, Row};

/// The lines of the terminal, so that the page says the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFacts {
    /// Throughput, requests, bytes, connections, generator, each condition (`held` or `failed`), notes, and what the
    /// latencies include.
    pub rows: Vec<Row>,
    /// A short histogram of the response times.
    pub histogram: Vec<HistogramBin>,
}
