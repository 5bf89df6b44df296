//! Writes a record: each entry in a transaction of its own, which the system has before the call returns. `kill -9` loses none of
//! them, a power failure perhaps the newest.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::Serialize;
use tare_plan::plan::Mode;
use tempfile::{Builder, NamedTempFile};

use super::resume::{self, FolderLock};
use super::{RECORD_FILE, rows, schema};
use crate::checkpoint::Checkpoint;
use crate::cross_check::CrossCheckRecord;
use crate::error::RecordError;
use crate::profile::ProfileRecord;
use crate::run::{HeaderRef, LoadHeader};
use crate::{AgentRecord, EndStatus, EventRecord, ForkRecord, RunHeader, StoredSlice, WarmupRecord};

/// Appends measured values to the record of one run. A record that is dropped without [`finish`](Self::finish) reads as
/// "tare was killed".
#[derive(Debug)]
pub struct RunWriter {
    connection: Connection,
    file: PathBuf,
    takes_profiles: bool,
    /// Marks the run as being measured; see [`InterruptedRun`](super::InterruptedRun).
    _lock: Option<FolderLock>,
}

impl RunWriter {
    /// Begins the record of run `header.id` in the folder of tare, `root`. The folder of the run may exist. Errors:
    /// [`RecordError::Exists`] when that run has a record; otherwise an error of the disk.
    pub fn create(root: &Path, header: &RunHeader) -> Result<Self, RecordError> {
        let folder = super::folder::run_dir(root, &header.id);
        std::fs::create_dir_all(&folder).map_err(|e| RecordError::io(&folder, &e))?;
        Self::create_file(&folder.join(RECORD_FILE), header)
    }

    /// Begins the record of a run in a file of its own, outside the folder of tare. Errors: [`RecordError::Exists`]
    /// when the file exists; otherwise an error of the disk.
    pub fn create_file(file: &Path, header: &RunHeader) -> Result<Self, RecordError> {
        let writer = Self::begin(file, HeaderRef::Run(header), header.plan.mode == Mode::Profiled)?;
        Ok(Self { _lock: resume::lock(file)?, ..writer })
    }

    pub(super) fn resume(connection: Connection, file: PathBuf, lock: FolderLock, header: &RunHeader) -> Self {
        Self { connection, file, takes_profiles: header.plan.mode == Mode::Profiled, _lock: Some(lock) }
    }

    pub fn create_load_file(file: &Path, header: &LoadHeader) -> Result<Self, RecordError> {
        Self::begin(file, HeaderRef::Load(header), false)
    }

    fn begin(file: &Path, header: HeaderRef<'_>, takes_profiles: bool) -> Result<Self, RecordError> {
        let file = file.to_owned();
        let draft = write_draft(&file, header)?;
        draft.persist_noclobber(&file).map_err(|failed| match failed.error.kind() {
            ErrorKind::AlreadyExists => RecordError::Exists(file.clone()),
            _ => RecordError::io(&file, &failed.error),
        })?;
        let open = || {
            let connection = Connection::open(&file)?;
            schema::set_write_mode(&connection)?;
            Ok(connection)
        };
        let connection = open().map_err(|e| {
            remove_empty_record(&file);
            RecordError::sqlite(&file, &e)
        })?;
        Ok(Self { connection, file, takes_profiles, _lock: None })
    }

    pub fn record_file(&self) -> &Path {
        &self.file
    }

    /// Appends a slice. Errors: an error of the disk. The record then contains everything that was appended before.
    pub fn append_slice(&mut self, slice: &StoredSlice) -> Result<(), RecordError> {
        rows::insert(&self.connection, slice).map_err(|e| self.error(&e))
    }

    pub fn append_fork(&mut self, fork: &ForkRecord) -> Result<(), RecordError> {
        self.append("fork", fork)
    }

    pub fn append_warmup(&mut self, warmup: &WarmupRecord) -> Result<(), RecordError> {
        self.append("warmup", warmup)
    }

    pub fn append_cross_check(&mut self, check: &CrossCheckRecord) -> Result<(), RecordError> {
        self.append("cross_check", check)
    }

    pub fn append_agent(&mut self, agent: &AgentRecord) -> Result<(), RecordError> {
        self.append("agent", agent)
    }

    pub fn append_event(&mut self, event: &EventRecord) -> Result<(), RecordError> {
        self.append("event", event)
    }

    /// Appends a profile. Errors: [`RecordError::Scored`] for a record of scored slices; else as for
    /// [`append_slice`](Self::append_slice).
    pub fn append_profile(&mut self, profile: &ProfileRecord) -> Result<(), RecordError> {
        if !self.takes_profiles {
            return Err(RecordError::Scored(self.file.clone()));
        }
        let insert = || {
            let row = (rows::to_json(profile)?, profile.stacks.as_bytes());
            self.connection.execute("INSERT INTO profile (json, stacks) VALUES (?1, ?2)", row)
        };
        insert().map(drop).map_err(|e| self.error(&e))
    }

    pub fn save_checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), RecordError> {
        put(&self.connection, "checkpoint", checkpoint).map_err(|e| self.error(&e))
    }

    /// Ends the record and turns it into a single file.
    pub fn finish(self, status: EndStatus, at_ns: u64) -> Result<(), RecordError> {
        put(&self.connection, "end", &(status, at_ns)).map_err(|e| self.error(&e))?;
        // While another program has the record open, it stays in WAL mode without harm: its file alone has all of it.
        let _ = schema::empty_log(&self.connection);
        let _ = self.connection.pragma_update(None, "journal_mode", "delete");
        Ok(())
    }

    // A statement outside BEGIN … COMMIT is a transaction of its own.
    fn append<T: Serialize>(&self, table: &str, value: &T) -> Result<(), RecordError> {
        let insert = || {
            let mut statement = self.connection.prepare_cached(&format!("INSERT INTO {table} (json) VALUES (?1)"))?;
            statement.execute([rows::to_json(value)?])
        };
        insert().map(drop).map_err(|e| self.error(&e))
    }

    fn error(&self, error: &rusqlite::Error) -> RecordError {
        RecordError::sqlite(&self.file, error)
    }
}

/// Writes a record that has only its header, under the name of a draft. A record gets its own name when it can be read:
/// `kill -9` leaves no half of one.
fn write_draft(file: &Path, header: HeaderRef<'_>) -> Result<NamedTempFile, RecordError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The umask decides who may read it, as for other files.
    let draft = Builder::new().prefix(".tare-").permissions(Permissions::from_mode(0o666)).tempfile_in(folder);
    let draft = draft.map_err(|error| RecordError::io(file, &error))?;
    let write = || {
        let connection = Connection::open(draft.path())?;
        schema::create(&connection)?;
        put(&connection, "header", &header)?;
        // Closing would do this too, but would not report a full disk.
        schema::empty_log(&connection)?;
        connection.close().map_err(|(_, error)| error)
    };
    write().map_err(|error| {
        remove_empty_record(draft.path());
        RecordError::sqlite(file, &error)
    })?;
    Ok(draft)
}

/// Removes a record that has nothing but a header, or less: it would only use space on a full disk.
fn remove_empty_record(file: &Path) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

/// Sets a value of the table `run`.
fn put<T: Serialize>(connection: &Connection, key: &str, value: &T) -> rusqlite::Result<()> {
    connection.execute("REPLACE INTO run (key, json) VALUES (?1, ?2)", (key, rows::to_json(value)?)).map(drop)
}
