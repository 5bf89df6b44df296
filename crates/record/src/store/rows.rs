//! A slice as a row of the table `slice`, and back: columns for its key, its histograms as bytes, and all its counters
//! as one JSON document `{"load": SliceSample, "server": ServerUse}`. A new counter needs no change here.

use rusqlite::types::Type;
use rusqlite::{Connection, Row, named_params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tare_sample::{LatencyParts, PackedHistogram, SliceSample};

use crate::probe::ServerUse;
use crate::run::{SliceKey, StoredSlice};

/// The JSON document of a row.
#[derive(Serialize, Deserialize)]
struct Counters<L, S> {
    load: L,
    server: S,
}

pub(super) fn insert(connection: &Connection, slice: &StoredSlice) -> rusqlite::Result<()> {
    let StoredSlice { key, load, server } = slice;
    let hiccups = server.hiccups.as_ref();
    let mut without_histograms = server.clone();
    if let Some(hiccups) = &mut without_histograms.hiccups {
        (hiccups.machine, hiccups.jvm) = (PackedHistogram::default(), None);
    }
    let values = named_params! {
        ":fork": key.fork,
        ":group_id": key.group,
        ":scenario": key.scenario,
        ":variant": key.variant,
        ":phase": key.phase.name(),
        ":kind": key.kind.name(),
        ":round": key.round,
        ":users": key.users,
        ":offered_per_s": key.offered_per_s,
        ":response": load.response.as_bytes(),
        ":service": load.service.as_bytes(),
        ":send_lag": load.send_lag.as_bytes(),
        ":stamp_lag": load.stamp_lag.as_bytes(),
        ":failed_time": load.failed_time.as_bytes(),
        ":jitter": load.jitter.as_bytes(),
        ":hiccup_machine": hiccups.map(|hiccups| hiccups.machine.as_bytes()),
        ":hiccup_jvm": hiccups.and_then(|hiccups| hiccups.jvm.as_ref()).map(PackedHistogram::as_bytes),
        ":met_stop": server.parts.as_ref().map(|parts| parts.met_stop.as_bytes()),
        ":met_stall": server.parts.as_ref().map(|parts| parts.met_stall.as_bytes()),
        ":met_none": server.parts.as_ref().map(|parts| parts.met_none.as_bytes()),
        ":json": to_json(&Counters { load, server: &without_histograms })?,
    };
    let columns = values.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let insert = format!("INSERT INTO slice ({}) VALUES ({columns})", columns.replace(':', ""));
    connection.prepare_cached(&insert)?.execute(values).map(drop)
}

/// Reads a slice from a row of `SELECT * FROM slice`. Counts that contradict one another are an error.
pub(super) fn slice(row: &Row<'_>) -> rusqlite::Result<StoredSlice> {
    type Owned = Counters<SliceSample<PackedHistogram>, ServerUse>;
    let Owned { load, mut server } = from_json(&row.get::<_, String>("json")?)?;
    if let Some(hiccups) = &mut server.hiccups {
        hiccups.machine = histogram(row, "hiccup_machine")?;
        hiccups.jvm = optional_histogram(row, "hiccup_jvm")?;
    }
    server.parts = parts(row)?;
    let load = SliceSample {
        response: histogram(row, "response")?,
        service: histogram(row, "service")?,
        send_lag: histogram(row, "send_lag")?,
        stamp_lag: histogram(row, "stamp_lag")?,
        failed_time: histogram(row, "failed_time")?,
        jitter: histogram(row, "jitter")?,
        ..load
    };
    if let Some(contradiction) = load.contradiction() {
        return Err(conversion_error(contradiction.into()));
    }
    Ok(StoredSlice { key: key(row)?, load, server })
}

fn key(row: &Row<'_>) -> rusqlite::Result<SliceKey> {
    Ok(SliceKey {
        fork: row.get("fork")?,
        group: row.get("group_id")?,
        scenario: row.get("scenario")?,
        variant: row.get("variant")?,
        phase: from_name(&row.get::<_, String>("phase")?)?,
        kind: from_name(&row.get::<_, String>("kind")?)?,
        round: row.get("round")?,
        users: row.get("users")?,
        offered_per_s: row.get("offered_per_s")?,
    })
}

/// The histogram of a column; its bytes are checked.
fn histogram(row: &Row<'_>, column: &str) -> rusqlite::Result<PackedHistogram> {
    check_histogram(row.get(column)?)
}

/// The parts of a window of latency; `None` where they are not known, and in a record that was begun without their columns.
fn parts(row: &Row<'_>) -> rusqlite::Result<Option<LatencyParts>> {
    if row.as_ref().column_index("met_stop").is_err() {
        return Ok(None);
    }
    let part = |column: &str| optional_histogram(row, column);
    let all = (part("met_stop")?, part("met_stall")?, part("met_none")?);
    let (Some(met_stop), Some(met_stall), Some(met_none)) = all else { return Ok(None) };
    Ok(Some(LatencyParts { met_stop, met_stall, met_none }))
}

/// As [`histogram`]; `None` for NULL.
fn optional_histogram(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<PackedHistogram>> {
    row.get::<_, Option<Vec<u8>>>(column)?.map(check_histogram).transpose()
}

fn check_histogram(bytes: Vec<u8>) -> rusqlite::Result<PackedHistogram> {
    PackedHistogram::from_bytes(bytes).map_err(|error| conversion_error(error.into()))
}

pub(super) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| conversion_error(error.into()))
}

/// A value of an enum from its name in a column.
fn from_name<T: DeserializeOwned>(name: &str) -> rusqlite::Result<T> {
    serde_json::from_value(name.into()).map_err(|error| conversion_error(error.into()))
}

pub(super) fn in_entry(table: &str, row: &Row<'_>, error: rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::FromSqlConversionFailure(_, _, cause) => {
            let number = row.get::<_, i64>("seq").unwrap_or_default();
            conversion_error(format!("{table} {number}: {cause}").into())
        }
        other => other,
    }
}

/// The error of something that SQLite reads and tare does not understand.
pub(super) fn conversion_error(cause: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, cause)
}
