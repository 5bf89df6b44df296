//! A slice as a row of the table `slice`, and back. SQLite counts in `i64`; no count of ours comes near its end.

use rusqlite::{Connection, Row, named_params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tare_plan::plan::SliceKind;
use tare_stats::histogram::LatencyHistogram;

use crate::packed::PackedHistogram;
use crate::sample::{Hiccups, Messages, Phase, SliceRecord, StoredSlice};

const INSERT: &str = "INSERT INTO slice (fork, group_id, scenario, variant, phase, kind, round, start_ns, window_ns,
  users, offered_per_s, completed, ok, failed, errors_json, bytes_in, bytes_out, response, service, send_lag, failed_after,
  blocked, blocked_ns, connections_opened, connections_lost, generator_cpu_ns, generator_workers, server_cpu_json,
  rss_bytes, rss_peak_bytes, jvm_json, hiccup_machine, hiccup_jvm, pauses_json,
  stamp_lag, generator_spin_ns, tls_handshakes, tls_resumed, messages_json, jitter, others_share)
VALUES (:fork, :group, :scenario, :variant, :phase, :kind, :round, :start, :window,
  :users, :offered, :completed, :ok, :failed, :errors, :bytes_in, :bytes_out, :response, :service, :send_lag, :failed_after,
  :blocked, :blocked_ns, :opened, :lost, :generator_cpu, :workers, :server_cpu, :rss, :rss_peak, :jvm, :hiccup_machine, :hiccup_jvm, :pauses,
  :stamp_lag, :generator_spin, :tls_handshakes, :tls_resumed, :messages, :jitter, :others)";

/// Appends a slice.
pub(super) fn insert(connection: &Connection, slice: &SliceRecord) -> rusqlite::Result<()> {
    let pack = |histogram: &LatencyHistogram| PackedHistogram::from(histogram).as_bytes().to_vec();
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let server_cpu = slice.server_cpu.as_ref().map(to_json).transpose()?;
    let hiccups = slice.hiccups.as_ref();
    connection.prepare_cached(INSERT)?.execute(named_params! {
        ":fork": slice.fork, ":group": slice.group, ":scenario": slice.scenario, ":variant": slice.variant,
        ":phase": phase_name(slice.phase), ":kind": slice.kind.name(), ":round": slice.round,
        ":start": signed(slice.start_ns), ":window": signed(slice.window_ns),
        ":users": slice.users, ":offered": slice.offered_per_s,
        ":completed": signed(slice.completed), ":ok": signed(slice.ok), ":failed": signed(slice.failed),
        ":errors": to_json(&slice.errors)?, ":bytes_in": signed(slice.bytes_in), ":bytes_out": signed(slice.bytes_out),
        ":response": pack(&slice.response), ":service": pack(&slice.service),
        ":send_lag": pack(&slice.send_lag), ":failed_after": pack(&slice.failed_after),
        ":blocked": signed(slice.blocked), ":blocked_ns": signed(slice.blocked_ns),
        ":opened": signed(slice.connections_opened), ":lost": signed(slice.connections_lost),
        ":generator_cpu": signed(slice.generator_cpu_ns), ":workers": slice.generator_workers,
        ":server_cpu": server_cpu, ":rss": slice.rss_bytes.map(signed), ":rss_peak": slice.rss_peak_bytes.map(signed),
        ":jvm": slice.jvm.as_ref().map(to_json).transpose()?,
        ":hiccup_machine": hiccups.map(|h| pack(&h.machine)),
        ":hiccup_jvm": hiccups.and_then(|h| h.jvm.as_ref()).map(pack),
        ":pauses": hiccups.map(|h| to_json(&h.pauses)).transpose()?,
        ":stamp_lag": pack(&slice.stamp_lag), ":generator_spin": signed(slice.generator_spin_ns),
        ":tls_handshakes": signed(slice.tls_handshakes), ":tls_resumed": signed(slice.tls_resumed),
        ":messages": slice.messages.as_ref().map(|m| to_json(&m.tally)).transpose()?,
        ":jitter": slice.messages.as_ref().map(|m| pack(&m.jitter)),
        ":others": slice.others_share,
    })?;
    Ok(())
}

