//! How an agent of a run reads an order, handles it and answers, whether it runs servers or makes load.

use crate::{PackedSample, RunOrder, RunReport};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Data that is sent beside a report.
#[derive(Debug)]
pub(crate) enum Attachment {
    Nothing,
    /// The sample of a turn of load.
    Sample(PackedSample),
    /// Bytes that the order asked for.
    Contents(Vec<u8>),
}

/// Handles the orders of a run.
pub(crate) trait OrderHandler {
    type Order: DeserializeOwned;
    type Report: Serialize;

    /// Handles one order. `contents` is the part of a file that came with it, if any.
    ///
    /// # Errors
    /// Why it could not be carried out, in one sentence.
    fn handle_order(&mut self, order: Self::Order, contents: &[u8]) -> Result<(Self::Report, Attachment), String>;

    /// The report on an order that could not be carried out.
    fn failure_report(reason: String) -> Self::Report;
}

/// Decodes an order, lets the handler carry it out, and encodes the answer.
pub(crate) fn answer_order<H: OrderHandler>(handler: &mut H, order: &RunOrder) -> RunReport {
    let read = serde_json::from_str(&order.order).map_err(|error| format!("an order that cannot be read: {error}"));
    let handled = read.and_then(|read| handler.handle_order(read, &order.contents));
    let (report, attached) = handled.unwrap_or_else(|reason| (H::failure_report(reason), Attachment::Nothing));
    let (sample, contents) = match attached {
        Attachment::Nothing => (None, Vec::new()),
        Attachment::Sample(sample) => (Some(sample), Vec::new()),
        Attachment::Contents(contents) => (None, contents),
    };
    RunReport { number: order.number, report: serde_json::to_string(&report).unwrap_or_default(), sample, contents }
}
