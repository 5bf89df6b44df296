//! The folder of tare, `.tare/runs/<id>/`: allotting an id, listing runs, finding one by name.

use std::path::{Path, PathBuf};

use super::{RECORD_FILE, reader};
use crate::EndStatus;
use crate::error::RecordError;
use crate::run::RecordHeader;

#[derive(Debug)]
pub struct RunEntry {
    /// `2026-11-20-1`.
    pub id: String,
    pub dir: PathBuf,
    pub brief: Result<RunBrief, RecordError>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunBrief {
    /// Name of the suite; `load` for a load.
    pub suite: String,
    /// Wall clock at the start, nanoseconds since 1970 UTC.
    pub started_unix_ns: u64,
    /// How it ended; absent while it runs and when tare was killed.
    pub end: Option<EndStatus>,
    /// How long it took, in nanoseconds, where it has an end.
    pub length_ns: Option<u64>,
}

pub(super) fn run_dir(root: &Path, id: &str) -> PathBuf {
    root.join("runs").join(id)
}

/// Allots the next id of `date` (`2026-11-20`) by making its folder, and returns the id. Two that ask at the same time
/// get different ids: making a folder either succeeds or finds it there.
pub fn allot_run_dir(root: &Path, date: &str) -> Result<String, RecordError> {
    let runs = root.join("runs");
    std::fs::create_dir_all(&runs).map_err(|e| RecordError::io(&runs, &e))?;
    let taken = folder_names(&runs)?.into_iter().filter(|id| sort_key(id).0 == date).map(|id| sort_key(&id).1).max();
    let mut number = taken.unwrap_or(0) + 1;
    loop {
        let id = format!("{date}-{number}");
        let dir = run_dir(root, &id);
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok(id),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(RecordError::io(&dir, &e)),
        }
    }
}

/// All runs under `root`, the oldest first; a folder that holds no record is none. Errors: the folder cannot be read.
/// One that does not exist holds no runs.
pub fn list_runs(root: &Path) -> Result<Vec<RunEntry>, RecordError> {
    let entry = |id: String| {
        let dir = run_dir(root, &id);
        let brief = read_brief(&dir.join(RECORD_FILE));
        RunEntry { id, dir, brief }
    };
    Ok(recorded_ids(root)?.into_iter().map(entry).collect())
}

/// The folders of all runs under `root`, the oldest first.
pub fn run_dirs(root: &Path) -> Result<Vec<PathBuf>, RecordError> {
    Ok(recorded_ids(root)?.iter().map(|id| run_dir(root, id)).collect())
}

/// The record file of `name`: `latest`, an id, a folder of a run, or a path to a record. `latest` is the last run that
/// finished: neither one that still runs nor one in which tare failed, unless there is no other. [`unreadable_after`]
/// has those that it passes over because they cannot be read. Errors: [`RecordError::NoSuchRun`], which names what
/// there is.
pub fn find_run(root: &Path, name: &str) -> Result<PathBuf, RecordError> {
    let ids = recorded_ids(root)?;
    let id = if name == "latest" { latest_finished(root, &ids) } else { Some(name) };
    let by_id = id.filter(|id| ids.iter().any(|known| known == id)).map(|id| run_dir(root, id).join(RECORD_FILE));
    let by_path = [PathBuf::from(name), Path::new(name).join(RECORD_FILE)].into_iter().find(|p| p.is_file());
    by_id.or(by_path).ok_or_else(|| {
        let some: Vec<&str> = ids.iter().rev().take(5).map(String::as_str).collect();
        let hint = match some.as_slice() {
            [] => "nothing has been measured here yet: `tare run` makes the first".to_owned(),
            some => format!("the newest are {}", some.join(", ")),
        };
        RecordError::NoSuchRun { name: name.to_owned(), root: root.to_path_buf(), hint }
    })
}

/// The last run that finished; the last of all where none did.
fn latest_finished<'a>(root: &Path, ids: &'a [String]) -> Option<&'a str> {
    let has_finished = |id: &&String| {
        let end =
            reader::connect(&run_dir(root, id).join(RECORD_FILE)).ok().and_then(|file| reader::end(&file).ok()?);
        end.is_some_and(|(status, _)| status != EndStatus::Failed)
    };
    ids.iter().rev().find(has_finished).or(ids.last()).map(String::as_str)
}

/// The runs that are newer than the one of this record file and cannot be read, the newest first, each with the reason.
/// Errors: the folder cannot be read.
pub fn unreadable_after(root: &Path, file: &Path) -> Result<Vec<(String, RecordError)>, RecordError> {
    let all = recorded_ids(root)?.into_iter().rev().map(|id| (run_dir(root, &id).join(RECORD_FILE), id));
    let newer = all.take_while(|(record, _)| record != file);
    Ok(newer.filter_map(|(record, id)| Some((id, read_brief(&record).err()?))).collect())
}

fn read_brief(file: &Path) -> Result<RunBrief, RecordError> {
    let connection = reader::connect(file)?;
    let wrap = |e: rusqlite::Error| RecordError::sqlite(file, &e);
    let header = reader::header(&connection).map_err(wrap)?;
    let (end, length_ns) = reader::end(&connection).map_err(wrap)?.unzip();
    let (suite, started_unix_ns) = match header {
        RecordHeader::Run(header) => (header.plan.suite, header.started_unix_ns),
        RecordHeader::Load(header) => ("load".to_owned(), header.started_unix_ns),
    };
    Ok(RunBrief { suite, started_unix_ns, end, length_ns })
}

/// Ids of the runs that have a record, the oldest first.
fn recorded_ids(root: &Path) -> Result<Vec<String>, RecordError> {
    let mut found = folder_names(&root.join("runs"))?;
    found.retain(|id| run_dir(root, id).join(RECORD_FILE).is_file());
    Ok(found)
}

fn folder_names(runs: &Path) -> Result<Vec<String>, RecordError> {
    let entries = match std::fs::read_dir(runs) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(RecordError::io(runs, &e)),
    };
    let mut ids: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    ids.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    Ok(ids)
}

/// Date and number of an id, so that run 10 of a day comes after run 9.
fn sort_key(id: &str) -> (&str, u32) {
    id.rsplit_once('-').and_then(|(date, n)| Some((date, n.parse().ok()?))).unwrap_or((id, 0))
}