/// Reads a slice from a row of `SELECT * FROM slice`.
pub(super) fn slice(row: &Row<'_>) -> rusqlite::Result<StoredSlice> {
    let count = |column: &str| row.get::<_, i64>(column).map(|n| n.max(0).unsigned_abs());
    let maybe = |column: &str| row.get::<_, Option<i64>>(column).map(|n| n.map(|n| n.max(0).unsigned_abs()));
    let server_cpu: Option<String> = row.get("server_cpu_json")?;
    // Records of version 1 have no such column.
    let jvm: Option<String> = row.get("jvm_json").unwrap_or(None);
    // Nor records of version 2 these.
    let count_since_3 = |column: &str| count(column).unwrap_or(0);
    Ok(SliceRecord {
        fork: row.get("fork")?,
        group: row.get("group_id")?,
        scenario: row.get("scenario")?,
        variant: row.get("variant")?,
        phase: from_json(&quoted(row.get("phase")?))?,
        kind: from_json::<SliceKind>(&quoted(row.get("kind")?))?,
        round: row.get("round")?,
        start_ns: count("start_ns")?,
        window_ns: count("window_ns")?,
        users: row.get("users")?,
        offered_per_s: row.get("offered_per_s")?,
        completed: count("completed")?,
        ok: count("ok")?,
        failed: count("failed")?,
        errors: from_json(&row.get::<_, String>("errors_json")?)?,
        bytes_in: count("bytes_in")?,
        bytes_out: count("bytes_out")?,
        response: histogram(row, "response")?,
        service: histogram(row, "service")?,
        send_lag: histogram(row, "send_lag")?,
        stamp_lag: histogram_since_3(row, "stamp_lag")?,
        failed_after: histogram(row, "failed_after")?,
        blocked: count("blocked")?,
        blocked_ns: count("blocked_ns")?,
        connections_opened: count("connections_opened")?,
        connections_lost: count("connections_lost")?,
        tls_handshakes: count_since_3("tls_handshakes"),
        tls_resumed: count_since_3("tls_resumed"),
        generator_cpu_ns: count("generator_cpu_ns")?,
        generator_spin_ns: count_since_3("generator_spin_ns"),
        generator_workers: row.get("generator_workers")?,
        server_cpu: server_cpu.as_deref().map(from_json).transpose()?,
        rss_bytes: maybe("rss_bytes")?,
        rss_peak_bytes: maybe("rss_peak_bytes")?,
        jvm: jvm.as_deref().map(from_json).transpose()?,
        hiccups: hiccups(row)?,
        // Nor records of version 3 this one.
        others_share: row.get("others_share").unwrap_or(None),
        messages: messages(row)?,
    })
}

/// Records before version 3 have no such columns.
fn hiccups(row: &Row<'_>) -> rusqlite::Result<Option<Hiccups<PackedHistogram>>> {
    let Some(pauses) = row.get::<_, Option<String>>("pauses_json").unwrap_or(None) else { return Ok(None) };
    let has_jvm = row.get::<_, Option<Vec<u8>>>("hiccup_jvm")?.is_some();
    Ok(Some(Hiccups {
        machine: histogram(row, "hiccup_machine")?,
        jvm: has_jvm.then(|| histogram(row, "hiccup_jvm")).transpose()?,
        pauses: from_json(&pauses)?,
    }))
}

/// As with hiccups.
fn messages(row: &Row<'_>) -> rusqlite::Result<Option<Messages<PackedHistogram>>> {
    let Some(tally) = row.get::<_, Option<String>>("messages_json").unwrap_or(None) else { return Ok(None) };
    Ok(Some(Messages { tally: from_json(&tally)?, jitter: histogram(row, "jitter")? }))
}

/// A value as JSON text.
pub(super) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))
}

/// A value from JSON text.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|e| unreadable(e.into()))
}

fn histogram(row: &Row<'_>, column: &str) -> rusqlite::Result<PackedHistogram> {
    PackedHistogram::from_bytes(row.get(column)?).map_err(|e| unreadable(e.into()))
}

fn histogram_since_3(row: &Row<'_>, column: &str) -> rusqlite::Result<PackedHistogram> {
    let bytes = row.get(column).unwrap_or_default();
    PackedHistogram::from_bytes(bytes).map_err(|e| unreadable(e.into()))
}

fn unreadable(cause: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, cause)
}

fn quoted(name: String) -> String {
    format!("\"{name}\"")
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Warmup => "warmup",
        Phase::Measure => "measure",
        Phase::Profile => "profile",
    }
}
