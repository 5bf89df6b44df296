//! What an agent of a run does with its orders: having servers and making load read and answer them in one way.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tare_agent::{PackedSample, RunOrder, RunReport};

/// What is sent beside a report.
#[derive(Debug)]
pub(crate) enum Attached {
    Nothing,
    /// What a turn of load brought.
    Sample(PackedSample),
    /// Bytes that the order asked for.
    Contents(Vec<u8>),
}

/// Work that is ordered step by step.
pub(crate) trait OrderedWork {
    type Order: DeserializeOwned;
    type Report: Serialize;

    /// Carries out one order, which may bring the contents of a file.
    ///
    /// # Errors
    /// Why it could not be carried out, in one sentence.
    fn carry_out(&mut self, order: Self::Order, contents: &[u8]) -> Result<(Self::Report, Attached), String>;

    /// The report on an order that could not be carried out.
    fn failed(reason: String) -> Self::Report;
}

/// Carries out an order, and says what came of it.
pub(crate) fn answer_order<W: OrderedWork>(work: &mut W, order: &RunOrder) -> RunReport {
    let read = serde_json::from_str(&order.order).map_err(|error| format!("an order that cannot be read: {error}"));
    let carried_out = read.and_then(|read| work.carry_out(read, &order.contents));
    let (report, attached) = carried_out.unwrap_or_else(|reason| (W::failed(reason), Attached::Nothing));
    let (sample, contents) = match attached {
        Attached::Nothing => (None, Vec::new()),
        Attached::Sample(sample) => (Some(sample), Vec::new()),
        Attached::Contents(contents) => (None, contents),
    };
    RunReport { number: order.number, report: serde_json::to_string(&report).unwrap_or_default(), sample, contents }
}
