//! Slices of records of versions 1 to 5, which had a column for every counter. SQLite counts in `i64`.

use rusqlite::Row;
use serde::de::DeserializeOwned;
use tare_sample::{MessageTally, PackedHistogram, SliceSample};

use super::rows::{from_json, histogram, key, optional_histogram};
use crate::probe::{Hiccups, ServerUse};
use crate::slice::StoredSlice;

/// Reads a slice from a row of `SELECT * FROM slice`. Counters that the record does not have are 0, and the server's
/// use is absent.
pub(super) fn slice(row: &Row<'_>) -> rusqlite::Result<StoredSlice> {
    Ok(StoredSlice { key: key(row)?, load: load(row)?, server: server(row)? })
}

fn load(row: &Row<'_>) -> rusqlite::Result<SliceSample<PackedHistogram>> {
    let count = |column: &str| row.get::<_, i64>(column).map(to_unsigned);
    // A column of version 3 and later.
    let count_if_present = |column: &str| row.get::<_, Option<i64>>(column).unwrap_or(None).map_or(0, to_unsigned);
    let messages: Option<MessageTally> = json_if_present(row, "messages_json")?;
    let (ok, failed) = (count("ok")?, count("failed")?);
    Ok(SliceSample {
        start_ns: count("start_ns")?,
        window_ns: count("window_ns")?,
        workers: row.get("generator_workers")?,
        offered: ok.saturating_add(failed),
        ok,
        failed,
        completed: count("completed")?,
        bytes_in: count("bytes_in")?,
        bytes_out: count("bytes_out")?,
        generator_cpu_ns: count("generator_cpu_ns")?,
        generator_spin_ns: count_if_present("generator_spin_ns"),
        blocked: count("blocked")?,
        blocked_ns: count("blocked_ns")?,
        connections_opened: count("connections_opened")?,
        connections_lost: count("connections_lost")?,
        tls_handshakes: count_if_present("tls_handshakes"),
        tls_resumed: count_if_present("tls_resumed"),
        errors: from_json(&row.get::<_, String>("errors_json")?)?,
        messages: messages.unwrap_or_default(),
        response: histogram(row, "response")?,
        service: histogram(row, "service")?,
        send_lag: histogram(row, "send_lag")?,
        stamp_lag: histogram_if_present(row, "stamp_lag")?.unwrap_or_default(),
        failed_time: histogram(row, "failed_after")?,
        jitter: histogram_if_present(row, "jitter")?.unwrap_or_default(),
        ..SliceSample::empty()
    })
}

fn server(row: &Row<'_>) -> rusqlite::Result<ServerUse<PackedHistogram>> {
    let bytes = |column: &str| row.get::<_, Option<i64>>(column).map(|bytes| bytes.map(to_unsigned));
    Ok(ServerUse {
        cpu: json_if_present(row, "server_cpu_json")?,
        rss_bytes: bytes("rss_bytes")?,
        rss_peak_bytes: bytes("rss_peak_bytes")?,
        runtime: json_if_present(row, "jvm_json")?,
        hiccups: hiccups(row)?,
        others_share: row.get("others_share").unwrap_or(None),
    })
}

fn hiccups(row: &Row<'_>) -> rusqlite::Result<Option<Hiccups<PackedHistogram>>> {
    let Some(pauses) = json_if_present(row, "pauses_json")? else { return Ok(None) };
    let (machine, jvm) = (histogram(row, "hiccup_machine")?, optional_histogram(row, "hiccup_jvm")?);
    Ok(Some(Hiccups { machine, jvm, pauses }))
}

/// A value from a JSON column; `None` for NULL and in records without the column.
fn json_if_present<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column).unwrap_or(None);
    text.as_deref().map(from_json).transpose()
}

/// As [`json_if_present`], for a histogram.
fn histogram_if_present(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<PackedHistogram>> {
    if row.as_ref().column_index(column).is_err() {
        return Ok(None);
    }
    optional_histogram(row, column)
}

fn to_unsigned(count: i64) -> u64 {
    count.max(0).unsigned_abs()
}
